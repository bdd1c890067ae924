"""The benchmark of Check Weights: the findings that the artist's weights do not have."""

import sys
from importlib import import_module

from paths import ROOT

sys.path.append(str(ROOT / "bench"))
check = import_module("check")


def finding(kind="DRIFT", vertices=range(10), mesh=0, level="high"):
    return {
        **{"kind": kind, "vertices": list(vertices), "mesh": mesh, "words": kind},
        **{"level": level, "severity": {"high": 0.8, "medium": 0.5, "low": 0.1}[level]},
    }


def row(ours, *artist, heat=()):
    found = {"ours": [ours], "artist": artist, "heat": heat}
    return {way: {"findings": list(each)} for way, each in found.items()}


def alone(ours, *artist):
    return len(check.alone(row(ours, *artist)))


def test_what_the_artist_has_as_well():
    assert alone(finding()) == 1
    assert alone(finding(), finding(vertices=range(7, 30))) == 0, "3 of 10"
    assert alone(finding(), finding(vertices=range(9, 30))) == 1, "1 of 10"
    assert alone(finding(), finding(kind="COLLAPSE")) == 1
    assert alone(finding(), finding(mesh=1)) == 1
    assert alone(finding(vertices=()), finding(vertices=())) == 0, "a bone that moves nothing"
    assert alone(finding(), finding(kind="STRETCH"), finding()) == 0


def test_what_the_artist_has_less_badly():
    assert alone(finding(level="medium")) == 0, "only findings of high severity count"
    ((_found, there),) = check.alone(row(finding(), finding(level="medium")))
    assert check.told(there) == "medium, 0.50"
    both = finding(level="low"), finding(level="medium")
    assert check.in_file(row(finding(), *both), finding()) is both[1], "the worst one"
    assert check.told(check.in_file(row(finding()), finding())) == "none"


def test_in_all():
    """The findings of both methods, and the number of characters that have them."""
    rows = [
        row(finding(), finding(level="medium"), heat=[finding(), finding("STRETCH")]),
        row(finding(), finding(), heat=[]),
    ]
    told = check.in_all(rows)
    assert (
        "Our weights have 1 new finding of high severity on 1 of 2 characters. At the places of 0"
        in told
    )
    assert (
        "Heat has 2 new findings of high severity on 1 of 2 characters. At the places of 1" in told
    )
