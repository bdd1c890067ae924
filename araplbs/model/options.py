"""All options for weighting in one table, from which the operator's properties, the command-line
arguments and the solver's keyword arguments are generated."""

import math
from dataclasses import dataclass
from typing import Any

from ..base.option_table import OptionTable, option, setting


@dataclass(frozen=True)
class Options(OptionTable):
    """The options for weighting. Raises BadOption for a value outside its limits."""

    max_influences: int = setting(
        "COMMON",
        "max_influences",
        "Max Influences",
        "Maximum number of bones that move a vertex; 0 for no limit. Game engines support 4 or "
        "8. The weights are optimized for this limit, not just cut off",
        max=32767,
        soft_max=16,
    )
    bone_spring_stiffness: float = setting(
        "COMMON",
        "bone_spring_stiffness",
        "Firmness",
        "How firmly the bones hold the skin around them. Higher values keep limbs on their bones "
        "and preserve their shape, and bends become narrower, with more stretch at the joints. "
        "Lower values spread bends over more skin. 0 turns it off",
        soft_max=50.0,
        decimals=1,
    )
    link_parts: bool = setting(
        "COMMON",
        "link_parts",
        "Loose Parts Follow",
        "Buttons, eyes, hair cards and other separate pieces move with the surface they "
        "sit on, instead of being weighted separately",
    )
    symmetric: bool = option(
        True,
        "Symmetric",
        "If the character is symmetric, in any orientation, vertices on both sides get exactly "
        "the same weights. The rest is weighted as if this were off",
    )
    rigid_parts: str = option(
        "DETECTED",
        "Rigid Parts",
        "Parts that keep their shape: all vertices of a part get the same weights",
        choices=(
            ("OFF", "Off", "Every vertex has its own weights"),
            ("MARKED", "Marked", "Parts marked in the list of corrections"),
            (
                "DETECTED",
                "Detected",
                "Marked parts, and loose parts that one bone can move as a whole, such as "
                "props, armor and robots. Clothes and other parts around several bones stay soft",
            ),
        ),
    )
    rigid_influences: int = setting(
        "SOLVER",
        "rigid_influences",
        "Bones per Rigid Part",
        "Maximum number of bones that move a rigid part; 0 uses the limit for a vertex",
        max=32767,
        soft_max=16,
        advanced=True,
    )
    volume: str = option(
        "NONE",
        "Volume",
        "The shape to keep in the poses: the surface, or a volume of tetrahedra around it",
        choices=(
            ("NONE", "Surface Only", "No volume"),
            (
                "INSIDE",
                "Inside",
                "The inside of closed meshes, filled by TetGen (which must be installed)",
            ),
            ("FILE", "File", "Tetrahedra from a file, read by meshio (which must be installed)"),
        ),
    )
    tet_file: str = option(
        "", "Tet File", "A mesh of tetrahedra around the surface: .msh, .mesh, .vtk...", path=True
    )
    tet_space: str = option(
        "OBJECT",
        "Tet Space",
        "Coordinate space of the file",
        choices=(
            ("OBJECT", "Object", "Local coordinates of the mesh"),
            ("ARMATURE", "Armature", "Local coordinates of the armature"),
        ),
    )
    initial: str = setting(
        "SOLVER",
        "initial",
        "Initial Weights",
        "Method that computes fresh weights, before they are optimized",
        choices=(
            ("HEAT", "Bone Heat", "Heat that spreads from the bones (Baran and Popović 2007)"),
            ("NEAREST", "Nearest Bone", "Every vertex follows only its nearest bone"),
            (
                "BONEGLOW",
                "BoneGlow",
                "Light that bones cast on the skin (Wareham and Lasenby 2008)",
            ),
            (
                "BBW",
                "Bounded Biharmonic",
                "Smooth weights between 0 and 1 that fade between bones (Jacobson et al. 2011)",
            ),
            (
                "BIHARMONIC",
                "Biharmonic",
                "Smooth weights without bounds, whose influences spread farther",
            ),
        ),
    )
    start_from: str = option(
        "FRESH",
        "Start From",
        "The weights that the optimization starts from",
        choices=(
            ("FRESH", "Fresh Weights", "Weights computed only from the mesh and the skeleton"),
            ("PRESENT", "Current Weights", "The current weights of the vertex groups"),
        ),
        advanced=True,
    )
    pose_count: int = setting(
        "SAMPLING",
        "pose_count",
        "Random Poses",
        "Number of random poses in which the mesh should keep its shape. More poses give more "
        "stable weights but take longer",
        min=1,
        max=10000,
        soft_max=320,
    )
    swing: float = setting(
        "SAMPLING",
        "swing",
        "Swing",
        "Largest angle by which a bone swings in any direction in the random poses",
        max=math.pi,
        angle=True,
    )
    twist: float = setting(
        "SAMPLING",
        "twist",
        "Twist",
        "Largest angle by which a bone twists about its own axis in either direction in the "
        "random poses. Bones of limbs twist farther, see Limb Twist",
        max=math.pi,
        angle=True,
    )
    limb_twist: float = option(
        math.radians(75),
        "Limb Twist",
        "Largest angle by which upper arms and thighs twist in the random poses. Hands and feet "
        "twist by two thirds of this angle, and forearms and shins by a third, but not by less "
        "than Twist. If the limbs of a character never twist, decrease it: they then follow "
        "their bones more closely",
        min=0.0,
        max=math.pi,
        angle=True,
    )
    reach_poses: float = setting(
        "SAMPLING",
        "reach_poses",
        "Reach Poses",
        "Fraction of the random poses in which limbs reach for targets, with elbows and "
        "knees bending together with shoulders and hips. In the others, every bone "
        "rotates independently",
    )
    seed: int = setting(
        "SAMPLING",
        "seed",
        "Seed",
        "A different seed gives different random poses",
        max=2**31 - 1,
        soft_max=100,
    )
    use_joint_limits: bool = option(
        True,
        "Joint Limits",
        "Random poses stay within the IK limits and Limit Rotation constraints (in local space) "
        "of the bones, and do not rotate locked axes",
    )
    through_rig: bool = option(
        True,
        "Through the Rig",
        "If constraints or drivers move deform bones, random poses are applied to the "
        "controls, and the rig moves the deform bones. Otherwise, every deform bone "
        "rotates independently",
    )
    animation: str = option(
        "NONE",
        "My Animation",
        "Your own poses in which the mesh should keep its shape, too",
        choices=(
            ("NONE", "None", "Random poses only"),
            (
                "ACTIVE",
                "As Played",
                "Scene frames as the armature currently plays them, from its action or NLA strips",
            ),
            ("ALL", "All Actions", "Frames of every action in the file that moves these bones"),
            (
                "POSE_LIBRARY",
                "Pose Library",
                "Every pose asset in the file that moves these bones. Bones without keys stay "
                "at rest",
            ),
            (
                "MARKERS",
                "Marked Frames",
                "Frames that have a marker in the timeline or in the armature's action, as the "
                "armature currently plays them",
            ),
        ),
    )
    animation_frames: int = option(
        40,
        "Frames",
        "Maximum number of frames or poses used, evenly spaced over all of them",
        min=1,
        max=10000,
        soft_max=200,
    )
    pose_weight: float = option(
        1.0,
        "Animation Weight",
        "Importance of a pose from My Animation relative to a random pose, which counts "
        "as 1. Higher values preserve the shape better in these poses and worse in all "
        "others",
        min=0.001,
        max=1000.0,
        soft_max=10.0,
        decimals=2,
    )
    control_bones: str = option(
        "LEAVE_OUT",
        "Control Bones",
        "Bones that importers mark as deform bones although they are controls: roots, IK targets, "
        "weapon slots",
        choices=(
            (
                "LEAVE_OUT",
                "Leave Out",
                "Control bones move no vertices. They are recognized by their position "
                "and by evidence in the file",
            ),
            ("INCLUDE", "Include", "Every deform bone moves vertices"),
        ),
        advanced=True,
    )
    bone_directions: str = option(
        "AUTOMATIC",
        "Bone Directions",
        "The direction of bones. FBX and glTF importers often leave tails that point in "
        "arbitrary directions",
        choices=(
            (
                "AUTOMATIC",
                "Automatic",
                "Follow the tails, unless they miss the joints of nearly all bones",
            ),
            ("TAILS", "Tails", "From head to tail, as the armature shows them"),
            (
                "JOINTS",
                "Joints",
                "From joint to joint, to all children. Bones without children end at the skin "
                "beyond their joint",
            ),
        ),
        advanced=True,
    )
    deformer: str = setting(
        "SOLVER",
        "deformer",
        "Optimize For",
        "How the weights will be blended",
        choices=(
            ("LINEAR", "Linear", "The Armature modifier by default, and game engines"),
            (
                "DUAL_QUATERNIONS",
                "Preserve Volume",
                "The Armature modifier with Preserve Volume (dual quaternions). This "
                "takes longer and does not support bendy bones",
            ),
        ),
        advanced=True,
    )
    min_gain: float = setting(
        "SOLVER",
        "min_gain",
        "Crispness",
        "Bones that improve a vertex by less than this fraction are dropped from it. "
        "Higher values give fewer influences, and bends become narrower, with sharper borders and "
        "more stretch at the joints",
        soft_max=0.05,
        decimals=4,
        advanced=True,
    )
    edge_power: float = setting(
        "COMMON",
        "edge_power",
        "Edge Power",
        "How much more short edges count than long ones. 3 gives about the same weights for any "
        "tessellation, 0 gives the edge weights of the 2018 paper",
        paper=True,
    )
    expansion_rounds: int = setting(
        "SOLVER",
        "expansion_rounds",
        "Widenings",
        "Number of rounds in which vertices adopt the bones of their neighbors and drop "
        "those that help least. 0 uses only the bones of the initial weights",
        advanced=True,
    )
    iterations: int = setting(
        "SOLVER",
        "iterations",
        "Iterations",
        "Maximum number of iterations in the last stage of the optimization, which stops when "
        "the error no longer falls",
        max=10000,
        soft_max=100,
        advanced=True,
    )
    prune_sum: float = setting(
        "PRUNING",
        "prune_sum",
        "Kept Sum",
        "Fraction of a vertex's initial weights that the bones considered for it must "
        "cover. Lower values are faster, but consider fewer bones and deform worse",
        min=0.5,
        paper=True,
    )
    prune_ratio: float = setting(
        "PRUNING",
        "prune_ratio",
        "Minimum Share",
        "Bones with less than this fraction of a vertex's largest initial weight are "
        "not considered for it",
        max=0.5,
        paper=True,
    )
    paper_constraints: bool = option(
        False,
        "Constraints of the 2018 Paper",
        "Each bone alone moves the vertices where it is strongest, its weights vanish at the "
        "border of its region, and negative weights are pulled to zero, as in the 2018 paper",
        paper=True,
    )

    def solver_arguments(self) -> dict[str, Any]:
        """Keyword arguments for araplbs.Solver. Joint limits, animation and symmetry are data and
        therefore not included."""
        searches_rigid = self.rigid_parts == "DETECTED" and self.volume == "NONE"
        return {
            **self.engine_arguments("Solver"),
            "attach": self.paper_constraints,
            "neumann": self.paper_constraints,
            "positivity": "penalty" if self.paper_constraints else "clip",
            # Bone springs are off; attach rows also hold vertices.
            "peak_stiffness": 0.0 if self.paper_constraints else 0.01,
            "pruning": (1, self.prune_sum, self.prune_ratio),
            **({} if searches_rigid else {"rigid_departure": 0.0}),
        }
