"""glTF 2.0 as a format: validated JSON, buffers, and the arrays in them."""
