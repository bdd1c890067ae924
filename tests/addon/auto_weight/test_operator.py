"""The operator, called as scripts and the redo panel call it: result, reports, options, presets."""

import json
import math
import re
from dataclasses import fields
from pathlib import Path

import bpy
import numpy as np
import pytest
from scenes import (
    MODULE,
    add_armature,
    add_mesh,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    deform_names,
    entries,
    keyed,
    package,
    select,
    tube_and_rig,
    weighting,
    weights,
)

IDNAME = "object.araplbs_auto_weight"


def poll_message(call=bpy.ops.object.araplbs_auto_weight):
    with pytest.raises(RuntimeError) as error:
        call("EXEC_DEFAULT")
    return str(error.value)


@pytest.mark.parametrize("most", [1, 2, 4, 0])
def test_result(most):
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig, max_influences=most) == {"FINISHED"}
    dense = assert_good(tube, rig, most)
    assert [g.name for g in tube.vertex_groups] == deform_names(rig)
    z = np.array([v.co.z for v in tube.data.vertices])
    assert (dense[z < 0.4, 0] > 0.9).all() and (dense[z > 2.6, 2] > 0.9).all()


def test_angles_of_half_a_turn():
    """In single precision, these angles are larger than pi."""
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig, swing=math.pi, twist=math.pi, pose_count=5) == {"FINISHED"}


def test_files_may_lie_beside_the_blend_file():
    """Since version 4.5, Blender warns if a property does not declare this."""
    file = bpy.ops.object.araplbs_auto_weight.get_rna_type().properties["tet_file"]
    assert getattr(file, "is_path_supports_blend_relative", True)


def test_deterministic_seed_and_weights_that_were_there():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    first = entries(tube)
    auto_weight(tube, rig, seed=5)
    assert entries(tube) != first
    for group in tube.vertex_groups:
        group.add(range(len(tube.data.vertices)), 0.37, "REPLACE")
    auto_weight(tube, rig)
    assert entries(tube) == first


def test_active_group_kept():
    tube, rig = tube_and_rig()
    tube.vertex_groups.new(name="mine")
    tube.vertex_groups.new(name="other")
    tube.vertex_groups.active_index = 1
    auto_weight(tube, rig)
    assert tube.vertex_groups.active.name == "other"


def test_several_meshes_are_one_problem():
    """Two halves of one tube get the weights of the whole tube, without a crack between them."""
    rig = add_armature()
    whole = add_tube(caps=False)
    auto_weight(whole, rig)
    names = deform_names(rig)
    expected = {
        tuple(v.co): w for v, w in zip(whole.data.vertices, weights(whole, names), strict=True)
    }
    lower = add_tube("Lower", length=1.5, rings=10, caps=False)
    upper = add_tube("Upper", length=1.5, rings=10, caps=False, shift=(0, 0, 1.5))
    bpy.data.objects.remove(whole)
    auto_weight(lower, upper, rig)
    for mesh in (lower, upper):
        assert_good(mesh, rig)
        for vertex, weight in zip(mesh.data.vertices, weights(mesh, names), strict=True):
            nearest = min(expected, key=lambda co: (vertex.co - type(vertex.co)(co)).length)
            assert np.abs(expected[nearest] - weight).max() < 2e-3


def test_reports(capfd):
    tube, rig = tube_and_rig()
    auto_weight(tube, rig, bone_spring_stiffness=0)  # so nothing but strain counts
    out = capfd.readouterr().out
    number = r"-?[\d.]+"
    line = (
        rf"192 vertices, 3 bones: stretch ({number}) % "
        rf"\(worst 1 %: ({number}) %\), limb drift ({number}), volume ({number}) % in .* s"
    )
    found = re.search(line, out)
    assert found and "influences" in out
    after, worst, drift, volume = map(float, found.groups())
    assert 0 < after < worst < 100, "and not a word of a start that nobody has seen"
    assert 0 <= drift < 1 and -30 < volume < 0
    last = out.strip().splitlines()[-1]
    assert re.fullmatch(rf"Info: Weighted 192 vertices in {number} s: stretch {after} %", last)


