"""Report a Problem creates a file that describes the problem without revealing names."""
