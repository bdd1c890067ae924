"""Steer a solver: require certain weights at some vertices, and exclude others."""

import araplbs
from limb import chain, tube

vertices, triangles = tube()
heads, tails, parents = chain()
solver = araplbs.Solver(vertices, triangles, heads, tails, parents)
while not solver.done:
    solver.iterate()

ring = list(range(80, 90))  # at the first joint
print("before:", *(f"{w:.2f}" for w in solver.weights[ring].mean(0)))

solver.edit(constraints=(ring, [1] * 10, [1.0] * 10))  # all of bone 1; the solver continues
solver.solve()
print("wished for bone 1:", *(f"{w:.2f}" for w in solver.weights[ring].mean(0)))

solver.edit(influences=(ring, [1] * 10, [False] * 10))  # an edit replaces the previous one
solver.solve()
print("never bone 1:", *(f"{w:.2f}" for w in solver.weights[ring].mean(0)))
