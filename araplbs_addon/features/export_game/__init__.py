"""Export for Games runs Blender's exporters with weights that game engines accept."""
