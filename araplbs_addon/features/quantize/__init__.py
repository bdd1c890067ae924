"""Quantize Weights: weights in the steps that an engine stores,
with exact sums."""
