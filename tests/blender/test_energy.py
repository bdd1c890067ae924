"""What it is for: less deformation than with Blender's own automatic weights, in poses that the
optimisation has not seen and in the characters' own animations.

Compared in one Blender; the others differ in nothing that counts here."""

import sys
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared/data"

pytestmark = [
    pytest.mark.skipif(bpy.app.version[:2] != (4, 5), reason="energies: in Blender 4.5 only"),
    pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data here"),
]
sys.path.insert(0, str(ROOT / "demo"))

CHARACTERS = sorted(path.stem for path in DATA.glob("*.blend")) if DATA.is_dir() else []


def load(name):
    import compare

    return compare, compare.Character(*compare.open_largest(DATA / f"{name}.blend"))


@pytest.mark.parametrize("name", CHARACTERS)
def test_never_worse_than_heat(name):
    """With 4 influences a vertex, against heat without a limit; nothing is left unweighted."""
    compare, character = load(name)
    ours, _ = compare.our_weights(character)
    assert ours.unweighted == 0 and ours.bad_sums == 0 and ours.most_influences <= 4
    heat, _ = compare.blender_weights(character)
    if heat.unweighted:
        return
    assert ours.energy < heat.energy
    if character.animation is not None:
        assert ours.animation_energy < heat.animation_energy


def test_human():
    compare, character = load("human_game_engine")
    heat, copies = compare.blender_weights(character)
    compare.remove(copies)
    limited, copies = compare.blender_weights(character, limit=4)
    compare.remove(copies)
    wide, copies = compare.our_weights(character, max_influences=0)
    compare.remove(copies)
    ours, _ = compare.our_weights(character)
    assert wide.energy < 0.55 * heat.energy
    assert ours.energy < 0.45 * limited.energy
    print(f"unlimited {wide.energy / heat.energy:.3f}, K = 4 {ours.energy / limited.energy:.3f}")


def test_clipping_never_makes_it_worse():
    """With many bones to choose from, clipping alone would raise the wasp's energy by a third."""
    import araplbs

    _, character = load("q_wasp")
    solver = araplbs.Solver(
        **character.job.problem.arguments, max_influences=0, widenings=0, iterations=30
    )
    solver.solve()
    assert solver.energies[-1] < 1.001 * solver.energies.min()
