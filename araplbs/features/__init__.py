"""The Blender-independent part of each feature, in a file or folder of its own. The add-on has a
folder with the same name for the rest of the feature."""
