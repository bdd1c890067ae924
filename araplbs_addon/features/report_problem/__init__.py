"""Report a Problem: a file that describes the problem, without
names."""