def test_measures_of_the_report():
    """The report contains the measures of the final vertex groups over the requested poses."""
    import araplbs

    tube, rig = tube_and_rig()
    task = weighting(rig, tube, pose_count=7, seed=3, bone_spring_stiffness=0)  # nothing but strain
    task.solve()
    report = task.apply()
    json.dumps(report)
    assert report["poses"] == 7
    s, arguments = task.problem.skeleton, task.problem.arguments
    poses = araplbs.sample_poses(
        s.heads, s.tails, s.parents, 7, bone_roll_axes=s.roll_axes, bone_limits=s.limits,
        symmetry=arguments["symmetry"], seed=3,
    )  # fmt: skip
    found = araplbs.deformation(
        arguments["vertices"], arguments["triangles"], weights(tube, s.names), poses, s.heads,
        s.tails,
    )  # fmt: skip
    after = report["deformation"]["after"]
    for name, key in (
        ("surface_strain", "area"), ("surface_strain_by_face", "face"),
        ("surface_strain_p99", "p99"), ("limb_drift", "drift"),
        ("worst_limb_drift", "worst_drift"), ("volume_change", "volume"),
    ):  # fmt: skip
        assert after[name] == pytest.approx(found[key], rel=1e-4), name
    assert after["worst_limb"] == s.names[int(np.argmax(found["bone_drift"]))]
    assert after["limbs"] == 3 and after["closed_parts"] == 1
    before = report["deformation"]["before"]
    assert before["surface_strain"] > after["surface_strain"]


def test_what_cannot_be_measured_is_not_told(capsys):
    """First, there is no closed part, then no limb, and finally no surface."""
    tube, rig = add_tube(caps=False, sides=4, rings=4), add_armature()
    auto_weight(tube, rig)
    said = capsys.readouterr().out
    assert "stretch" in said
    assert "limb drift" not in said and "volume" not in said
    wire = add_mesh("Wire", [(0, 0, z) for z in (0.0, 1.0, 2.0, 3.0)], [], [(0, 1), (1, 2), (2, 3)])
    auto_weight(wire, rig)
    assert "no surface to stretch" in capsys.readouterr().out


def test_a_bone_without_skin_is_no_warning(capfd):
    tube = add_tube()
    rig = add_armature(
        bones=[
            ("stem", (0, 0, 0.05), (0, 0, 2.95), None),
            ("far away", (0, 30, 0), (0, 31, 0), "stem"),
        ]
    )
    auto_weight(tube, rig, control_bones="INCLUDE")
    said = capfd.readouterr().out
    assert "Info: 1 deform bone has no skin of its own: far away" in said
    assert "Warning" not in said


class Arguments(Exception):
    """Raised instead of solving, with the arguments of the call to the solver."""


def refuse_with(**arguments):
    raise Arguments(arguments)


def another(option, present):
    """A value of an option that is within its limits and differs from the current one."""
    about = option.metadata
    if "choices" in about:
        return next(c[0] for c in about["choices"] if c[0] != present)
    if isinstance(option.default, bool):
        return not present
    if isinstance(option.default, int):
        return present + 1
    if isinstance(option.default, float):
        return (present + about["min"]) / 2 if present else min(0.25, about["max"])
    raise AssertionError(f"a test for {option.name} is missing")


# The conditions under which an option has any effect.
NEEDS = {
    "animation_frames": {"animation": "ALL"},
    "pose_weight": {"animation": "ALL"},
    "tet_file": {"volume": "FILE"},
    "tet_space": {"volume": "FILE"},
}
FIELDS = fields(package("model.options").Options)


def same(a, b):
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
    return a == b


