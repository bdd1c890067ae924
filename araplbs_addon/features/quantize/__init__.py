"""Quantize Weights rounds weights to the steps that an engine stores, with exact sums."""
