"""Options of weights() and weigh(): presets, types for checkers, start in any form, and files that
are bytes."""

import io
import os
import subprocess
import sys
import typing
from dataclasses import fields

import araplbs
import numpy as np
import pytest
from araplbs.api.option_types import FileOptions, GivenOptions
from araplbs.api.options import names_of
from araplbs.model.options import Options
from gltf_files import HEADS, PARENTS, TRIANGLES, VERTICES, plain
from paths import ROOT, environment

ARGUMENTS = VERTICES, TRIANGLES, HEADS, PARENTS


def test_presets():
    """A preset sets options, and options given explicitly take precedence."""
    made = araplbs.weights(*ARGUMENTS, preset="game-8")
    assert made.report["options"]["max_influences"] == 8
    made = araplbs.weights(*ARGUMENTS, preset="game-8", max_influences=2)
    assert made.report["options"]["max_influences"] == 2
    with pytest.raises(ValueError, match="preset is 'gamma': there is no preset named gamma"):
        araplbs.weights(*ARGUMENTS, preset="gamma")


def test_preset_of_a_character(tmp_path):
    file = araplbs.load_gltf(plain().write(tmp_path / "in.glb"))
    made = file.characters[0].weigh(preset="game-8", symmetric=False)
    assert made.report["options"]["max_influences"] == 8
    assert not made.report["options"]["symmetric"]


def test_types_are_those_of_the_options():
    """Every name has the type of its default, or exactly its choices."""
    kinds = {option.name: option for option in fields(Options)}
    hints = typing.get_type_hints(FileOptions)
    assert hints.keys() == names_of().keys()
    assert hints.keys() - typing.get_type_hints(GivenOptions).keys() == {"animation"}
    for name, field in names_of().items():
        about = kinds[field]
        if "choices" in about.metadata:
            choices = [each[0].lower() for each in about.metadata["choices"]]
            assert list(typing.get_args(hints[name])) == choices, name
        else:
            assert hints[name] is type(about.default), name


def test_a_type_checker_sees_a_wrong_name(tmp_path):
    pytest.importorskip("mypy")
    code = "import araplbs\naraplbs.weights([], [], [], [], {})\n"
    (tmp_path / "good.py").write_text(code.format("max_influences=4, firmness=3.0"))
    (tmp_path / "bad.py").write_text(code.format("max_influence=4"))
    (tmp_path / "wrong.py").write_text(code.format('control_bones="leave"'))
    for name, words in (("good", "Success"), ("bad", "max_influence"), ("wrong", "control_bones")):
        words_of_mypy = [sys.executable, "-m", "mypy", f"{name}.py", "--follow-imports=silent"]
        done = subprocess.run(
            [*words_of_mypy, "--cache-dir", os.devnull],
            cwd=tmp_path,
            env=environment() | {"MYPYPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert words in done.stdout, done.stdout + done.stderr


def test_start_in_any_form():
    """SciPy's sparse rows, in any order and with repeated entries, start as arrays do."""
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.zeros((len(VERTICES), len(HEADS)))
    dense[:, 1], dense[:, 3] = 0.25, 0.75
    wanted = araplbs.weights(*ARGUMENTS, start=dense)
    rows, columns = np.nonzero(dense)
    values = dense[rows, columns] / 2
    twice = sparse.coo_matrix(
        (np.tile(values, 2), (np.tile(rows, 2), np.tile(columns, 2))), shape=dense.shape
    )
    for start in (
        sparse.csr_matrix(dense),
        sparse.csc_array(dense),
        twice,
        sparse.lil_matrix(dense),
    ):
        made = araplbs.weights(*ARGUMENTS, start=start)
        assert all((a == b).all() for a, b in zip(made.rows, wanted.rows, strict=True))
    again = araplbs.weights(*ARGUMENTS, start=wanted)
    assert again.rows.shape == wanted.rows.shape
    with pytest.raises(ValueError, match=r"start has shape \(3, 3\): expected"):
        araplbs.weights(*ARGUMENTS, start=sparse.eye(3))
    with pytest.raises(ValueError, match="start has weights that are negative"):
        araplbs.weights(*ARGUMENTS, start=sparse.csr_matrix(-dense))


def test_files_that_are_bytes(tmp_path):
    """Bytes and open files give what the path gives, and refer to no other files."""
    content = plain().write(tmp_path / "in.glb").read_bytes()
    wanted = araplbs.load_gltf(tmp_path / "in.glb").characters[0].weigh()
    with open(tmp_path / "in.glb", "rb") as opened:
        for source in (content, bytearray(content), io.BytesIO(content), opened):
            file = araplbs.load_gltf(source)
            made = file.characters[0].weigh()
            assert all((a == b).all() for a, b in zip(made.rows, wanted.rows, strict=True))
    file.characters[0].set_weights(made.rows.to_scipy())
    file.save(tmp_path / "out.glb")
    found = araplbs.load_gltf((tmp_path / "out.glb").read_bytes()).characters[0].weights
    assert abs(found.toarray() - made.toarray()).max() < 0.01
    with pytest.raises(TypeError, match="open it with mode 'rb'"):
        araplbs.load_gltf(io.StringIO("text"))
    outside = plain()
    text = plain().write(tmp_path / "in.gltf").read_bytes()
    assert araplbs.load_gltf(text).characters
    outside.json["buffers"].append({"uri": "in.glb", "byteLength": 4})
    with pytest.raises(araplbs.Refused, match=r"refers to 'in\.glb', which is not a file"):
        araplbs.load_gltf(outside.write(tmp_path / "o.gltf").read_bytes())


def test_control_bones_in_words(core):
    """The report gives reasons for people."""
    sentences = {words for _name, _label, words in core("character.control_bones").REASONS}
    heads = np.vstack([HEADS, HEADS[0] + (0, 0, -9)])
    parents = [*PARENTS, -1]
    made = araplbs.weights(VERTICES, TRIANGLES, heads, parents)
    assert len(made.control_bones) == 1 and set(made.control_bones.values()) <= sentences
