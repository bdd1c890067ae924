"""Check Weights and Repair: findings, the checks that make them, and the regions solved again.
One file per kind of check."""
