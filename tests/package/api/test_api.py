"""One call computes weights from arrays or from a file. The results equal the command's results, in
forms that programs use, and unsuitable arguments are refused by name."""

import copy
import doctest
import inspect
import pickle

import numpy as np
import pytest
from gltf_files import BONES, HEADS, PARENTS, TAILS, TRIANGLES, VERTICES, bare, moves, plain

N = len(VERTICES)


@pytest.fixture(scope="module")
def api(core):
    """The modules of araplbs.api: api("weights").weights."""
    return lambda name: core(f"api.{name}")


@pytest.fixture(scope="module")
def found(api):
    return api("weights").weights(VERTICES, TRIANGLES, HEADS, PARENTS, threads=1)


def test_weights_of_joints_alone(found):
    dense = found.toarray()
    assert dense.shape == (N, BONES) and moves(dense)
    assert abs(dense.sum(1) - 1).max() < 1e-6
    rows, control_bones, report = found  # unpacks like a tuple
    assert rows is found.rows and control_bones == {} and report["vertices"] == N
    assert report["bone_directions"] == "JOINTS" and "stretch" in found.lines[-1]


def test_rows(found, api):
    rows = found.rows
    start, bones, weights = rows
    assert rows.shape == (N, BONES) and start[-1] == len(bones) == len(weights)
    assert repr(rows).startswith(f"Rows of {N} vertices for {BONES} bones: {len(weights)} weights")
    joints, shares = rows.padded(4)
    again = np.zeros((N, BONES))
    np.add.at(again, (np.arange(N)[:, None], joints), shares)
    assert (again == rows.toarray()).all() and (np.diff(shares, axis=1) <= 0).all()
    with pytest.raises(ValueError, match="width is 1: a vertex has"):
        rows.padded(1)
    copy = pickle.loads(pickle.dumps(rows))
    assert copy.shape == rows.shape and (copy.toarray() == rows.toarray()).all()


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_results_are_sent_to_other_processes(again, api, core, tmp_path):
    """As multiprocessing does with what a function returns."""
    made = api("weights").weights(VERTICES, TRIANGLES, HEADS, PARENTS, threads=1)
    sent = again(made)
    assert type(sent) is type(made) and (sent.toarray() == made.toarray()).all()
    assert sent.lines == made.lines and sent.report["deformation"]["before"]
    assert sent.report == made.report

    skeleton = core("skeleton.skeleton").Skeleton.from_joints(HEADS, PARENTS)
    assert (again(skeleton).heads == HEADS).all()

    file = api("gltf").load_gltf(plain().write(tmp_path / "in.glb"))
    file.characters[0].set_weights(made)
    again(file).save(tmp_path / "out.glb")
    file.save(tmp_path / "own.glb")
    assert (tmp_path / "out.glb").read_bytes() == (tmp_path / "own.glb").read_bytes()
    character = again(file.characters[0])
    assert (character.weights.toarray() == made.toarray()).all()
    assert again(character.weigh(threads=1)).report["deformation"]["before"]


def test_rows_for_scipy(found):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = found.rows.to_scipy()
    assert isinstance(matrix, sparse.csr_matrix) and (matrix.toarray() == found.toarray()).all()


def test_all_that_the_button_does(api):
    """Tails, names that indicate a control, joints that do not deform, and two names of one
    option."""
    weights = api("weights").weights
    far = np.vstack([HEADS, [[4, 0, 1]]])
    parents, names = [*PARENTS, -1], [*(f"spine{k}" for k in range(BONES)), "IK_target"]
    more = {"tails": np.vstack([TAILS, [[4, 0, 1.2]]]), "names": names, "threads": 1}
    with_control = weights(VERTICES, TRIANGLES, far, parents, **more)
    assert set(with_control.control_bones) == {"IK_target"}
    assert with_control.report["bone_directions"] == "TAILS"
    assert with_control.toarray()[:, BONES].max() == 0
    deform = np.arange(BONES + 1) != 2
    some = weights(VERTICES, TRIANGLES, far, parents, **more, deform=deform)
    assert some.toarray()[:, 2].max() == 0
    panel = weights(VERTICES, TRIANGLES, far, parents, **more, firmness=3, random_poses=20)
    setting = weights(
        VERTICES, TRIANGLES, far, parents, **more, bone_spring_stiffness=3.0, pose_count=20
    )
    assert (panel.toarray() == setting.toarray()).all()
    assert panel.report["options"]["bone_spring_stiffness"] == 3 and panel.report["poses"] == 20


