"""Damage and oddities in files of kept weights from untrusted sources are reported with a sentence
that names the mesh and the value, before oversized data is unpacked."""

import io
import json
import os
import random
import tracemalloc
import zipfile

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.disk import inputs
from araplbs.features.restore import stored as keeping
from araplbs.features.restore.stored import HEAD, Kept, KeptEdit, pack, read_kept, unpack
from araplbs.model.sparse_weights import make_sparse_weights


def kept(name="Tube"):
    rows = make_sparse_weights(
        4, np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 0, 2]), np.array([0.25, 0.75, 1, 1, 0.5])
    )
    return Kept(
        name=name,
        armature="Rig",
        vertices=np.arange(12.0).reshape(4, 3),
        triangles=np.array([[0, 1, 2], [0, 2, 3]]),
        groups=["lower", "upper", "Mask"],
        rows=rows,
        bones=["lower", "upper"],
        heads=np.zeros((2, 3)),
        tails=np.ones((2, 3)),
        edits=[KeptEdit("lower", "WEIGHT", "lower", True, np.array([0, 1.5, 0, 0], np.float32))],
    )


GOOD = pack([kept()])


def changed(about=None, **arrays):
    """The valid file with other arrays (None: without), and other entries of its mesh."""
    with np.load(io.BytesIO(GOOD[len(HEAD) :])) as file:
        content = {name: file[name] for name in file.files}
    content |= {f"{name}0": value for name, value in arrays.items()}
    if about is not None:
        if isinstance(about, dict):
            about = [json.loads(content["about"].tobytes())[0] | about]
        text = about if isinstance(about, bytes) else json.dumps(about).encode()
        content["about"] = np.frombuffer(text, np.uint8)
    out = io.BytesIO()
    np.savez(out, **{name: value for name, value in content.items() if value is not None})
    return HEAD + out.getvalue()


