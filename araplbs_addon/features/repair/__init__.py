"""Repair: new weights where Check Weights finds faults,
and nowhere else."""
