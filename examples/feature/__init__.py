"""An example of a feature: selects vertices with many influences."""
