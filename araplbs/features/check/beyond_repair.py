"""Lists the findings that new weights cannot repair."""

from __future__ import annotations

# The kind of each such finding, with the reason.
BEYOND = {
    "BONE_OUTSIDE": "Weights cannot repair a bone that lies outside: move it, or use Optimize "
    "Joints",
    "DOUBTFUL_PART": "Only the artist knows the bone of this part: choose one in the panel",
}
