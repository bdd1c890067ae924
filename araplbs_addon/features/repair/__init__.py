"""Repair: computes new weights only where Check Weights finds faults."""
