"""The list of Check and Repair after a repair: repaired findings are marked, and all others state
the outcome of the repair."""

import bpy
import pytest
from flaws import check, choose, flawed, found, kinds_found, repair, shown
from scenes import addon, package, select


class Layout:
    """Records (icon, text, whether it is active) of labels, and the names of properties."""

    def __init__(self, seen, active=True):
        self.__dict__.update(seen=seen, active=active)

    def row(self, **_options):
        return Layout(self.seen, self.active)

    def label(self, text="", icon="NONE", **_options):
        self.seen.append((icon, text, self.active))

    def prop(self, _data, name, **_options):
        self.seen.append(("PROPERTY", name, self.active))


def rows():
    """The contents of each row of the list, in order."""
    panel = addon("panels.check_panel")
    items, drawn = shown().findings, []
    for index, item in enumerate(items):
        seen = []
        panel.DATA_UL_araplbs_findings.draw_item(
            None, bpy.context, Layout(seen), None, item, 0, None, "", index
        )
        drawn.append(seen)
    places = panel.by_severity(found().rows)
    return [drawn[places.index(k)] for k in range(len(drawn))]


def named():
    """The names of the rows, in the order of the list."""
    places = addon("panels.check_panel").by_severity(found().rows)
    names = [item.name for item in shown().findings]
    return [names[places.index(k)] for k in range(len(names))]


def test_a_repaired_row_keeps_its_place_and_looks_repaired():
    flawed("UNWEIGHTED", "UNNORMALIZED")
    check()
    index = choose("UNWEIGHTED")
    names = named()
    assert all(icon != "CHECKMARK" for row in rows() for icon, _text, _active in row)
    repair(which="ACTIVE")
    now = rows()
    assert named() == names, "each at its place"
    icon, _text, active = now[index][0]
    assert (icon, active) == ("CHECKMARK", False) and names[index].startswith("Unweighted")
    assert ("PROPERTY", "repair", False) not in now[index], "there is nothing left to mark"
    ended = [row[0][0] == "CHECKMARK" for row in now]
    assert 1 <= sum(ended) == len(found().repaired) == len(names) - len(found().findings)
    assert "Not Normalized Tube" in [
        name for name, end in zip(names, ended, strict=True) if not end
    ]


def test_a_second_repair_adds_to_the_first():
    tube, rig, _places = flawed("UNWEIGHTED", "UNNORMALIZED")
    check()
    for kind in ("UNWEIGHTED", "UNNORMALIZED"):
        choose(kind)
        repair(which="ACTIVE")
    assert {f.kind for f in found().repaired} >= {"UNWEIGHTED", "UNNORMALIZED"}
    select(tube, rig)
    check()
    assert found().repaired == [], "a new check begins a new list"


def test_repaired_rows_are_no_findings():
    """Rows of repaired findings can be selected, and no operator treats them as remaining
    findings."""
    flawed("UNWEIGHTED", "UNNORMALIZED")
    check()
    choose("UNWEIGHTED")
    repair(which="ACTIVE")
    shown().active = len(found().findings)
    for call in (
        lambda: repair(which="ACTIVE"),
        bpy.ops.object.araplbs_select_finding,
        bpy.ops.object.araplbs_show_pose,
    ):
        with pytest.raises(RuntimeError, match=r"Choose a finding|There is no finding"):
            call()
    left = kinds_found()
    marks = addon("features.check.findings_list").marked()
    assert len(marks) == len(left) < len(shown().findings)
    repair(which="MARKED")
    assert "UNNORMALIZED" not in kinds_found()


def test_nothing_left_still_shows_what_was_repaired():
    flawed("UNNORMALIZED")
    check()
    repair(which="MARKED")
    if kinds_found():
        pytest.skip("other findings are left")
    assert [row[0][0] for row in rows()] == ["CHECKMARK"]


def test_saving_keeps_the_rows(tmp_path):
    flawed("UNWEIGHTED", "UNNORMALIZED")
    check()
    choose("UNWEIGHTED")
    repair(which="ACTIVE")
    before = rows()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"), copy=True)
    assert rows() == before


def test_what_a_repair_has_left_says_so():
    tube, rig, _places = flawed("UNWEIGHTED", "SPECKLE")
    check()
    index = choose("SPECKLE")
    tube.vertex_groups["upper"].lock_weight = True
    select(tube, rig)
    check()
    index = choose("SPECKLE")
    repair(which="ACTIVE")
    result = found().result(kinds_found().index("SPECKLE"))
    assert result and result.result in {"BETTER", "UNCHANGED"}, index
    icons = [icon for row in rows() for icon, _text, _active in row]
    assert addon("panels.check_panel").RESULT_ICONS[result.result] in icons


def test_the_same_finding():
    """Two findings are the same if they have the same kind and mesh and share vertices or, without
    vertices, have the same bone."""
    of = package("features.repair.report")
    finding = package("features.check.findings").Finding
    outcome = package("features.repair.repair").Outcome
    one, other = finding("STRETCH", 0.9, 0, 1, [1, 2]), finding("STRETCH", 0.5, 0, 2, [2, 3])
    assert of.is_same(one, other)
    assert not of.is_same(one, finding("STRETCH", 0.9, 1, 1, [1, 2]))
    assert not of.is_same(one, finding("SPECKLE", 0.9, 0, 1, [1, 2]))
    assert not of.is_same(one, finding("STRETCH", 0.9, 0, 1, [4]))
    assert of.is_same(finding("IDLE_BONE", 0.9, 0, 3), finding("IDLE_BONE", 0.5, 0, 3))
    assert not of.is_same(finding("IDLE_BONE", 0.9, 0, 3), finding("IDLE_BONE", 0.9, 0, 4))
    better = outcome(one, "BETTER", 0.5)
    assert of.gone([other], [one, one]) == [] and of.gone([], [one]) == [one]
    assert of.outcomes_of([other, finding("NOISE", 0.1, 0)], [better]) == [better, None]
