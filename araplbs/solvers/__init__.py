"""Runs the engine on a problem for weights, once or live, on the surface or on tetrahedra. The code
may run in any thread."""
