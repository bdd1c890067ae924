"""Names the poses that a file contains for an armature, and the ones that it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.sentence import Sentence, counted, joined


@dataclass(frozen=True)
class PoseSources:
    """The number of poses of each source for an armature."""

    assets: int
    actions: int
    markers: int
    plays: bool  # whether an action or the NLA plays

    def __str__(self) -> str:
        counts = (
            (self.assets, counted(self.assets, "1 pose asset", "{count} pose assets")),
            (self.actions, counted(self.actions, "1 action", "{count} actions")),
            (self.markers, counted(self.markers, "1 marked frame", "{count} marked frames")),
        )
        return joined([text for count, text in counts if count], ", ") or Sentence("nothing")

    def lacks(self, which: str) -> str | None:
        """The reason why this choice of options.animation provides no poses, or None if it provides
        some."""
        return {
            "ACTIVE": None if self.plays else "No action or NLA strip is playing",
            "ALL": None if self.actions else "No action moves these bones",
            "POSE_LIBRARY": None if self.assets else "No pose asset moves these bones",
            "MARKERS": None if self.markers else "No frame is marked",
        }.get(which)
