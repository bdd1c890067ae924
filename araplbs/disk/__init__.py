"""Everything about files: the kinds that we write, atomic writing, and reading presets and .blend
files without Blender. A file is written completely or not at all."""
