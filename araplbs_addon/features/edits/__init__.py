"""Edits: required weights, links and rigid parts,
painted with brushes."""
