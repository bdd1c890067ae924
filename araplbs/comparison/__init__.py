"""Compare Methods: the methods, the judge that measures them alike, and the page of results.
All its files begin with compare_."""
