"""The only modules that read or write Blender's data; main thread only."""
