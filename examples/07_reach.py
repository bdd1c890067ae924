"""Bring the end of a chain of bones to a target with each method of inverse kinematics."""

import araplbs
import numpy as np
from limb import chain

heads, tails, parents = chain()
target = np.array([0, 1.2, 2])

for method in ("fabrik", "ccd", "jacobian"):
    rotations, errors, _iterations = araplbs.inverse_kinematics(
        heads, tails, parents, len(heads) - 1, [target], method=method, swing=np.pi
    )
    last = araplbs.forward_kinematics(heads, tails, parents, rotations)[0, -1]
    end = last @ np.append(tails[-1], 1)
    print(f"{method}: within 1 % of the target: {np.linalg.norm(end - target) < 0.03}")
