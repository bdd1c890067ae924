"""Compute weights for given poses of a character instead of random ones."""

import araplbs
import numpy as np
from limb import bend, chain, tube

vertices, triangles = tube()
heads, tails, parents = chain()
taken = np.array([bend(heads, degrees) for degrees in (-100, -70, -40)])  # all bends to one side

for name, poses in (("small random poses", {"swing": 0.3}), ("the given ones", {"poses": taken})):
    count = 80 if "swing" in poses else 0  # no random poses in addition to the given ones
    solver = araplbs.Solver(
        vertices, triangles, heads, tails, parents, pose_count=count, tolerance=1e-6, **poses
    )
    solver.solve()
    energy = araplbs.energy(vertices, triangles, solver.weights, taken)
    print(f"weights for {name}: energy {energy:.3f} in those that it takes")
