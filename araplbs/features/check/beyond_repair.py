"""Findings that new weights cannot repair."""

from __future__ import annotations

# Findings that weights cannot repair.
BEYOND = {
    "BONE_OUTSIDE": "Weights cannot repair a bone that lies outside: move it, or use Optimize "
    "Joints",
}
