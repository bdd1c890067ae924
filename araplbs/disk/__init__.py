"""Files: the kinds that we write, writing as a whole or not at all, and reading presets and .blend
files without Blender."""
