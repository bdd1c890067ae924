"""The table of all kinds of weight faults. A new kind is a row here, and a function that finds
it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from .bones import bones_outside, doubtful, drifting_limbs, idle_bones
from .findings import Finding
from .gaps import bleeding
from .inspected import Inspected
from .mesh import mesh_faults
from .overreach import overreaching
from .response import unresponsive_bones
from .rows import asymmetry, influences, speckles, unnormalized, unweighted
from .surface import intersections, loose_parts, strained


class Kind(NamedTuple):
    """A kind of findings."""

    id: str
    name: str
    about: str  # the meaning for a rigger
    cause: str  # the usual cause, in a sentence
    stage: str  # of the progress
    find: Callable[[Inspected], Iterable[Finding]]  # may also find other kinds
    rings: int = 0  # around the vertices of a finding, which Repair solves with them
    cure: str = ""  # the tool that mends it if Repair cannot, or is not wanted
    beyond_repair: str = ""  # the reason why new weights cannot repair it

    @property
    def is_repairable(self) -> bool:
        """Whether Repair can mend it."""
        return not self.beyond_repair and self.find is not mesh_faults


# In the order of menus. Checks run in the order of their first rows.
KINDS: Final = (
    Kind(
        "STRETCH",
        "Stretch",
        "The surface is torn apart when posed",
        "Neighboring vertices follow different bones: the border is too sharp",
        "surface strain",
        strained,
        rings=2,
    ),
    Kind(
        "COLLAPSE",
        "Collapse",
        "The surface folds or loses its volume when posed",
        "Bones that rotate in opposite directions share this skin",
        "surface strain",
        strained,
        rings=2,
    ),
    Kind(
        "BLEEDING",
        "Bleeding",
        "A bone moves skin across a gap, such as another finger, the other leg or the other lip",
        "The parts lie so close together that the bone of one part moves the other",
        "gaps",
        bleeding,
        rings=1,
    ),
    Kind(
        "OVERREACH",
        "Overreach",
        "A limb moves skin that belongs to another limb",
        "Skin that moves along with a limb stretches less, so the limb took it",
        "bones",
        overreaching,
        rings=1,
    ),
    Kind(
        "DRIFT",
        "Drift",
        "A limb leaves its bone when posed",
        "Bones beyond the joint have too much weight in this limb",
        "limbs",
        drifting_limbs,
        rings=2,
    ),
    Kind(
        "BONE_OUTSIDE",
        "Bone Outside",
        "The bone is outside the part it moves",
        "The joint was placed or imported outside its limb",
        "bones",
        bones_outside,
        cure="Optimize Joints",
        beyond_repair="Weights cannot repair a bone that lies outside: move it, or use Optimize "
        "Joints",
    ),
    Kind(
        "IDLE_BONE",
        "Idle Bone",
        "A deform bone moves no vertex",
        "Other bones move all the skin around this bone",
        "bones",
        idle_bones,
        rings=2,
        cure="Use Joints",
    ),
    Kind(
        "DEAF_BONE",
        "Weak Bone",
        "A bone hardly moves the skin around it",
        "The neighboring bones move most of this bone's skin",
        "bones",
        unresponsive_bones,
        rings=2,
        cure="Use Joints",
    ),
    Kind(
        "UNWEIGHTED",
        "Unweighted",
        "Vertices without weights stay where they are",
        "The vertices were added later, or removed from all groups",
        "vertices",
        unweighted,
    ),
    Kind(
        "UNNORMALIZED",
        "Not Normalized",
        "Weights do not sum to 1",
        "Groups were painted without Auto Normalize, or are locked",
        "vertices",
        unnormalized,
    ),
    Kind(
        "SPECKLE",
        "Speckle",
        "Single vertices have weights unlike those around them",
        "Single brush strokes or a transfer often leave such vertices",
        "speckle",
        speckles,
    ),
    Kind(
        "ASYMMETRY",
        "Asymmetry",
        "Weights differ from those of the other side",
        "One side was painted or edited alone",
        "symmetry",
        asymmetry,
    ),
    Kind(
        "INFLUENCES",
        "Too Many Influences",
        "A vertex has more influences than allowed",
        "The weights were computed for a higher limit, or without a limit",
        "vertices",
        influences,
        cure="Quantize Weights",
    ),
    Kind(
        "LOOSE_PART",
        "Loose Part",
        "A separate part does not move with the surface it sits on",
        "The part follows different bones than the surface beneath it",
        "parts",
        loose_parts,
        cure="Mark Rigid Part",
    ),
    Kind(
        "DOUBTFUL_PART",
        "Doubtful Part",
        "Another bone fits a separate part about as well",
        "Both bones lie close to the part, and the surface follows both of them",
        "parts",
        doubtful,
        cure="Give Part to Bone",
        beyond_repair="Only the artist knows the bone of this part: choose one in the panel",
    ),
    Kind(
        "INTERSECTION",
        "Skin Through Cloth",
        "The skin beneath shows through when posed",
        "Skin and cloth follow different bones here",
        "parts",
        intersections,
        rings=2,
    ),
    Kind(
        "INNER_SHELL",
        "Inner Shell",
        "A hull hidden inside another part",
        "Generated meshes often contain hidden hulls: remove them",
        "mesh",
        mesh_faults,
        cure="Remove Vertices",
    ),
    Kind(
        "DOUBLE_SHELL",
        "Double Shell",
        "The surface exists twice, close together",
        "The surface has a leftover copy or a lining",
        "mesh",
        mesh_faults,
        cure="Remove Vertices",
    ),
    Kind(
        "SPLIT_EDGES",
        "Split Edges",
        "Faces that meet share no vertices",
        "Exporters split vertices at seams: merge them",
        "mesh",
        mesh_faults,
        cure="Merge Vertices",
    ),
    Kind(
        "ISLANDS",
        "Islands",
        "Small parts float free of everything else",
        "Generated meshes often leave fragments: remove them",
        "mesh",
        mesh_faults,
        cure="Remove Vertices",
    ),
    Kind(
        "NOISE",
        "Noise",
        "The surface is rough all over",
        "Scans and generated meshes are often this rough: smooth it",
        "mesh",
        mesh_faults,
        cure="Smooth Surface",
    ),
)
KIND_OF: Final = {kind.id: kind for kind in KINDS}
# Mesh faults, which weights cannot repair.
OF_MESH: Final = frozenset(kind.id for kind in KINDS if kind.find is mesh_faults)
