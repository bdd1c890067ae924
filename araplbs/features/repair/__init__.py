"""Repair: computes new weights only in the regions where Check Weights finds faults,
and keeps all other weights."""