def test_rigid_parts_animations_and_a_start(api, found):
    weights = api("weights").weights
    arrays = VERTICES, TRIANGLES, HEADS, PARENTS
    top = VERTICES[:, 2] > 1.5
    hard = weights(*arrays, rigid=[top], threads=1).toarray()
    assert np.ptp(hard[top], axis=0).max() == 0
    rest = np.tile(np.eye(4), (3, BONES, 1, 1))
    assert weights(*arrays, animation=rest, threads=1).report["poses"] == 103
    for start in (found.rows, found.toarray()):
        again = weights(*arrays, start=start, threads=1)
        assert again.report["options"]["start_from"] == "PRESENT"
        assert abs(again.toarray() - found.toarray()).mean() < 0.02


BAD = [
    ("vertices", VERTICES[:, :2], "vertices has shape (202, 2): expected (n, 3)"),
    ("vertices", VERTICES * np.nan, "vertices[0] is [nan nan nan]: must be finite"),
    ("triangles", TRIANGLES[:, :2], "triangles has shape"),
    ("triangles", TRIANGLES + 50, ", but there are 202 vertices"),
    ("triangles", TRIANGLES * 1.0, "triangles has dtype float64: expected integers"),
    ("edges", [[0, 999]], "edges[0, 1] is 999, but there are 202 vertices"),
    ("joints", HEADS[0], "joints has shape (3,): expected (n, 3)"),
    ("joints", np.zeros((0, 3)), "joints is empty"),
    ("joints", HEADS + np.inf, "must be finite"),
    ("joints", [["a"] * 3], "joints is not an array of numbers"),
    ("parents", PARENTS[:3], "parents has shape (3,) and dtype"),
    ("parents", [-1.0, 0, 1, 2, 3], "expected (5,), integers"),
    ("parents", [-1, 0, 1, 2, 5], "parents[4] is 5: must be another of the 5 joints, or -1"),
    ("parents", [-1, 0, 2, 2, 3], "parents[2] is 2: must be another"),
    ("parents", [1, 2, 0, 2, 3], "parents form a cycle from joint"),
    ("tails", TAILS[:2], "tails has shape (2, 3): expected (5, 3)"),
    ("names", ["a", "b"], "names has 2 entries, but there are 5 joints"),
    ("names", ["a", "b", "a", "c", "d"], "names contains 'a' twice"),
    ("deform", [2, -1, 5, 1, 1], "expected (5,), booleans"),
    ("deform", np.zeros(BONES, bool), "deform is False for all joints"),
    ("roll_axes", np.zeros((5, 2)), "roll_axes has shape (5, 2): expected (5, 3)"),
    ("rigid", [[0, 999]], "rigid[0] contains 999, but there are 202 vertices"),
    ("rigid", [[0.5]], "rigid[0] must contain vertex indices"),
    ("animation", np.zeros((2, 3, 4)), "animation has shape (2, 3, 4): expected (p, 5, 3 or 4, 4)"),
    ("animation", np.full((1, 5, 4, 4), np.nan), "animation has transforms that are not finite"),
    ("start", np.zeros((3, 5)), "start has shape (3, 5): expected (202, 5)"),
    ("start", np.full((N, BONES), np.nan), "start has weights that are negative or not finite"),
    ("max_influences", -1, "max_influences is -1: must be from 0 to 32767"),
    ("max_influences", 4.5, "max_influences is 4.5: must be a whole number"),
    ("firmness", "high", "firmness is 'high': must be a number"),
    ("swing", 60, "swing is 60 radians: must be from 0 to 3.14159 radians"),
    ("symmetric", 1, "symmetric is 1: must be True or False"),
    ("rigid_parts", "perhaps", "rigid_parts is 'perhaps': must be one of"),
]