@pytest.mark.parametrize("option", FIELDS, ids=lambda option: option.name)
def test_every_option_reaches_the_solver(option, monkeypatch, tmp_path):
    """In a scene in which all options matter, each option alone changes the arguments of the
    solver. An option is passed on unchanged if the solver has an argument of the same name."""
    tube, rig = counting_scene()
    files = [write_tets(tmp_path / name, size) for name, size in (("a.mesh", 3.5), ("b.mesh", 4))]
    if option.name == "volume" or "volume" in NEEDS.get(option.name, {}):
        pytest.importorskip("meshio")

    if option.name == "through_rig":
        copy = rig.pose.bones[2].constraints.new("COPY_ROTATION")
        copy.target, copy.subtarget = rig, rig.pose.bones[1].name

    class Stand:
        Solver = staticmethod(refuse_with)

        def __getattr__(self, name):
            return getattr(araplbs, name)

    import araplbs

    monkeypatch.setattr(package("character.problem"), "engine", Stand())
    given = {"tet_file": str(files[0]), **NEEDS.get(option.name, {})}
    default = given.get(option.name, option.default)
    value = str(files[1]) if option.name == "tet_file" else another(option, default)
    if option.name == "volume":
        value = "FILE"  # whether or not TetGen is installed
    if "volume" in {option.name, *given}:
        tube.data.araplbs.edits.clear()  # no volume keeps rigid parts

    def arguments(**options):
        task = weighting(rig, tube, **options)
        with pytest.raises(Arguments) as found:
            task.solve()
        return found.value.args[0]

    before, after = arguments(**given), arguments(**{**given, option.name: value})
    changed = {
        name for name in before.keys() | after.keys() if not same(before.get(name), after.get(name))
    }
    assert changed, f"{option.name} does not reach the solver"
    if option.name in after and option.name in changed:
        found = after[option.name]
        assert found == (value.lower() if isinstance(value, str) else pytest.approx(value))
    else:
        assert changed <= {*DATA.get(option.name, ()), "threads", "progress"}, changed


# Arguments of the solver whose options have another name.
DATA = {
    "symmetric": ["symmetry"],
    "rigid_parts": ["rigid_parts", "rigid_departure"],
    "volume": ["vertices", "triangles", "edges", "tets", "parameters", "rigid_departure"],
    "tet_file": ["vertices"],
    "tet_space": ["vertices"],
    "start_from": ["weights", "start_from_weights"],
    "use_joint_limits": ["bone_limits"],
    "through_rig": ["poses", "pose_count"],
    "animation": ["poses"],
    "animation_frames": ["poses"],
    "pose_weight": ["pose_weights"],
    "control_bones": ["bone_deform", "bone_parents", "bone_heads", "bone_tails"],
    "prune_sum": ["pruning"],
    "prune_ratio": ["pruning"],
    "paper_constraints": ["attach", "neumann", "positivity", "peak_stiffness"],
}


def counting_scene():
    """A tube with weights and a rigid part, and a rig with a limit, an action and a control
    bone."""
    bones = [
        ("root", (0, 0, -1), (0.5, 0, -1), None),
        ("arm", (0, 0, 0.05), (0, 0, 1.5), "root"),
        ("hand", (0, 0, 1.5), (0, 0, 2.95), "arm"),
    ]
    rig, tube = add_armature(bones=bones), add_tube()
    tube.location.z = 0.01  # its space is not the armature's space
    auto_weight(tube, rig)
    addon("blender.data.edits").add_rigid_part(tube.data, range(40))
    posed = rig.pose.bones["hand"]
    posed.use_ik_limit_x, posed.ik_min_x, posed.ik_max_x = True, 0, 0.5
    keyed(rig, "hand", {1: 1 / 60, 60: 1.0})
    select(tube, rig)
    return tube, rig


def write_tets(path, length):
    """Writes a box around the tube, as two prisms divided into tets."""
    corners = [(x, y, z) for z in (-0.5, length) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    tets = [(1, 2, 3, 7), (1, 2, 7, 6), (1, 6, 7, 5), (1, 3, 4, 8), (1, 3, 8, 7), (1, 7, 8, 5)]
    lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(corners))]
    lines += [f"{x!r} {y!r} {z!r} 0" for x, y, z in corners]
    lines += ["Tetrahedra", str(len(tets))] + [" ".join(map(str, t)) + " 0" for t in tets]
    path.write_text("\n".join([*lines, "End", ""]))
    return path


def test_defaults_are_those_of_the_engine():
    """The defaults equal those in the stubs, which users of the module read, and the weights are
    bit-identical without any of these options."""
    import araplbs

    tube, rig = tube_and_rig()
    task, results = weighting(rig, tube), []
    for options in ({}, task.options.solver_arguments()):
        solver = araplbs.Solver(**task.problem.arguments, **options)
        solver.solve()
        results.append(solver.weights)
    np.testing.assert_array_equal(*results)


def test_threads_of_the_preferences_are_used(monkeypatch):
    threads = []
    task = addon("weighting")
    real = task.solve
    monkeypatch.setattr(
        task, "solve", lambda p, o, t, *more: threads.append(t) or real(p, o, t, *more)
    )
    preferences = bpy.context.preferences.addons[MODULE].preferences
    tube, rig = tube_and_rig()
    try:
        preferences.threads = 1
        auto_weight(tube, rig)
    finally:
        preferences.threads = 0
    auto_weight(tube, rig)
    assert threads == [1, 0]


