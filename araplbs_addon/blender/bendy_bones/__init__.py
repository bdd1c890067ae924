"""Converts bendy bones to plain bones, for formats without them. Apart from everything else: no
solver is needed."""
