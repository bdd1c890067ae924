"""A file or folder for the Blender-independent part of each feature. The add-on has a folder with
the same name for the rest."""
