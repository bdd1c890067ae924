"""Reads characters in .usd, .usda, .usdc and .usdz files, and writes the files with all other
content unchanged."""
