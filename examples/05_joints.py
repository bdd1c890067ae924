"""Move misplaced joints to the positions at which the limb deforms best."""

import araplbs
from limb import chain, tube

vertices, triangles = tube()
heads, tails, parents = chain()
heads, tails = heads.copy(), tails.copy()
heads[1, 0] = tails[0, 0] = 0.12  # the first joint: off the axis of the tube

heads, tails, report = araplbs.optimize_joints(
    vertices, triangles, heads, tails, parents, anchor=0.05
)
print(f"energy went down: {report['energy_after'] < report['energy_before']}")
print(f"the joint is nearer to the axis: {abs(heads[1, 0]) < 0.06}")
print(f"bones are still connected: {abs(tails[0] - heads[1]).max() < 1e-9}")
