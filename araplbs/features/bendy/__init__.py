"""Creates vertex groups for bendy bones. The groups store the position along a bone with several
segments."""
