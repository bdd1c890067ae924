"""Compare the strain of skinning weights with that of an elastic body, which no weights reach. The
body has a rotation for each triangle, or rotations of a few samples (mixed finite elements)."""

import araplbs
import numpy as np
from limb import bend, chain, tube

vertices, triangles = tube()
heads, tails, parents = chain()
poses = np.array([bend(heads, 50)])
solver = araplbs.Solver(vertices, triangles, heads, tails, parents)
solver.solve()
ends = np.column_stack([vertices, np.ones(len(vertices))])
shapes = {"weights": np.einsum("nb,pbij,nj->pni", solver.weights, poses, ends)}
for method in ("free", "mixed"):
    shapes[f"elastic, {method}"] = araplbs.elastic_poses(
        vertices, triangles, poses, heads, tails, weights=solver.weights, method=method
    )

for name, posed in shapes.items():
    strain = araplbs.surface_strain(vertices, triangles, posed)
    print(f"{name}: mean strain {100 * np.sqrt(np.mean(strain**2)):.0f} %")
view = araplbs.mixed_elasticity(vertices, triangles, poses, heads, tails, samples=10)
print(f"mixed elements: {len(view['rotations'])} rotations from {len(view['samples'])} samples")
