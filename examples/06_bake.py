"""Compute the weights that best reproduce the frames of a deformed mesh, such as a cloth
simulation."""

import araplbs
import numpy as np
from limb import bend, chain, tube

vertices, _triangles = tube()
heads, _tails, _parents = chain()
transforms = np.array([bend(heads, degrees) for degrees in np.linspace(-50, 50, 9)])

# The frames, which result from other weights that are assumed to be unknown.
along = np.clip(vertices[:, 2, None] - np.arange(3) + 0.25, 0, 0.5) * 2
hidden = along - np.column_stack([along[:, 1:], np.zeros(len(along))])
posed = np.einsum("pbij,nj->pbni", transforms, np.column_stack([vertices, np.ones(len(vertices))]))
frames = np.einsum("nb,pbni->pni", hidden / hidden.sum(1, keepdims=True), posed)

baked = araplbs.bake(vertices, frames, transforms, max_influences=4)
start, bones, values = baked["weights"]
print(f"largest error of a vertex: {100 * (baked['vertex_error'] / baked['size']).max():.2f} %")
print("most influences of a vertex:", np.diff(start).max())
