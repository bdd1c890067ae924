"""The purpose of the add-on: less deformation than with Blender's automatic weights, in poses not
used for optimization and in the characters' own animations.

The comparison runs in one version of Blender, because no difference between versions matters
here."""

import os

import bpy
import numpy as np
import pytest
from paths import DATA, shared_file, shared_names

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="slow: on Linux only"),
    pytest.mark.skipif(bpy.app.version[:2] != (4, 5), reason="energies: in Blender 4.5 only"),
]

CHARACTERS = shared_names(DATA, "*.blend")


def load(name):
    path = shared_file(DATA, f"{name}.blend")
    import compare

    return compare, compare.Character(*compare.open_largest(path))


FINER = {"mh_subdiv1"}  # mh_base with four times the vertices
# Disconnected triangles, which form no surface that could be strained.
SOUPS = {"fox_soup"}

# Limits for Surface Strain, by area and in the worst percent, relative to heat. Springs that keep
# limbs on their bones cost some strain. The largest values in unseen poses are 1.14 (q_eagle,
# because of two slivers at the tip of its tail; .87 in the worst percent) and 1.13 (q_cat_wire, if
# its thin legs twist; .92 by area); in animations, they are 1.06 (m2m_dragon) and 1.09
# (q_cat_wire).
MOST = {"deformation": (1.15, 1.15), "animation_deformation": (1.06, 1.1)}


def strains(deformation):
    return np.array([deformation[key] for key in ("surface_strain", "surface_strain_p99")])


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.named) if name in FINER else name for name in CHARACTERS
])  # fmt: skip
def test_hardly_worse_than_heat(name):
    """With 4 influences per vertex, compared with heat without a limit; no vertex stays without
    weights."""
    compare, character = load(name)
    ours, _ = compare.our_weights(character)
    assert ours.unweighted == 0 and ours.bad_sums == 0 and ours.most_influences <= 4
    if name in SOUPS:
        pytest.skip("a soup of triangles: no surface of which strain would tell")
    heat, _ = compare.blender_weights(character)
    if heat.unweighted:  # the character does not move, so it has no strain
        pytest.skip("heat leaves vertices without weights: nothing to compare with")
    for poses, most in MOST.items():
        if getattr(ours, poses):
            ratio = strains(getattr(ours, poses)) / strains(getattr(heat, poses))
            assert (ratio < most).all(), (poses, ratio)


def test_human():
    """Compared with heat both with the same limit of influences and without a limit."""
    compare, character = load("mh_game")
    heat, copies = compare.blender_weights(character)
    compare.remove(copies)
    limited, copies = compare.blender_weights(character, limit=4)
    compare.remove(copies)
    wide, copies = compare.our_weights(character, max_influences=0)
    compare.remove(copies)
    ours, _ = compare.our_weights(character)
    wide = strains(wide.deformation) / strains(heat.deformation)
    ours = strains(ours.deformation) / strains(limited.deformation)
    print(f"unlimited {wide}, K = 4 {ours}")
    assert (wide < (0.94, 0.87)).all()
    assert (ours < (0.94, 0.87)).all()


def test_clipping_never_makes_it_worse():
    """With many bones to choose from, clipping alone would raise the wasp's energy by a third."""
    import araplbs

    _, character = load("q_wasp")
    solver = araplbs.Solver(
        **character.task.problem.arguments, max_influences=0, expansion_rounds=0, iterations=30
    )
    solver.solve()
    assert solver.energies[-1] < 1.001 * solver.energies.min()
