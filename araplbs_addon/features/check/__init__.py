"""Check Weights finds faults in the weights of a character and lists the findings."""
