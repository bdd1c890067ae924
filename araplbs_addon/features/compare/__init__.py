"""Compare Methods: a page that compares weights
of several methods."""
