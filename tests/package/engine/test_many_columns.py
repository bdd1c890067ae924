"""Tests poses with so many transforms that products are computed only for transforms that occur
together in a row of weights. The reference is the same problem without the bones that no vertex
follows."""

import araplbs
import numpy as np
import pytest
import shapes

FAR = 100.0  # beyond all that is looked for
POSES = 6
SEGMENTS = [1, 3, 1, 4]  # of the bones that are near, the second and last of which are bendy


def transforms(rng, count):
    """(POSES, count, 3, 4) small rotations and translations."""
    turns = [
        [shapes.rotation(rng.normal(size=3), rng.uniform(0, 0.4)) for _ in range(count)]
        for _ in range(POSES)
    ]
    return np.concatenate([turns, rng.uniform(-0.1, 0.1, (POSES, count, 3, 1))], -1)


def problems(rng, kind, others, segments):
    """Arguments for four bones alone, and among this many distant others; the numbers of the
    four."""
    mesh, near = shapes.tube(8, 17), shapes.chain(4)
    start = shapes.random_weights(rng, len(mesh[0]), 4, empty=0.3)
    joints = [transforms(rng, count + 1) for count in (3, 4)]
    poses, total = transforms(rng, 4), 4 + others
    place = np.linspace(0, total - 1, 4).astype(int)
    heads, parents = np.tile([[FAR, 0, 0]], (total, 1)), np.full(total, -1)
    heads[:, 1] = np.arange(total)
    tails = heads + np.array([1, 0, 0])
    kinds, of = np.full(total, kind, object), np.full(total, segments)
    heads[place], tails[place], of[place] = near.heads, near.tails, SEGMENTS
    kinds[place] = ["rigid", "bendy", "rigid", "bendy"]
    parents[place[1:]] = place[:-1]
    all_poses, all_joints = transforms(rng, total), []
    all_poses[:, place] = poses
    for b in np.flatnonzero(kinds == "bendy"):
        own = place.tolist().index(b) // 2 if b in place else -1
        all_joints.append(joints[own] if own >= 0 else transforms(rng, segments + 1))
    weights = np.zeros((len(mesh[0]), total))
    weights[:, place] = start

    def arguments(bones, posed, segment_poses, rows):
        given = {
            "bone_heads": heads[bones],
            "bone_tails": tails[bones],
            "bone_kinds": kinds[bones].tolist(),
            "bone_segments": of[bones],
        }
        more = {"poses": posed, "segment_poses": np.concatenate(segment_poses, 1)}
        return {**given, **more}, rows

    alone = arguments(place, poses, joints, start)
    among = arguments(np.arange(total), all_poses, all_joints, weights)
    return mesh, (alone, np.arange(4) - 1), (among, parents), place


@pytest.mark.parametrize(("kind", "others", "segments"), [("rigid", 600, 1), ("bendy", 20, 30)])
def test_bones_without_weight_change_nothing(kind, others, segments, rng):
    mesh, *both, place = problems(rng, kind, others, segments)
    energies, solvers = [], []
    for (given, weights), parents in both:
        energies.append(araplbs.energy(*mesh, weights, **given))
        settings = {"start_from_weights": True, "pose_count": 0, "max_influences": 3}
        solver = araplbs.Solver(
            *mesh,
            bone_parents=parents,
            weights=weights,
            precision="double",
            **given,
            **settings,
        )
        solver.solve()
        solvers.append(solver)
    assert energies[1] == pytest.approx(energies[0], rel=1e-10)
    alone, among = solvers
    np.testing.assert_allclose(among.energies, alone.energies, rtol=1e-7)
    np.testing.assert_allclose(among.weights[:, place], alone.weights, atol=1e-5)
    assert not np.delete(among.weights, place, axis=1).any()
