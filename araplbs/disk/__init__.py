"""Files: the kinds that we write, atomic writing, and reading of presets and .blend files without
Blender. A file is written completely or not at all."""