def test_properties_have_tooltips_and_defaults():
    operator = bpy.ops.object.araplbs_auto_weight.get_rna_type()
    options = package("model.options").Options()
    for name, value in options.as_dict().items():
        prop = operator.properties[name]
        assert len(prop.description) > 10, name
        assert prop.default == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    ("preset", "values"),
    [
        (
            "Game 4",
            {
                "max_influences": 4,
                "symmetric": True,
                "prune_sum": 0.999,
                "bone_spring_stiffness": 16,
            },
        ),
        ("Game 8", {"max_influences": 8, "paper_constraints": False, "bone_spring_stiffness": 16}),
        ("Film", {"max_influences": 0, "bone_spring_stiffness": 8, "min_gain": 0.001}),
        (
            "As published (2018 paper)",
            {"max_influences": 0, "expansion_rounds": 0, "prune_sum": 0.95, "prune_ratio": 0.05}
            | {"paper_constraints": True, "symmetric": False, "bone_spring_stiffness": 0.0}
            | {"min_gain": 3e-5, "edge_power": 0.0},
        ),
        ("Soft", {"max_influences": 4, "bone_spring_stiffness": 12}),
        ("Crisp", {"max_influences": 4, "bone_spring_stiffness": 24, "min_gain": 0.02}),
    ],
)
def test_presets(preset, values):
    folders = bpy.utils.preset_paths(f"operator/{IDNAME}")
    files = {
        bpy.path.display_name(f.name, title_case=False): f
        for folder in folders
        for f in Path(folder).glob("*.py")
    }
    assert set(files) == set(package("disk.presets").ORDER)
    text, other = files[preset].read_text(), files["Film"]
    read = package("disk.presets").preset_values(text)
    assert {key: read[key] for key in values} == pytest.approx(values)
    assert set(read) <= set(bpy.ops.object.araplbs_auto_weight.get_rna_type().properties.keys())
    defaults = package("model.options").Options().as_dict()
    if preset == "Game 4":
        assert read == {key: defaults[key] for key in read}
    assert set(read) == set(package("disk.presets").preset_values(other.read_text()))

    # Run as by Blender's own preset menu and by the panel's menu.
    class Recorder:
        pass

    operator = Recorder()
    code = text.replace("bpy.context.active_operator", "operator")
    exec(compile(code, preset, "exec"), {"operator": operator})
    assert vars(operator) == read
    assert bpy.ops.object.araplbs_load_preset(
        filepath=str(files[preset]), menu_idname="VIEW3D_MT_araplbs_presets"
    ) == {"FINISHED"}
    settings = bpy.context.scene.araplbs
    assert {key: getattr(settings, key) for key in values} == pytest.approx(values)

    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig, **read) == {"FINISHED"}
    assert_good(tube, rig, read["max_influences"])


def test_poll_messages():
    assert "Select at least one mesh object" in poll_message()
    tube = add_tube()
    select(tube)
    assert "Also select an armature" in poll_message()
    first, second = add_armature("A"), add_armature("B")
    select(tube, first, second, active=tube)
    assert "Several armatures are selected" in poll_message()
    select(tube, active=tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert "'Tube' has no armature" in poll_message()
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Available only in Object, Pose and Weight Paint modes" in poll_message()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_armature_is_found():
    """The armature is the active one, the only selected one, the one of the active mesh's modifier,
    or the mesh's parent."""
    tube, rig = tube_and_rig()
    other = add_armature("Other", bones=[("only", (0, 0, 0), (0, 0, 3), None)])
    find = addon("blender.read.targets").find_targets
    select(tube, rig, active=tube)
    assert find(bpy.context).armature == rig
    select(tube, active=tube)
    assert find(bpy.context).armature == rig
    tube.modifiers.clear()
    assert find(bpy.context).armature == rig
    select(tube, rig, other, active=other)
    assert find(bpy.context).armature == other


def test_install_folder_is_not_written_to():
    import sys

    folder = Path(sys.modules[MODULE].__file__).parent

    def files():
        return {p: p.stat().st_mtime_ns for p in folder.rglob("*") if "__pycache__" not in p.parts}

    before = files()
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    assert files() == before
