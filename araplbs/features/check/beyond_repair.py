"""Findings that no new weights repair."""

from __future__ import annotations

# Findings that no weights repair.
BEYOND = {
    "BONE_OUTSIDE": "No weights repair a bone that lies outside: move it, or Optimize Joints",
}
