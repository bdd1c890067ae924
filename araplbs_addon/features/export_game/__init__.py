"""Export for Games: Blender's exporters, with weights that
engines accept."""
