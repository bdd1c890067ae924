"""Transfer the weights of an arm to the parts of a sleeve that lie close to it."""

import araplbs
import numpy as np
from limb import chain, tube

vertices, triangles = tube()
heads, tails, parents = chain()
solver = araplbs.Solver(vertices, triangles, heads, tails, parents)
solver.solve()

sleeve, sleeve_triangles = tube(around=14, rings=9, radius=0.22, height=1.5)
sleeve[sleeve[:, 2] < 0.3, :2] *= 3  # a wide cuff, out of reach
rows, matched, distances, angles = araplbs.transfer_weights(
    vertices, triangles, solver.weights, sleeve, sleeve_triangles, distance=0.03
)
start, bones, values = rows  # sparse rows: vertex v has the entries start[v] to start[v + 1]
sums = np.add.reduceat(values, start[:-1])
print(f"{matched.sum()} of {len(sleeve)} vertices match, the others are filled in")
print(f"rows sum to 1 within 1e-6: {abs(sums - 1).max() < 1e-6}")
print("bones at the cuff:", *sorted(set(bones[: start[1]].tolist())))
