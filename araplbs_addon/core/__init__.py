"""The part of the add-on that knows nothing of Blender: importable and testable without bpy."""
