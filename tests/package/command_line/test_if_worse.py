"""With --if-worse, weights that are worse than the file's weights are reported, cause a failure, or
are not kept."""

import argparse
import json

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.cli import worse
from gltf_files import plain, rows
from gltf_validity import File

WORSE = ("--firmness", "300", "--initial", "nearest")  # stiff limbs: the joints take the stretch


@pytest.fixture
def good(main, tmp_path):
    """A file with our weights, which stretch the surface as little as possible."""
    plain().write(tmp_path / "in.glb")
    assert main(["weight", "in.glb", "-o", "good.glb", "--firmness", "0", "-q"]) == 0


def report_of(path):
    return json.loads(open(path, encoding="utf-8").read())["files"][0]["characters"][0]


def weights(path):
    return rows(File(path))[1]


def test_better_weights_are_no_matter(main, good, capsys):
    """All weights of in.glb belong to one bone: they stretch nothing, so they are no reference."""
    assert main(["weight", "in.glb", "-o", "out.glb", "--json", "r.json", "--quiet"]) == 0
    assert report_of("r.json")["compared"] == {"worse": False, "reaching": {}}
    assert main(["weight", "good.glb", "-o", "worse.glb", "-q", *WORSE]) == 0
    arguments = ["--json", "r.json", "--if-worse", "fail", "--firmness", "0"]
    assert main(["weight", "worse.glb", "-o", "out.glb", *arguments]) == 0
    compared = report_of("r.json")["compared"]
    assert not compared["worse"] and set(compared) == {"file", "lost", "reaching", "worse"}
    assert "stretches more" not in capsys.readouterr().out


def test_reported(main, good, capsys):
    """By default, a warning with the numbers; the file is still written."""
    assert main(["weight", "good.glb", "-o", "out.glb", "--json", "r.json", *WORSE]) == 0
    report = report_of("r.json")
    after, before = (
        report["deformation"]["after"]["surface_strain"],
        report["compared"]["file"]["surface_strain"],
    )
    assert report["compared"]["worse"] and after > before
    line = (
        f"more than with the earlier weights: {100 * after:.1f} % instead of {100 * before:.1f} %"
    )
    said = capsys.readouterr().out
    assert line in said and "are worse than the earlier ones" in said.splitlines()[-1]
    assert any(line in each for each in report["warnings"]) and "kept" not in report
    assert not np.array_equal(weights("out.glb"), weights("good.glb"))


def test_fails(main, good, tmp_path):
    """The command fails with an exit code of its own. The output is written for inspection."""
    arguments = ["weight", "good.glb", "-o", "out.glb", "--if-worse", "fail", "-q"]
    assert main([*arguments, *WORSE]) == 3
    assert not np.array_equal(weights("out.glb"), weights("good.glb"))

    (tmp_path / "out.glb").rename(tmp_path / "worse.glb")
    words = ["worse.glb", "-o", "b.glb", "--if-worse", "fail", "--firmness", "0", "-q"]
    assert main(["weight", *words]) == 0


def test_kept(main, good, capsys):
    arguments = ["--if-worse", "keep", "--json", "r.json"]
    assert main(["weight", "good.glb", "-o", "out.glb", *arguments, *WORSE]) == 0
    assert np.array_equal(weights("out.glb"), weights("good.glb"))
    assert report_of("r.json")["kept"] is True
    assert "The earlier weights were kept" in capsys.readouterr().out


def test_several_at_a_time(main, good):
    arguments = ["in.glb", "good.glb", "-o", "made/", "--jobs", "2", "-q", "--if-worse", "fail"]
    assert main(["weight", *arguments, *WORSE]) == 3


def test_the_measure_is_that_of_the_report(main, good):
    """The stretch of the file's weights equals that in a report of a run that starts from them."""
    assert main(["weight", "good.glb", "-o", "a.glb", "--json", "a.json", "-q"]) == 0
    made = report_of("a.json")
    assert main(["weight", "a.glb", "-o", "b.glb", "--json", "b.json", "-q"]) == 0
    again = report_of("b.json")
    stretch = made["deformation"]["after"]["surface_strain"]
    assert again["compared"]["file"]["surface_strain"] == pytest.approx(stretch, rel=1e-3)


def test_what_is_worse(core):
    """More stretch, unless limbs follow their bones better in return."""
    worse = core("measures.standing").stretches_more
    assert worse((0.2, 0.3), (0.2, 0.2)) and worse((0.2, 0.3), (0.2, None))
    assert not worse((0.2, 0.3), (0.2, 0.1))
    assert worse((0.2, 0.31), (0.2, 0.1)), "but not so much"
    assert not worse((0.2, 0.2), (0.2, 0.3)) and not worse((None, 0.2), (None, 0.2))


def test_nothing_before(core):
    standing = core("measures.standing").standing
    nothing = core("model.sparse_weights").sparse_of(np.zeros((4, 1)))
    both = {"after": {"surface_strain": 0.3, "limb_drift": 0.2}}
    assert standing(None, nothing, both, core("model.options").Options()) == {"worse": False}
    line = core("reports.warning_lines").worse_lines
    assert line({"deformation": both}) == [] == line({"compared": {"worse": False}})


def test_weights_of_one_bone_are_nothing(core):
    """Weights of one bone stretch nothing, but this does not make them good."""
    has_weights = core("measures.standing").has_weights
    sparse_of, both = core("model.sparse_weights").sparse_of, np.eye(2)
    assert not has_weights(sparse_of(np.ones((40, 1))))
    assert has_weights(sparse_of(both[np.arange(40) // 36]))
    few = np.concatenate([both[np.arange(40) % 2], np.zeros((60, 2))])
    assert not has_weights(sparse_of(few)), "too few of them"


def test_wrong_values(main, good, capsys):
    assert main(["weight", "in.glb", "-o", "out.glb", "--if-worse", "cry"]) == 2
    assert "--if-worse" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"), [("if_worse", "keep"), ("volume", "inside"), ("start_from", "present")]
)
def test_arguments_without_effect_on_new_vertices(name, value):
    parser = argparse.ArgumentParser()
    worse.add_only_new(parser)
    assert parser.parse_args(["--only-new"]).only_new and not parser.parse_args([]).only_new
    given = {"if_worse": "report", "volume": "none", "start_from": "fresh"}
    worse.refuse_with_only_new(argparse.Namespace(**given))
    flag = name.replace("_", "-")
    with pytest.raises(Refused, match=f"^--only-new and --{flag} {value} cannot be used together$"):
        worse.refuse_with_only_new(argparse.Namespace(**given | {name: value}))