def test_what_is_packed():
    (found,) = unpack(GOOD, "it")
    right = kept()
    assert (found.name, found.armature) == ("Tube", "Rig")
    assert (found.groups, found.bones) == (right.groups, right.bones)
    for mine, theirs in zip(found.rows, right.rows, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(found.vertices, right.vertices)
    assert found.edits[0].kind == "WEIGHT" and found.edits[0].values[1] == 1.5
    assert [each.name for each in unpack(pack([kept("A"), kept("B")]), "it")] == ["A", "B"]


F, NAN = np.float32, np.float32(np.nan)
ODD = {
    "about 5": (changed(5), "list of meshes is 5"),
    "about {}": (changed(b"{}"), "list of meshes is {}"),
    "about []": (changed([]), r"list of meshes is \[\]"),
    "about [null]": (changed([None]), "a mesh is None"),
    "no JSON": (changed(b"["), "is not JSON"),
    "deep": (changed(b"[" * 10**6), "nested too deep"),
    "a mesh too many": (changed([{"name": "x"}]), "its 'armature' is None"),
    "groups": (changed({"groups": None}), "of 'Tube' .*its 'groups' is None"),
    "group": (changed({"groups": [1, 2, 3]}), "one of its 'groups' is 1, not a name"),
    "too few groups": (changed({"groups": ["a"]}), "'group' has the value 1"),
    "twice": (changed({"groups": ["a", "b", "a"]}), "'a' occurs twice in its 'groups'"),
    "many": (changed({"groups": [f"{k}" for k in range(10_001)]}), "has 10001 entries"),
    "long": (changed({"groups": ["a" * 256, "b", "c"]}), "is 'aaa.*1 to 255 bytes"),
    "empty": (changed({"groups": ["", "b", "c"]}), "is '': names must have"),
    "zero": (changed({"groups": ["a\0", "b", "c"]}), "'a.x00': names must have"),
    "surrogate": (changed({"groups": ["\ud800", "b", "c"]}), "ud800', not a name"),
    "name": (changed({"name": 7}), "its 'name' is 7"),
    "armature": (changed({"armature": []}), r"its 'armature' is \[\]"),
    "bones": (changed({"bones": None}), "its 'bones' is None"),
    "bones many": (changed({"bones": ["a", "b", "c"]}), r"'ends' has shape \(2, 2, 3\)"),
    "edit": (changed({"edits": [["a"]]}), r"one of its 'edits' is \['a'\]"),
    "edit name": (changed({"edits": [[1, "WEIGHT", "", True]]}), "one of its 'edits' is .1, "),
    "edit kind": (changed({"edits": [["a", "NONE", "b", True]]}), "edits' is 'NONE'"),
    "edits none": (changed({"edits": []}), r"'edits' has shape \(1, 4\): must be \(0, 4\)"),
    "no vertices": (changed(vertices=None), "there is no 'vertices0'"),
    "vertices 1-D": (changed(vertices=np.zeros(3, F)), r"'vertices' has shape \(3,\)"),
    "vertices 2": (changed(vertices=np.zeros((4, 2), F)), r"shape \(4, 2\): must be \(4, 3\)"),
    "vertices text": (changed(vertices=np.full((4, 3), "a")), "type <U1"),
    "vertices NaN": (changed(vertices=np.full((4, 3), NAN)), "'vertices' has the value nan"),
    "no vertex": (changed(vertices=np.zeros((0, 3), F)), r"shape \(0, 3\): must be \(1, 3\)"),
    "triangles far": (changed(triangles=np.full((1, 3), 4)), "'triangles' has the value 4"),
    "triangles -1": (changed(triangles=np.full((1, 3), -1)), "'triangles' has the value -1"),
    "triangles float": (changed(triangles=np.zeros((1, 3))), "type float64"),
    "triangles 4": (changed(triangles=np.zeros((1, 4), int)), "must be .1, 3"),
    "no triangle": (changed(triangles=np.zeros((0, 3), int)), "must be .1, 3"),
    "start down": (changed(start=np.array([0, 3, 2, 4, 5])), "'start' does not ascend from 0 to 5"),
    "start far": (changed(start=np.array([0, 2, 3, 4, 2**62])), "does not ascend"),
    "start -1": (changed(start=np.array([-1, 2, 3, 4, 5])), "does not ascend"),
    "start short": (changed(start=np.array([0, 5])), r"'start' has shape \(2,\)"),
    "group -1": (changed(group=np.array([0, 1, 1, 0, -1])), "'group' has the value -1"),
    "group twice": (changed(group=np.array([1, 1, 1, 0, 2])), "groups of one of its vertices"),
    "weight NaN": (changed(weight=np.full(5, NAN)), "'weight' has the value nan"),
    "weight -1": (changed(weight=np.full(5, -1, F)), "'weight' has the value -1"),
    "weight short": (changed(weight=np.ones(4, F)), r"'weight' has shape \(4,\)"),
    "weight 0-d": (changed(weight=F(1)), r"'weight' has shape \(\)"),
    "ends": (changed(ends=np.full((2, 2, 3), np.inf)), "'ends' has the value inf"),
    "edits 3": (changed(edits=np.zeros((1, 3), F)), r"'edits' has shape \(1, 3\)"),
    "edits NaN": (changed(edits=np.full((1, 4), NAN)), "'edits' has the value nan"),
    "objects": (changed(vertices=np.full((4, 3), None)), "it contains no numbers"),
    "no zip": (HEAD, "cannot be read: it is damaged"),
    "cut": (GOOD[:200], "cannot be read: it is damaged"),
    "older": (b"araplbs kept weights 0\n", "contains no kept weights of this version"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_contents(name):
    content, pattern = ODD[name]
    with pytest.raises(Refused, match=f"^it .*{pattern}"):
        unpack(content, "it")


def test_flipped_bits():
    draw, refused = random.Random(5), 0
    for _ in range(1500):
        content = bytearray(GOOD)
        for _ in range(draw.randrange(1, 4)):
            content[draw.randrange(len(HEAD), len(content))] ^= 1 << draw.randrange(8)
        try:
            unpack(bytes(content), "it")
        except Refused as reason:
            refused += 1
            assert str(reason).startswith("it is damaged")
    assert refused > 1000


def test_a_bomb_is_not_unpacked():
    out = io.BytesIO()
    archive = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("vertices0.npy", "w") as member:
        for _ in range(300):
            member.write(bytes(1 << 20))
    tracemalloc.start()
    with pytest.raises(Refused, match="would unpack to 314572800"):
        unpack(HEAD + out.getvalue(), "it")
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()
    with pytest.raises(Refused, match="would unpack to"):
        unpack(GOOD, "it", most=100)


def test_files(tmp_path, monkeypatch):
    path = tmp_path / "a.kept"
    path.write_bytes(GOOD)
    assert read_kept(path)[0].name == "Tube"
    monkeypatch.setattr(keeping, "MOST", 100)
    with pytest.raises(Refused, match=r"a.kept' is too large: it has more than 100 bytes"):
        read_kept(path)
    with pytest.raises(Refused, match="cannot be read: No such file"):
        read_kept(tmp_path / "none")
    with pytest.raises(Refused, match=r"text' is not UTF-8 text"):
        (tmp_path / "text").write_bytes(b"\xff")
        inputs.read_input_text(tmp_path / "text", 10)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_what_waits_or_never_ends(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/zero", "/dev/null"):
        with pytest.raises(Refused, match=f"'{path}' is not a regular file"):
            read_kept(path)
    with pytest.raises(Refused, match="is a folder"):
        read_kept(tmp_path)
    if os.path.exists("/proc/self/environ"):  # which says that it has no bytes
        with pytest.raises(Refused, match="has more than 3 bytes"):
            inputs.read_input("/proc/self/environ", 3)
