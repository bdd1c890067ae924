"""glTF 2.0 as a format: JSON of the right shape, buffers, and arrays in them."""