def test_weights_of_a_part(api, found):
    """Kept weights stay to the last bit, and the others change; as in a file."""
    weights, names = api("weights").weights, [f"joint {k}" for k in range(BONES)]
    start = api("weights").weights(VERTICES, TRIANGLES, HEADS, PARENTS, firmness=90, crispness=0.1)
    old = start.toarray()
    for given in ({"keep_bones": ["joint 0"]}, {"only_bones": ["joint 1/"]}):
        new = weights(
            *(VERTICES, TRIANGLES, HEADS, PARENTS), start=start, start_from="fresh", **given
        ).toarray()
        assert (new[:, 0] == old[:, 0]).all() and abs(new[:, 1:] - old[:, 1:]).max() > 0.01
        assert abs(new.sum(1) - 1).max() < 1e-6
    for given, words in (
        ({"keep_bones": ["Jaw"]}, "has no joint 'Jaw'"),
        ({"keep_bones": names}, "nothing to weight"),
        (
            {"only_bones": names[:1], "start": 0 * old},
            r"'mesh' has vertices without weights \(first: 0\)",
        ),
        ({"keep_bones": names[:1], "start": None}, "start is missing"),
    ):
        with pytest.raises(ValueError, match=words):
            weights(VERTICES, TRIANGLES, HEADS, PARENTS, **{"start": start, **given})


@pytest.mark.parametrize(("name", "value", "words"), BAD)
def test_refused_by_name(api, name, value, words):
    arguments = {"vertices": VERTICES, "triangles": TRIANGLES, "joints": HEADS, "parents": PARENTS}
    with pytest.raises(ValueError) as error:
        api("weights").weights(**(arguments | {name: value}))
    assert words in str(error.value)


def test_an_unknown_option(api):
    with pytest.raises(TypeError, match="'firmnes': did you mean 'firmness'"):
        api("weights").weights(VERTICES, TRIANGLES, HEADS, PARENTS, firmnes=3)


def test_a_file(api, core, tmp_path):
    plain().write(tmp_path / "in.glb")
    file = api("gltf").load_gltf(tmp_path / "in.glb")
    (character,) = file.characters
    assert "202 vertices" in repr(file) and character.skeleton.names[0] == "joint 0"
    assert character.weights.toarray()[:, 0].tolist() == [1] * N
    assert (np.sort(character.triangles) == np.sort(TRIANGLES)).all()
    made = character.weigh(threads=1)
    assert character.weights.toarray()[:, 0].tolist() == [1] * N, "not before it is asked for"
    character.set_weights(made)
    api("gltf").save_gltf(file, tmp_path / "out.glb")
    again = api("gltf").load_gltf(tmp_path / "out.glb").characters[0].weights.toarray()
    assert moves(again) and abs(again - made.toarray()).max() <= 1 / 255 + 1e-6
    assert (
        core("cli.main").main(
            ["weight", str(tmp_path / "in.glb"), "-o", str(tmp_path / "shell.glb"), "-q"]
        )
        == 0
    )
    assert (tmp_path / "shell.glb").read_bytes() == (tmp_path / "out.glb").read_bytes()
    for wrong, words in (
        (np.ones((3, 3)), "expected \\(202, 5\\)"),
        (np.ones((N, BONES)), "the weights of vertex 0 do not sum to 1"),
    ):
        with pytest.raises(ValueError, match=words):
            character.set_weights(wrong)


@pytest.mark.parametrize("name", ["rows", "weights", "gltf", "options"])
def test_everything_public_is_explained(api, name):
    """Every public name has a signature and a docstring, and the examples in the docstrings run."""
    module = api(name)
    for key, each in vars(module).items():
        if key[0] != "_" and getattr(each, "__module__", "") == module.__name__:
            assert inspect.getdoc(each), key
            assert inspect.signature(each).parameters is not None
    assert doctest.testmod(module).failed == 0


def test_a_skeleton_of_another_file(api, tmp_path):
    plain().write(tmp_path / "in.glb")
    bare().write(tmp_path / "body.glb")
    file = api("gltf").load_gltf(tmp_path / "body.glb", skeleton=tmp_path / "in.glb")
    (character,) = file.characters
    assert not len(character.weights.bones)
    character.set_weights(character.weigh(threads=1).toarray())
    file.save(tmp_path / "out.glb")
    again = api("gltf").load_gltf(tmp_path / "out.glb").characters[0]
    places = (again.vertices * [1, -1, 1])[:, [0, 2, 1]]  # from Z up to Y up
    assert moves(again.weights.toarray(), places)
