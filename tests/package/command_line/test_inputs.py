"""Input files and numbers of processors: .glb and .blend files follow the same rules."""

import argparse
import os

import pytest

ROOMS = [("cli.files", ".glb"), ("blender.files", ".blend")]
posix = pytest.mark.skipif(os.name == "nt", reason="Windows needs a privilege for links")


@pytest.fixture(params=ROOMS, ids=[suffix for _room, suffix in ROOMS])
def inputs(core, request, tmp_path, monkeypatch):
    """(inputs_of, file extension)"""
    monkeypatch.chdir(tmp_path)
    room, suffix = request.param
    return core(room).inputs_of, suffix


def test_patterns_are_expanded_in_order_and_once(inputs, tmp_path):
    inputs_of, suffix = inputs
    for name in ("b", "a", "deep/c"):
        path = tmp_path / f"{name}{suffix}"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = inputs_of([f"b{suffix}", f"**/*{suffix}", f"./a{suffix}"])
    assert [path.as_posix() for path in found] == [
        f"{name}{suffix}" for name in ("b", "a", "deep/c")
    ]


def test_a_name_that_looks_like_a_pattern(inputs, tmp_path):
    inputs_of, suffix = inputs
    for name in ("[a]", "a"):
        (tmp_path / f"{name}{suffix}").touch()
    assert [path.name for path in inputs_of([f"[a]{suffix}"])] == [f"[a]{suffix}"]


@posix
def test_a_broken_link_is_a_name(core, inputs, tmp_path):
    """The name of a broken link is not a pattern. For .glb files, the message used to state that no
    file matches the name, and a matching file was used instead."""
    inputs_of, suffix = inputs
    (tmp_path / f"[a]{suffix}").symlink_to("nowhere")
    (tmp_path / f"a{suffix}").touch()
    with pytest.raises(core("cli.errors").WrongArguments) as error:
        inputs_of([f"[a]{suffix}"])
    assert str(error.value) == f"[a]{suffix}: no such file"


@posix
def test_a_pattern_that_matches_only_a_broken_link(core, inputs, tmp_path):
    inputs_of, suffix = inputs
    (tmp_path / f"link{suffix}").symlink_to("nowhere")
    with pytest.raises(core("cli.errors").WrongArguments) as error:
        inputs_of([f"*{suffix}"])
    assert str(error.value) == f"link{suffix}: no such file"


def test_a_pattern_that_matches_nothing(core, inputs):
    inputs_of, suffix = inputs
    with pytest.raises(core("cli.errors").WrongArguments) as error:
        inputs_of([f"*{suffix}"])
    assert str(error.value) == f"*{suffix}: no file matches this pattern"


@pytest.mark.parametrize(
    "words, message",
    [
        (["--jobs", "0"], "--jobs is 0: must be at least 1"),
        (["--threads", "-1"], "--threads is -1: must be 0 or more"),
    ],
)
def test_numbers_of_processors(core, words, message):
    parser = argparse.ArgumentParser()
    core("cli.batch.tasks").add_shared(parser, saves=True)
    core("cli.batch.tasks").add_batch(parser)
    with pytest.raises(core("cli.errors").WrongArguments) as error:
        core("cli.batch.tasks").check(parser.parse_args(words))
    assert str(error.value) == message


def test_threads_of_jobs(core):
    threads_of_job = core("cli.batch.pool").threads_of_job
    assert [threads_of_job(8, jobs) for jobs in (1, 3, 8, 9)] == [8, 2, 1, 1]
    assert threads_of_job(0, 1) >= 1
