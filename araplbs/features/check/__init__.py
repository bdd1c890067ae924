"""Check Weights finds and lists faults in the weights of a character, such as gaps, folds and bones
without skin."""
