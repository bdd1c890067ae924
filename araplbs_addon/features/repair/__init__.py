"""Repair computes new weights only in the regions in which Check Weights finds faults."""
