"""Compute weights for a mesh and a skeleton: create a solver, let it converge, read the weights."""

import araplbs
from limb import chain, tube

vertices, triangles = tube()
heads, tails, parents = chain()

solver = araplbs.Solver(vertices, triangles, heads, tails, parents, max_influences=4)
solver.solve()
weights = solver.weights  # (vertices, bones); rows sum to 1

print("vertices and bones:", *weights.shape)
print(f"rows sum to 1 within 1e-6: {abs(weights.sum(1) - 1).max() < 1e-6}")
print("most influences of a vertex:", (weights > 0).sum(1).max())
print(f"energy went down: {solver.report['energy_after'] < solver.report['energy_before']}")
for ring in (4, 8, 12):
    print(f"ring {ring}:", *(f"{w:.2f}" for w in weights[10 * ring]))
