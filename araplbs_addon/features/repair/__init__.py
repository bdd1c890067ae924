"""Repair: new weights only where Check
Weights finds faults."""
