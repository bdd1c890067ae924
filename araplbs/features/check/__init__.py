"""Check Weights: finds faults in the weights of a character, such as gaps,
folds and bones without skin, and lists them."""
