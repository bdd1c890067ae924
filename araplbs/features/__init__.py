"""A file or folder for each feature: its work without Blender.
The add-on has a folder of the same name."""
