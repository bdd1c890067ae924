"""The part of the benchmark on Check Weights: which findings are ours alone."""

import sys
from importlib import import_module

from paths import TESTS

sys.path.append(str(TESTS / "bench"))
check = import_module("check")


def finding(kind="DRIFT", vertices=range(10), mesh=0):
    return {"kind": kind, "vertices": list(vertices), "mesh": mesh, "words": kind}


def alone(ours, *artist):
    return len(check.alone({"ours": {"high": [ours]}, "artist": {"high": list(artist)}}))


def test_what_the_artist_has_as_well():
    assert alone(finding()) == 1
    assert alone(finding(), finding(vertices=range(7, 30))) == 0, "3 of 10"
    assert alone(finding(), finding(vertices=range(9, 30))) == 1, "1 of 10"
    assert alone(finding(), finding(kind="COLLAPSE")) == 1
    assert alone(finding(), finding(mesh=1)) == 1
    assert alone(finding(vertices=()), finding(vertices=())) == 0, "a bone that moves nothing"
    assert alone(finding(), finding(kind="STRETCH"), finding()) == 0
