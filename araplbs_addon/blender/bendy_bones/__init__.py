"""Bendy bones made plain bones, for formats that have none.
Apart from all else: no solver is needed."""
