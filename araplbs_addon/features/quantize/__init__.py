"""Quantize Weights rounds weights to the precision that an engine stores, and keeps the sum of each
vertex at exactly 1."""
