"""The list of bones that move one vertex."""

from araplbs.reports.bone_shares import share_lines, shares


def test_shares():
    """Shares below half a percent are left out, and equal shares are sorted by name."""
    found = shares([("b", 1.0), ("none", 0.0), ("c", 2.0), ("little", 0.01), ("a", 1.0)])
    assert [name for name, _share in found] == ["c", "a", "b"]
    assert [round(share, 2) for _name, share in found] == [0.5, 0.25, 0.25]
    assert shares([]) == shares([("none", 0.0)]) == []


def test_lines():
    """Four bones are named, and the others are combined."""
    many = [(f"b{k}", share) for k, share in enumerate((0.4, 0.2, 0.15, 0.1, 0.1, 0.05))]
    four = ["b0  40 %", "b1  20 %", "b2  15 %", "b3  10 %"]
    assert share_lines(many) == [*four, "+2  15 %"]
    assert share_lines(many[:4]) == four and share_lines([]) == []
