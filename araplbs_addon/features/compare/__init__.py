"""Compare Methods creates a page that compares the weights of several methods."""
