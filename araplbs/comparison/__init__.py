"""Compare Methods: the methods, the judge that applies the same measures to all, and the page of
results. All its files begin with compare_."""
