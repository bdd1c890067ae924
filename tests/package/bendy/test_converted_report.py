"""The lines about a conversion of bendy bones to plain bones."""

import pytest


@pytest.fixture
def report(core):
    return core("features.bendy.report")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, "1 bendy bone became 2 bones; no mesh has their vertex groups"),
        (
            {"meshes": ["Tail"]},
            "1 bendy bone became 2 bones, with groups in Tail; no visible mesh shows the "
            "difference",
        ),
        (
            {"meshes": ["Tail", "Fin"], "difference": {"Tail": 1e-7, "Fin": 2e-5}},
            "1 bendy bone became 2 bones, with groups in Tail, Fin; in this pose no vertex moved "
            "by more than 2.0e-05 of the size of 'Fin'",
        ),
    ],
)
def test_summary(report, facts, expected):
    done = report.Converted(names={"tail": ["tail.1", "tail.2"]}, **facts)
    assert report.converted_summary(done) == expected


def test_several_bones(report):
    done = report.Converted(names={"a": ["a1", "a2"], "b": ["b1", "b2", "b3"]})
    assert report.converted_summary(done).startswith("2 bendy bones became 5 bones;")


def test_warnings(report):
    most = report.GAME_INFLUENCES
    assert report.converted_warnings(report.Converted(most_influences=most)) == []
    done = report.Converted(
        locked={"middle": "Tail"},
        kept_groups=[("Tail", "tip")],
        most_influences=most + 1,
        sheared=["tip.2", "tip.3"],
    )
    assert report.converted_warnings(done) == [
        "'middle' stays unchanged because its vertex group in 'Tail' is locked",
        "'Tail': the vertex group 'tip' was kept because it has other uses",
        "Some vertices have 5 influences, but exporters keep only 4 by default",
        "2 of the new bones shear in this pose (first: 'tip.2'), which glTF cannot store",
    ]
