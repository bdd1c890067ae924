"""Report a Problem: a file that shows it,
without names."""
