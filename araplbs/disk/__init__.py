"""Files: which kinds are ours, how one is written as a whole or not at all, and what can be read
from presets and .blend files without Blender."""
