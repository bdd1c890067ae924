"""Check Weights, its list of findings, and Repair.
The list is kept in memory, never in the file."""
