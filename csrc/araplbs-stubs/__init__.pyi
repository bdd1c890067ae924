"""Skinning weights that make the posed mesh as rigid as possible.

Conventions: arrays are NumPy's; n vertices, f triangles, t tets, m bones, p poses. Coordinates and
transforms share one space and unit (the add-on uses the armature's). A pose gives every bone
the affine map from rest to posed as rows [R | t]. Energies are relative: the mean squared
error of posed edges over that of rest edges (docs/energy.md 3), so its root reads as a percentage.

Bones are "rigid", "stb" (stretchable-twistable bones, Jacobson & Sorkine 2011), "spine" (Thiery &
Eisemann 2018, section 1.2) or "bendy" (Blender's bendy bones). A spine is cut into infinitely many
small bones that all turn alike, so that it bends by an angle about an axis from head to tail, and
is stretched; an STB is a spine that turns about itself. Their `bends` (p, m, 4) are, for each pose
and bone, a rotation vector (axis times angle in radians, in rest orientation) and a stretch above
0; (0, 0, 0, 1) for rigid bones. The pose of a spine is that of its head: with u(v) in [0, 1], the
place of a point along the bone, v goes to T (R(u) v + t(u)), Eq. 2 to 4 of the paper but for a sign
wrong there. A bendy bone of S segments has S + 1 joints, and v is moved by the two next to it,
(1 - s) M_j + s M_j+1 with j + s = S u(v): with any transforms M that are given (`segment_poses`),
or with those that a spine with its `bends` has at j / S, where it is stretched scaled along the
bone as well.

Wrong input raises ValueError (a value; the message names it) or TypeError (a type or dtype);
a solve that cannot be done raises SolverError.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str
simd: str
"""Instruction set of the local step on this machine: "avx512", "avx2" or "portable"."""

Floats: TypeAlias = NDArray[np.float64]
InitialWeights: TypeAlias = Literal["heat", "nearest", "boneglow", "bbw", "biharmonic"]
BoneKind: TypeAlias = Literal["rigid", "stb", "spine", "bendy"]
Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], Floats]
"""Sparse (n, m) rows: (start (n + 1,), bones, weights), as in scipy.sparse.csr_matrix."""

SETTINGS: Mapping[Literal["Solver", "JointSolver"], Mapping[str, Mapping[str, Any]]]
"""All settings of the types, read-only: {name: {"type", "default", "min", "max", "choices",
"about"}}, None where there is no such thing; those of the tuple `support` are tuples, too."""

class SolverError(ArithmeticError):
    """The weights could not be solved for."""

class Cancelled(Exception):
    """The progress function asked to stop."""

@final
class Solver:
    """The skinning weights of one mesh and skeleton.

    Creating a solver checks the input, welds coincident vertices, links loose parts, and computes
    the initial weights (heat, or yours). `solve()` then does the rest; or call `iterate()` and
    read `weights` whenever you like until `done`.

    The GIL is released while it works. Solvers in different threads do not interfere. The same
    input, seed and number of threads give bit-identical results.
    """

    def __init__(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike | None,
        bone_heads: ArrayLike,
        bone_tails: ArrayLike,
        bone_parents: ArrayLike,
        *,
        edges: ArrayLike | None = None,
        tets: ArrayLike | None = None,
        bone_roll_axes: ArrayLike | None = None,
        bone_deform: ArrayLike | None = None,
        bone_limits: ArrayLike | None = None,
        bone_kinds: Sequence[BoneKind] | None = None,
        bone_ranges: ArrayLike | None = None,
        bone_segments: ArrayLike | None = None,
        bone_stretch: ArrayLike | None = None,
        poses: ArrayLike | None = None,
        pose_weights: ArrayLike | None = None,
        bends: ArrayLike | None = None,
        segment_poses: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        start_from_weights: bool = False,
        locked_vertices: ArrayLike | None = None,
        locked_bones: ArrayLike | None = None,
        vertex_sets: ArrayLike | None = None,
        constraints: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        influences: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        smoothed: tuple[ArrayLike, ArrayLike] | None = None,
        released: tuple[ArrayLike, ArrayLike] | None = None,
        rigid_parts: ArrayLike | None = None,
        symmetry: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        progress: Callable[[str, float], bool | None] | None = None,
        threads: int = 0,
        precision: Literal["single", "double"] = "single",
        pose_count: int = 80,
        seed: int = 0,
        swing: float = ...,
        twist: float = ...,
        reach_poses: float = 0.0,
        max_influences: int = 4,
        widenings: int = 2,
        rigid_influences: int = 1,
        rigid_loss: float = 0.0,
        least_weight: float = 0.001,
        iterations: int = 30,
        tolerance: float = 0.002,
        acceleration: int = 5,
        coarsen: int = 1000,
        coarsen_given: bool = False,
        rotation_clusters: float = 0.0,
        heat_floor: float = 1e-6,
        support: tuple[int, float, float] = (1, 0.999, 0.001),
        link_parts: bool = True,
        peak_stiffness: float = 0.01,
        attach: bool = False,
        neumann: bool = False,
        positivity: Literal["clip", "penalty", "none"] = "clip",
        filter: Literal["none", "all", "extrema"] = "none",
        constraint_strength: float = 100.0,
        harmonic: float = 0.0,
        damping: float = 1e-6,
        initial: InitialWeights = "heat",
        deformer: Literal["linear", "dual_quaternions"] = "linear",
        edge_power: float = 3.0,
        truss: float = 12.0,
        least_worth: float = 4e-3,
        displace_components: bool = True,
    ) -> None:
        """
        Geometry
          vertices (n, 3), triangles (f, 3); edges (e, 2): edges of no face, loose or drawn.
          tets (t, 4): a volume, corners in either order; its surface is found and need not be
          given. Triangles that are no face of a tet count as sheets as thick as the volume over its
          surface. Flat tets add nothing.
        Skeleton
          bone_heads, bone_tails (m, 3); bone_parents (m,), -1 for roots; bone_roll_axes (m, 3),
          local Z; bone_deform (m,): bones that do not deform only link others (default: all do);
          bone_limits (m, 3, 2): rotation limits in radians about local X, Y (the bone) and Z,
          NaN for none; they replace `swing` and `twist` in the sampled poses.
          bone_kinds (m,): default all "rigid"; bones that do not deform are rigid.
          bone_ranges (m, 4, 2): what the sampled poses vary, from lower to upper, NaN for the
          usual range: roll about an axis across the bone (radians; 0 to `swing`) and twist of the
          bone as a whole (`twist` to both sides), unless limits say otherwise; bend of one that is
          not rigid from head to tail (`swing` to both sides; about the bone, or about an axis
          uniform on the sphere), and its stretch (1, no other). Lower above upper, one of them not
          finite, and stretches that are not above 0 are errors.
          bone_segments (m,): of the bendy bones, from 1 to 1000; not looked at for others.
          bone_stretch (m,): rigid or bendy bones that are meant to stretch (not looked at for STBs
          and spines, which always are): where given poses scale them, or their bends stretch them,
          edges are as long as desired, not as at rest (section 4.1); the energy may rise in some
          iterations, and rotation_clusters is as if 0. A one-ring that an STB or spine moves goes
          by the paper's stretch along the axes of its covariance, others by their exact one, so
          that the energy jumps where a spine comes in.
        Poses
          pose_count random ones (paper section 3.3) from `seed`: each bone swings by at most
          `swing` radians (default 60 degrees) and twists by at most `twist` (10 degrees). In the
          share `reach_poses` of them, the last ones, limbs reach: the ends of chains of bones go to
          targets spread over the places that they can reach, joints bending to the side that they
          are bent to at rest by up to 1.5 `swing` within limits and ranges, and bones of no chain
          swing less;
          poses (p, m, 3, 4) or (p, m, 4, 4): further ones, such as frames of an animation, with
          bends (p, m, 4) of what is not rigid, default none, or segment_poses (p, j, 3, 4) or
          (p, j, 4, 4), the transforms of the joints of all bendy bones that deform, one bone after
          the other, in place of their poses and bends; a rigid bone with a bend, an STB
          that turns about another axis than its own and a stretch that is not above 0 are errors.
          pose_weights (p,): how often each of `poses` counts, 0 or from 1e-6 to 1e6 (default: 1, as
          each random one does): a pose of weight 2 is the pose given twice.
          parameters (n, m): u of every vertex for each bone that is not rigid, from 0 to 1, NaN for
          the place along the bone (default everywhere); those of rigid bones are not looked at.
          displace_components: random poses turn the roots of a disconnected skeleton each about its
          own head, which tears the mesh between them; its components then move as a whole, in each
          of these poses, to where the energy is least (paper section 7, Figure 12), again before
          every stage. Bones with a common ancestor, deforming or not, are one component, and roots
          with their heads at one place. Not with STBs, spines or stretchable bones.
          With STBs and spines the transforms of one-rings are as rigid as desired (section 4.1) in
          place of rotations, so the energy may rise in some iterations; vertices next to them take
          about a microsecond per pose and iteration, and the memory 24 bytes per vertex, pose and
          STB or spine, and as much again for the posed mesh. Then `coarsen` and
          `rotation_clusters` are as if 0.
        Given weights
          weights: (n, m), or rows (start, bones, weights). locked_vertices (n,) and locked_bones
          (m,) keep theirs exactly; everything else shares what they leave. Several meshes with
          locks of their own: locked_bones (s, m) and vertex_sets (n,), the row of each vertex.
          Of welded vertices, what is locked for one is locked for all.
          With start_from_weights the weights are also the start, and their pattern (explicit
          zeros of rows included) the first influence maps, instead of heat weights; these are what
          vertices without any weight start from.
        Edits (paper section 5); `edit()` replaces them later
          constraints: soft w(vertex, bone) = target, as (vertices, bones, targets); idle where
          the bone is not in the influence map of the vertex.
          influences: (vertices, bones, allowed): True adds the bone to the influence map, from
          where it gets weight if that lowers the energy; False keeps it out for good. Where both
          are said, False counts.
          smoothed: (vertices, strengths), 0 to 1: where the cotangent Laplacian of all weights
          shall be 0 (paper section 6), each the mean of its neighbors': about half of it is left
          with 0.1, little with 1. Vertices of wires alone have no Laplacian.
          released: (vertices, bones): their spokes, peak and attach rows do not count.
          rigid_parts: (n,) a number of 0 or more for the vertices of a part, -1 for none. All
          vertices of a part have the same weights, bit for bit, in every result: those of one
          bone, the one that the energy is least with, or a blend of rigid_influences bones at most
          (0: of max_influences). Parts that share a welded vertex are one. What is edited for one
          vertex is edited for its part. Locked vertices are of no part, nor are those with other
          locked weights than the first of it. A part across a mirror plane with rigid_influences 1
          is solved freely.
          Of a symmetric character both sides get what is given for one.
        Symmetry
          symmetry = (bone partners (m,), a point (3,) and the normal (3,) of a plane): the weights
          become the same on both sides, bit for bit. The partner of a bone is that of the other
          side, itself for a bone on the plane, -1 for none; partners must be of one kind, of as
          many segments, and both stretchable or neither. Vertices are paired by position, and
          from there along edges; those without partner, those that a bone without partner or a
          lock is concerned with, and with max_influences 1 those on the plane are solved freely.
          Random poses 2 k and 2 k + 1 are then images of each other (so let their number be
          even); the limits of two partners should be, too.
        progress(stage, fraction of the call): return False to stop; the call then raises
          Cancelled. It must not use the solver.
        threads: 0 for one per processor. precision: of the local step.
        Result
          max_influences per vertex, 0 for no limit; weights below least_weight are dropped.
          widenings: rounds in which every vertex takes in the influences of its neighbors and
          loses those that lower the energy least; 0 keeps the influence maps of the start, or
          what the limit leaves of them. least_worth (0 to 1): in these rounds an influence goes
          that is worth less than this share of the rest energy of its one-ring in all poses; with 0
          only those go whose weight would be negative. One that a spoke ties to its bone stays.
        Energy
          edge_power (0 to 4): edges weigh their share of area times (mean edge / edge)^edge_power.
          With 3 the weights hardly depend on the tessellation, 0 are the paper's edge weights.
          truss (0 to 1e6): strength of the spokes, 0 for none. A spoke is one more edge from a
          vertex to the nearest point on a bone inside, which that bone carries along: it keeps
          limbs on their bones and as thick as they are, while twist and bend stay free. Its weight
          is truss area/3 (mean edge / spoke)^2, less near joints and for small loose parts. The
          bone is the nearest of those that the vertex' part of the mesh surrounds; a part that
          surrounds none hangs on one bone as a whole. Spokes that the weights cannot satisfy
          give way from stage to stage, down to a tenth. Bendy bones carry points where their
          segments take them; with STBs or spines there are no spokes.
        Optimization
          iterations: of the last stage, at most; a stage ends when the energy changes by less
          than the share `tolerance`. acceleration: past iterations that Anderson acceleration
          mixes, at most 20, 0 for plain iterations. coarsen: a mesh of at least so many vertices
          is first solved on a coarser one of about a third, and that likewise, 0 for never; not
          with the paper's constraint rows, and with given start weights only if coarsen_given: it
          is faster, but what these have of detail may go. rotation_clusters: up to 16
          neighbors whose weights differ by at most this share their rotations, 0 for none; it
          saves about half of the local step, and `energies` are then those of shared rotations, up
          to a fifth more than what `energy` tells. heat_floor and support = (least, kept_sum,
          relative) prune the initial weights (paper section 3.2). link_parts ties loose parts to
          what they sit on. peak_stiffness: strength of the
          rows that, where there is no truss, keep every bone at least as influential where it is
          strongest as it was at the start, 0 for none. attach, neumann,
          positivity="penalty" and constraint_strength: the paper's constraint rows (section 4.3);
          "clip" keeps weights >= 0 in every iteration, "none" only in the result. filter: after
          every global step, every weight (or only spurious local extrema) becomes the mean of its
          neighbors'. harmonic: the factor delta of the paper's harmonic term (Eq. 13), with its
          c_i from constraint_strength: smoother weights at the price of energy and half the time
          again; 1e-6 is weak, 1e-3 strong, 0 none. Energies are told without it. damping: pull to
          the initial weights, where the energy does not decide. initial: what fresh weights begin
          as, the methods of `automatic_weights`. attach holds, of a volume, the vertices on bones
          themselves.
          deformer: how the weights will be blended. With "dual_quaternions" (Blender's Preserve
          Volume; rigid bones only) another stage follows the last one, on its influence maps, whose
          energies are those of that blending; so are `energy` and the two in the report.
        """

    def iterate(self, count: int = 1, /) -> float:
        """Iterate up to `count` times, fewer if done; the energy reached."""

    def solve(self) -> float:
        """Iterate until done; the energy reached."""

    def edit(
        self,
        *,
        constraints: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        influences: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        smoothed: tuple[ArrayLike, ArrayLike] | None = None,
        released: tuple[ArrayLike, ArrayLike] | None = None,
        rigid_parts: ArrayLike | None = None,
    ) -> None:
        """Other edits in place of the present ones; the weights go on from where they are.

        The solver is then not done: a short stage with all influences that are allowed comes
        first, then the last stage. Wrong edits raise ValueError or TypeError and change nothing.
        """

    @property
    def constraint_rows(self) -> list[dict[str, Any]]:
        """The rows that hold weights: {vertex, bone, target, kind, released} with the kinds "peak",
        "attach" and "user"; of welded vertices the first. Empty while a coarse mesh is solved."""

    @property
    def spokes(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, NDArray[np.bool_]]:
        """(vertices, bones, held, released), each (k,): what ties vertices (of welded ones the
        first) to bones. held: the share of its strength, from 0.1 to 1, that a spoke has left;
        released: it does not count, since an edit says so. A vertex of a mirror plane can have two.
        Empty while a coarse mesh is solved, and without a truss."""

    @property
    def rigid_parts(self) -> NDArray[np.int32]:
        """(n,) number of the rigid part of each vertex, from 0 on, those given and those found by
        rigid_loss alike; -1: it is of none."""

    @property
    def done(self) -> bool:
        """Nothing is left to do: the last stage has converged or used up its iterations."""

    @property
    def weights(self) -> Floats:
        """(n, m) weights to use: finite, >= 0, rows sum to 1, none below least_weight, at most
        max_influences once the solver is done; locked ones as they came."""

    @property
    def sparse_weights(self) -> Rows:
        """The same as rows; zeros are left out."""

    @property
    def energy(self) -> float:
        """Energy of `weights` over the poses of the solver, links between parts and present spokes
        included; with edge_power=0 and truss=0, but for links, what `araplbs.energy` says."""

    @property
    def energies(self) -> Floats:
        """Energies of the initial weights, then after each change of the influence maps (less one
        local step) and each iteration; those of the coarse mesh until that is solved."""

    @property
    def initial_weights(self) -> Floats:
        """(n, m) weights before any iteration."""

    @property
    def raw_weights(self) -> Floats:
        """(n, m) present weights as the last global step left them."""

    @property
    def report(self) -> dict[str, Any]:
        """What was found and done:

        vertices, welded (vertices merged into others), collapsed_triangles (those that had an
        area and lost it to that), far_vertices (so far off all others that neither they nor their
        faces and edges count, 50 times the size of the mesh and more), coarse_vertices (of the
        coarsest mesh solved, 0: only the mesh itself), parts, linked_parts, links, symmetric_bones
        (deforming ones with a partner), symmetric_vertices (those with symmetric weights),
        unseen_parts (no bone was visible from them: a list of {vertex, size, rigid}; rigid ones
        follow their nearest bone as a whole), bones, deforming_bones, idle_bones (deforming but
        without influence: indices), poses, iterations, stage_starts (entries of `energies`),
        energy_before, energy_after, unknowns, factor_size (non-zeros), peak_rows, attach_rows,
        neumann_rows, positivity_rows, damping, most_influences, mean_influences,
        seconds (per stage of the work).
        """

@final
class JointSolver:
    """The joints of a skeleton where the posed mesh is most rigid (paper section 4.4), and the
    weights that go with them.

    A joint is made of the ends of bones that are at one place and belong together: a head at its
    parent's tail or head, the heads of siblings. These move together and come out equal to the
    bit. The poses keep their local rotations; transforms follow the joints, and what two bones of
    a given pose are apart at their joint they stay apart; what hangs on a spine follows it at the
    place of its own head along it. Parts of the skeleton that hang on nothing are free to move in
    each pose.
    """

    def __init__(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike | None,
        bone_heads: ArrayLike,
        bone_tails: ArrayLike,
        bone_parents: ArrayLike,
        *,
        edges: ArrayLike | None = None,
        bone_roll_axes: ArrayLike | None = None,
        bone_deform: ArrayLike | None = None,
        bone_limits: ArrayLike | None = None,
        bone_kinds: Sequence[BoneKind] | None = None,
        bone_ranges: ArrayLike | None = None,
        poses: ArrayLike | None = None,
        pose_weights: ArrayLike | None = None,
        bends: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        symmetry: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        progress: Callable[[str, float], bool | None] | None = None,
        pinned: ArrayLike | None = None,
        joint_stiffness: ArrayLike = 0.3,
        tangential: ArrayLike = 0.5,
        threads: int = 0,
        pose_count: int = 80,
        seed: int = 0,
        swing: float = ...,
        twist: float = ...,
        reach_poses: float = 0.0,
        max_influences: int = 4,
        link_parts: bool = True,
        method: Literal["alternate", "together"] = "alternate",
        optimize_weights: bool = True,
        anchor: float = 0.0,
        centering: float = 0.0,
        drift: float = 1e-6,
        reach: float = 0.5,
        least_length: float = 0.5,
        iterations: int = 20,
        tolerance: float = 1e-3,
        edge_power: float = 3.0,
        truss: float = 12.0,
        peak_stiffness: float = 0.01,
    ) -> None:
        """
        What a Solver has as well means the same. Bones are rigid, STBs or spines. Of these the two
        ends are joints; bends stay as they are in rest orientation, but STBs turn about themselves
        wherever they point, and vertices without `parameters` take those of the new places.
        weights (n, m) or rows: to begin with, their pattern the influence maps, at once reduced to
        max_influences where they are optimized; without them the stages of a Solver come first, an
        iteration each, and joints do not move until then.
        optimize_weights: False keeps the weights. method: "alternate" takes some steps of the
        joints, then makes the weights' system for the new poses and takes some of the weights;
        "together" takes one of each in turn without another factorization.
        What holds joints
          pinned (m, 2): heads and tails that stay where they are, exactly.
          joint_stiffness, tangential: the paper's eps1 and eps2, numbers or (m, 2) of heads, tails,
          of which the joint has the largest; relative to the stiffness and the bones of the joint
          itself. They make steps shorter, in all directions or along the bones.
          anchor: pull to the places of the start; with 1 about as stiff as the energy itself.
          reach: farthest from there, a share of the mean length of the bones that meet.
          least_length: every bone keeps this share of its length.
          drift: stiffness of the displacements of unconnected parts of the skeleton.
        centering: where the energy of a joint is less stiff than this across its bones, as between
        rigid parts that no edge connects (the paper's Figure 15C), what lacks is made up by a pull
        to the middle of the limb; 0 for none. Joints of limbs have 0.02 to
        0.2, those of fingers from 0.0003 on; 0.001 to 0.01 leaves most of them to the energy.
        symmetry: joints at each other's image, within 1 % of the diagonal, move as images, to the
        bit; those of bones that are their own partners stay on the plane, or are each other's where
        the bone lies across it.
        iterations: at most; done when one changes the energy by less than the share `tolerance`.
        """

    def iterate(self, count: int = 1, /) -> float:
        """Iterate up to `count` times, fewer if done; the energy reached. After Cancelled all is
        as the last accepted step left it, and it can go on."""

    def solve(self) -> float:
        """Iterate until done; the energy reached."""

    @property
    def done(self) -> bool:
        """Nothing is left to do."""

    @property
    def heads(self) -> Floats:
        """(m, 3) present heads."""

    @property
    def tails(self) -> Floats:
        """(m, 3) present tails."""

    @property
    def poses(self) -> Floats:
        """(p, m, 3, 4) the poses for the present joints, sampled ones first."""

    @property
    def bends(self) -> Floats:
        """(p, m, 4) the bends that belong to `poses`."""

    @property
    def weights(self) -> Floats:
        """(n, m) weights to use, as those of a Solver."""

    @property
    def sparse_weights(self) -> Rows:
        """The same as rows; zeros are left out."""

    @property
    def energy(self) -> float:
        """ARAP energy of the present joints and weights."""

    @property
    def energies(self) -> Floats:
        """Energies with anchor and centering: of the start, once there are weights, then after each
        step of joints or weights that was accepted; they never rise."""

    @property
    def report(self) -> dict[str, Any]:
        """What was found and done:

        joints, pinned_joints, symmetric_joints, centered_joints, components (unconnected parts of
        the skeleton), poses, iterations, joint_steps, weight_steps, energy_before, energy_after
        (the first and last of `energies`), most_moved, mean_moved (distances), joint_of_head,
        joint_of_tail (m,), seconds (weights, system, joint steps, weight steps).
        """

def optimize_joints(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    **arguments: Any,
) -> tuple[Floats, Floats, dict[str, Any]]:
    """(heads, tails, report) of a JointSolver with these arguments, run to its end."""

def energy(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    poses: ArrayLike,
    *,
    pose_weights: ArrayLike | None = None,
    bone_heads: ArrayLike | None = None,
    bone_tails: ArrayLike | None = None,
    bone_kinds: Sequence[BoneKind] | None = None,
    bone_segments: ArrayLike | None = None,
    bone_stretch: ArrayLike | None = None,
    bends: ArrayLike | None = None,
    segment_poses: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    weld: bool = True,
    per_vertex: bool = False,
    threads: int = 0,
) -> Any:
    """Relative ARAP energy, the paper's, of any weights (n, m) over poses (p, m, 3, 4) or
    (p, m, 4, 4).

    Rows are normalized; a vertex without weights stays at rest, as in Blender. The energy is the
    mean over the poses, each as often as pose_weights (p,) say. `weld` joins
    coincident vertices (with the weights of the first of them). With per_vertex also the (n,)
    energies of the vertices, each relative to its own one-ring. Bones that are not rigid:
    bone_kinds with bone_heads, bone_tails (m, 3) and the bends or segment_poses; bone_stretch needs
    heads and tails, too; the rest as for a Solver.
    """

def posed_energy(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    posed: ArrayLike,
    *,
    pose_weights: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    weld: bool = True,
    per_vertex: bool = False,
    threads: int = 0,
) -> Any:
    """Relative ARAP energy of points posed (p, n, 3) by whatever means, as `energy` tells it.

    The mean over the poses, each as often as pose_weights (p,) say. `weld` joins coincident
    vertices, of which the first is where they go.
    """

def dual_quaternion_skinning(
    vertices: ArrayLike,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    poses: ArrayLike,
    *,
    bone_axes: ArrayLike | None = None,
    threads: int = 0,
) -> Floats:
    """Where Blender's Armature modifier with Preserve Volume takes vertices, (p, n, 3).

    weights (n, m) or rows, which count in their order, of any sum: where it is 1e-4 or less the
    vertex stays. poses (p, m, 3, 4) or (p, m, 4, 4), of any scale and shear. bone_axes (m, 3, 3):
    local X, Y (head to tail) and Z of each bone at rest as columns, on which the rotation of a
    scaled or sheared bone depends (default: the axes of the space).
    """

def rotation_centers(
    vertices: ArrayLike,
    triangles: ArrayLike,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    *,
    sigma: float = 0.1,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> Floats:
    """Optimized centers of rotation (Le & Hodgins 2016), (n, 3): around which vertices turn that
    `center_of_rotation_skinning` blends, each the mean place of what has similar weights.

    The mean over triangles, by area and by s(w_p, w_v) = sum over pairs of bones j != k of
    w_pj w_pk w_vj w_vk exp(-(w_pj w_vk - w_pk w_vj)^2 / sigma^2), w_v the mean weights of the
    corners. Rows of weights count relative to their sums. NaN where no triangle has two bones in
    common with the vertex, as where one bone alone moves it. Work grows with the square of the
    influences: meant for weights with a limit.
    """

def center_of_rotation_skinning(
    vertices: ArrayLike,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    poses: ArrayLike,
    centers: ArrayLike,
    *,
    bone_axes: ArrayLike | None = None,
    threads: int = 0,
) -> Floats:
    """Where skinning by centers of rotation takes vertices (Le & Hodgins 2016, Algorithm 1),
    (p, n, 3): each turns by the blended quaternion, and its center goes where linear blending takes
    it; the vertex itself where its center is not finite.

    centers (n, 3); weights, poses and bone_axes as for dual_quaternion_skinning. Scale and shear,
    which the method leaves open, are blended linearly in the bones' own rotation.
    """

class _Baked(TypedDict):
    weights: Rows
    transforms: Floats
    centers: Floats
    vertex_error: Floats
    history: Floats
    rms: float
    max: float
    worst: tuple[int, int]
    size: float
    iterations: int

def bake(
    vertices: ArrayLike,
    frames: Sequence[ArrayLike] | NDArray[Any],
    transforms: ArrayLike | None = None,
    *,
    triangles: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    locked_vertices: ArrayLike | None = None,
    locked_bones: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    max_influences: int = 4,
    new_bones: int = 0,
    move_bones: bool = False,
    rigid: bool = True,
    iterations: int = 20,
    tolerance: float = 1e-3,
    smoothness: float = 0.0,
    damping: float = 1e-8,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> _Baked:
    """Weights, and when asked bones, whose linear blending comes nearest to given frames.

    vertices (n, 3) at rest. frames: a sequence of p arrays (n, 3), where the vertices shall be: a
    list, an array (p, n, 3), a numpy.memmap, or any object with len() and [index]. They are read
    one by one, in their order, once for each iteration and round of clustering, once before and
    once after, and 16 are kept: memory does not grow with p but for the transforms.
    transforms (p, m, 3, 4) or (p, m, 4, 4): of the given bones in the frames; None: there are none.

    The weights of a vertex are >= 0, sum to 1, at most max_influences are not 0 (0: 32), and are
    the best there are, but for which bones these are: a search. weights: a start; where the frames
    do not decide they stay, by `damping`. locked_vertices (n,) and locked_bones (m,) keep them.
    candidates (n, m): False where a bone may not move a vertex. smoothness, with triangles or
    edges: how much weights of neighbors are drawn to each other.
    new_bones are placed by clusters of vertices that move alike (Le and Deng 2012) and get
    transforms, as given bones do with move_bones; rigid: these only turn and shift, otherwise they
    are affine. Then weights and transforms take turns; no turn raises the error.

    A dict: weights (start, bones, weights), of the given bones and then the new ones; transforms
    (p, m + new_bones, 3, 4); centers (m + new_bones, 3), where what a bone moves is at rest;
    vertex_error (n,), root mean square distance over the frames; rms and max distance over all,
    in the units of the vertices; worst (frame, vertex); size, the diagonal of the bounding box;
    iterations and history, the rms after each. iterations=0: the errors of given weights, with
    unweighted vertices at rest.
    """

def elastic_poses(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    poses: ArrayLike,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    *,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    bone_deform: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    per_iteration: bool = False,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
    method: Literal["free", "mixed"] = "free",
    hold: float = 0.01,
    drift: float = 10.0,
    slack: float = 0.8,
    inside: float = 0.1,
    bending: float = 0.3,
    iterations: int = 100,
    tolerance: float = 1e-3,
    acceleration: int = 5,
    samples: int = 30,
) -> Floats | tuple[Floats, Floats]:
    """(p, n, 3): where an elastic body comes to rest whose bones move as told: posed points that no
    weights make, a reference for how little strain there could be.

    vertices (n, 3), triangles (f, 3), edges (e, 2) of no face, tets (t, 4) of a solid; bone_heads
    and bone_tails (m, 3) of rigid bones, bone_deform (m,); poses (p, m, 3 or 4, 4) from rest.
    weights (n, m) or rows (start, bones, weights): the start, and which bone holds each vertex;
    without them the nearest. Coincident vertices are welded, loose parts linked.

    Minimized is, by local and global steps: the integral of the squared Surface Strain (and of
    |F - R|^2 in tets) + bending * relative errors of the edges of one-rings that share a rotation
    + inside * that of the line from each vertex to its bone in the same rotation, which keeps
    thickness and volume + hold * squared distances from where the bone takes a vertex, in radii of
    the limb, nothing to speak of at joints + drift * squared Limb Drift, beyond slack times that
    of the start. inside=0: the skin alone, with the least strain.
    It is a local minimum of a problem that is not convex, for these settings: not a proven bound.
    tolerance: a pose is done when its energy falls by less than this share, twice. The energy never
    rises; per_iteration=True gives (posed, energies (iterations + 1, p)). Results do not depend on
    the number of threads.

    method="mixed": automatic skinning by mixed finite elements (Kassahun, Kachkovski, Song and
    Monem, SGI): rotations of few blue-noise `samples`, found by the adjoint method, spread to all
    elements by biharmonic weights; stretches and points by a KKT system whose tie F = R S gives
    way, since in 3D it could not be satisfied. Only `hold`, `samples`, `iterations` (evaluations)
    and `tolerance` count; wires and links do not. At most 5000 vertices.
    """

class _Mixed(TypedDict):
    samples: NDArray[np.int32]
    weights: Floats
    turns: Floats
    rotations: Floats
    stretches: Floats
    points: Floats
    pulls: Floats
    gradient: Floats
    energy: float

def mixed_elasticity(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    poses: ArrayLike,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    *,
    turns: ArrayLike | None = None,
    bone_deform: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    threads: int = 0,
    hold: float = 0.01,
    samples: int = 30,
) -> _Mixed:
    """One evaluation of elastic_poses(method="mixed") in the first of the poses. turns (h, 3): a
    rotation vector for each sample, relative to the mean rotation of the bones at the samples;
    None: those of the bones.

    A dict: samples (h,), vertices; weights (elements, h) with sum 1; turns (h, 3); rotations and
    stretches (elements, 3, 3), triangles that are measured and then tets, of triangles the stretch
    in the first two rows and columns, along edge 0 to 1 and across; points (n, 3); pulls (n,), how
    strongly each vertex is pinned; energy, and its gradient (h, 3) by the turns.
    """

def surface_strain(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    posed: ArrayLike,
    *,
    threads: int = 0,
) -> Floats:
    """(f,) Surface Strain of each triangle where points (n, 3) are posed (n, 3), or root mean
    square over poses (p, n, 3): the root of (s1 - 1)^2 + (s2 - 1)^2 of the two singular values of
    the map that takes the triangle at rest to the posed one in its plane. 0.1 is 10 %; 0 for what
    only moves, and for triangles whose altitude is below 1e-4 of their longest edge, which are left
    out of all measures.
    """

def deformation(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    poses: ArrayLike,
    bone_heads: ArrayLike | None = None,
    bone_tails: ArrayLike | None = None,
    *,
    bone_deform: ArrayLike | None = None,
    bone_kinds: Sequence[BoneKind] | None = None,
    bone_segments: ArrayLike | None = None,
    bends: ArrayLike | None = None,
    segment_poses: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    per_triangle: bool = False,
    per_vertex: bool = False,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> dict[str, Any]:
    """What is seen of weights (n, m) or rows over poses (p, m, 3, 4) or (p, m, 4, 4), blended
    linearly: the `measures` of a Deformation, which says what the arguments are. Bits do not depend
    on the number of threads."""

@final
class Deformation:
    """What is seen of a mesh that deforms, over poses that are added as one likes.

    It knows nothing of the energy that weights minimize. Vertices are not welded.
    """

    def __init__(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike | None,
        bone_heads: ArrayLike | None = None,
        bone_tails: ArrayLike | None = None,
        *,
        bone_deform: ArrayLike | None = None,
        bone_kinds: Sequence[BoneKind] | None = None,
        bone_segments: ArrayLike | None = None,
        threads: int = 0,
    ) -> None:
        """vertices (n, 3), triangles (f, 3) at rest; bone_heads, bone_tails (m, 3), without which
        there are no limbs, and bone_deform (m,): bones that do not deform have none (their weights
        count as they are given). bone_kinds and bone_segments as for a Solver."""

    def skin(
        self,
        weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
        poses: ArrayLike,
        *,
        bends: ArrayLike | None = None,
        segment_poses: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        progress: Callable[[str, float], bool | None] | None = None,
    ) -> None:
        """Add poses (p, m, 3, 4) or (p, m, 4, 4) into which weights (n, m) or rows take the mesh by
        linear blending. Rows are normalized; a vertex without weights stays at rest, as in Blender.
        bends, segment_poses and parameters of bones that are not rigid as for `energy`. progress as
        for a Solver; what raises an exception adds nothing."""

    def add(
        self,
        posed: ArrayLike,
        poses: ArrayLike | None = None,
        *,
        bends: ArrayLike | None = None,
        segment_poses: ArrayLike | None = None,
    ) -> None:
        """Add points posed (p, n, 3) by whatever means. poses (p, m, 3, 4) or (p, m, 4, 4), with
        bends or segment_poses, say where the bones are then: needed where there are limbs."""

    def clear(self) -> None:
        """Forget all poses: for other weights of the same mesh and bones."""

    def measures(self, *, per_triangle: bool = False, per_vertex: bool = False) -> dict[str, Any]:
        """Over all poses added, NaN for what there is not:

        area: Surface Strain, root of the mean squared strain over triangles by area and poses
        (0.1 is 10 %); face: with all triangles alike; p99: 99th percentile over triangles of the
        root mean square over poses, as numpy.percentile has it.
        drift: Limb Drift, mean of bone_drift; worst_drift: the largest; bone_drift (m,): how far
        the center of the limb around the middle of a bone is from where the bone takes it, in radii
        of the limb, root mean square over poses; NaN for bones that no limb encloses; limbs: how
        many there are. A limb are the vertices, 6 at least, nearest to the bone at 0.3 to 0.7 of
        its length, if their center is within half of their mean distance, the radius, from the
        bone and that is at most 1.5 lengths of it.
        volume: Volume Change, mean over poses, as a share of the volume at rest (-0.1 is 10 %
        less), of the closed_parts: parts whose every edge is of two triangles that turn alike.
        poses: how many there were. On request triangle_strain (f,), root mean square over poses,
        and vertex_strain (n,), root of its mean square by area over the triangles of each vertex.
        """

def automatic_weights(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    *,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    bone_deform: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
    method: InitialWeights = "heat",
    max_influences: int = 4,
    least_weight: float = 0.001,
    link_parts: bool = True,
) -> Rows:
    """Weights (n, m) of a mesh and a skeleton by one of the methods of the literature, without
    poses or energy; rows sum to 1, of at most max_influences (0: any number), smaller ones than
    least_weight left out. The mesh is welded and loose parts are linked as a Solver does.

    "heat": bone heat (Baran & Popovic 2007), what the nearest bones give where vertices see them,
    diffused. "nearest": every vertex follows its nearest bone alone, seen or not. "boneglow":
    BoneGlow (Wareham & Lasenby 2008), heat of the light that bones send to the vertices. "bbw":
    bounded biharmonic weights (Jacobson et al. 2011): w' Q w least, Q the bi-Laplacian, w from 0
    to 1, and 1 at the handles of its bone, 0 at those of others. "biharmonic": the same without
    bounds; negative weights are clipped at the end.

    Handles are, of a volume, the vertices on bones; of a surface or wires, the core of the vertices
    nearest to the bone: those at least 0.85 times as far from other bones' vertices, along edges,
    as the farthest of them. Parts that see no bone go by distance alone; those far from all follow
    the nearest. Biharmonic weights take at most 200,000 vertices: ValueError above.
    """

def diffuse_parameters(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    *,
    bone_deform: ArrayLike | None = None,
    bone_kinds: Sequence[BoneKind] | None = None,
    edges: ArrayLike | None = None,
    link_parts: bool = True,
    threads: int = 0,
) -> Floats:
    """(n, m) `parameters` for a Solver that flow along the mesh: u from 0 at the head to 1 at the
    tail, diffused like heat weights from where vertices see the bone, 0 where they see what comes
    before it and 1 (or the place where it hangs on the bone) where they see what hangs on it.

    NaN for bones that do not deform and, with bone_kinds, for rigid ones.
    """

def control_bones(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    *,
    bone_deform: ArrayLike | None = None,
    bone_named: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> NDArray[np.int32]:
    """(m,) why each deforming bone is a control bone that should move no vertex: 1, a root beside
    the body that hangs on it; 2, no skin is around it; 3, another bone already lies
    there; 4, other bones serve the skin around it. 0: it deforms, or does not deform anyway.

    bone_named (m,): the name is one that rigs give to controls, which supports what the place of
    the bone says and never is enough. What it finds does not depend on place, turn and scale. At
    least one deforming bone is always left.

    To leave them out of a Solver, switch their bone_deform off, give them no parent (-1) and what
    hangs on them their nearest ancestor that stays: other bones that do not deform count as parts
    of the bone above them.
    """

@overload
def sample_poses(
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    count: int,
    *,
    bone_roll_axes: ArrayLike | None = None,
    bone_deform: ArrayLike | None = None,
    bone_limits: ArrayLike | None = None,
    bone_kinds: None = None,
    bone_ranges: ArrayLike | None = None,
    bone_segments: ArrayLike | None = None,
    symmetry: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    seed: int = 0,
    swing: float = ...,
    twist: float = ...,
    reach_poses: float = 0.0,
) -> Floats:
    """(count, m, 3, 4) random poses, the ones a Solver with the same arguments uses."""

@overload
def sample_poses(
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    count: int,
    *,
    bone_roll_axes: ArrayLike | None = None,
    bone_deform: ArrayLike | None = None,
    bone_limits: ArrayLike | None = None,
    bone_kinds: Sequence[BoneKind],
    bone_ranges: ArrayLike | None = None,
    bone_segments: ArrayLike | None = None,
    symmetry: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    seed: int = 0,
    swing: float = ...,
    twist: float = ...,
    reach_poses: float = 0.0,
) -> tuple[Floats, Floats]:
    """The same with bone_kinds: the poses, and their bends (count, m, 4). What hangs on an STB or
    spine follows it at the place of its own head along it."""

def forward_kinematics(
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    rotations: ArrayLike,
    bends: ArrayLike | None = None,
    /,
) -> Floats:
    """(p, m, 3, 4) transforms of local rotations (p, m, 3, 3), given in rest orientation; with
    bends (p, m, 4) those that are not (0, 0, 0, 1) carry what hangs on them."""

def inverse_kinematics(
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    effector: int,
    targets: ArrayLike,
    *,
    chain_count: int = 0,
    bone_roll_axes: ArrayLike | None = None,
    bone_limits: ArrayLike | None = None,
    method: Literal["fabrik", "ccd", "jacobian"] = "fabrik",
    tolerance: float = 0.001,
    iterations: int = 100,
    swing: float = ...,
    twist: float = ...,
) -> tuple[Floats, Floats, NDArray[np.int32]]:
    """Poses that bring the tail of the bone `effector` to each of the targets (k, 3), from rest.

    (rotations (k, m, 3, 3), errors (k,), iterations (k,)): local rotations in rest orientation, for
    forward_kinematics; the distance that is left; how many iterations there were. Of a target that
    is not reached, the nearest place that was met.

    chain_count bones turn, from the effector up; 0: all up to its root. Joints stay within
    bone_limits, or else swing by at most `swing` (default 60 degrees) and twist by at most `twist`
    (10 degrees); with pi there are no limits. method: forward and backward reaching (Aristidou &
    Lasenby 2011), cyclic coordinate descent, or damped least squares. tolerance: a share of the
    length of the chain; iterations: at most.
    """

def reach_chains(
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    *,
    bone_deform: ArrayLike | None = None,
) -> list[tuple[NDArray[np.int32], Floats]]:
    """The limbs, necks, tails and fingers that reach in sampled poses: the bones of each from its
    root down, and the place of its effector (3,) at rest."""

def nearest_rotations(matrices: ArrayLike, /) -> Floats:
    """(n, 3, 3) proper rotations nearest to (n, 3, 3) matrices."""

def embed(
    vertices: ArrayLike,
    tets: ArrayLike,
    points: ArrayLike,
    *,
    threads: int = 0,
) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Where (p, 3) points are in the tets (t, 4) of vertices (n, 3).

    (tets (p,), coordinates (p, 4), distances (p,)): the tet that holds each point, or the nearest
    to it; the barycentric coordinates of the point there, >= 0 with sum 1; its distance, 0 inside.
    Weights W of the vertices of tets T are einsum("pk,pkb->pb", coordinates, W[T[tets]])
    at the points.
    """

def linear_skinning(
    vertices: ArrayLike,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    poses: ArrayLike,
    *,
    bone_heads: ArrayLike | None = None,
    bone_tails: ArrayLike | None = None,
    bone_kinds: Sequence[BoneKind] | None = None,
    bone_segments: ArrayLike | None = None,
    bends: ArrayLike | None = None,
    segment_poses: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    threads: int = 0,
) -> Floats:
    """Where weights (n, m) or rows take vertices in poses (p, m, 3, 4) or (p, m, 4, 4) by linear
    blending, (p, n, 3).

    Rows are normalized; a vertex without weights stays at rest, as in Blender. What bones that are
    not rigid need is as for `energy`.
    """

def nearest_points(
    vertices: ArrayLike,
    triangles: ArrayLike,
    points: ArrayLike,
    *,
    owners: ArrayLike | None = None,
    reach: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    threads: int = 0,
) -> tuple[NDArray[np.int32], Floats, Floats, NDArray[np.int32]]:
    """The points of a surface that are nearest to points (k, 3).

    (corners (k, 3), coordinates (k, 3), heights (k,), parts (n,)): the vertices of the triangle,
    -1 where there is none; the barycentric coordinates there; the distance, negative for points
    behind the surface by the normals of its vertices, inf without a triangle; and for all vertices
    the number of their part, what triangles and edges connect. owners (k,): vertices whose parts
    are passed over, -1 for none. reach (k,): how far is looked for each, inf by default. Vertices
    at one place are one, the first of them.
    """

def inspect_weights(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    *,
    edges: ArrayLike | None = None,
    links: ArrayLike | None = None,
    threads: int = 0,
) -> tuple[Floats, Floats, Floats, Floats]:
    """What weights (n, m) or rows look like along a surface: (contrast (n,), roughness (n,),
    straight (e,), along (e,)), the last two for the entries of the rows, of dense weights for
    those that are not 0.

    contrast: half the sum of |w - mean of the neighbors| over bones, 0 for a vertex that is moved
    as they are, 1 for one that other bones move. roughness: the mean contrast of the neighbors, the
    vertex left out of theirs, large where bones meet; 0 where the contrast is below 0.2. straight,
    along: how far the vertex is from the core of the bone, straight and by edges and links (h, 2),
    further ways between vertices. The core is the connected part with most weight of the vertices
    that have half of the bone's largest weight. Both are 0 in the core and for weights below 0.05;
    along is inf beyond 4 times the largest straight distance of the bone. Rows are normalized;
    vertices at one place are one, with the row of the first of them.
    """

def match_surfaces(
    vertices: ArrayLike,
    triangles: ArrayLike,
    target_vertices: ArrayLike,
    target_triangles: ArrayLike | None,
    *,
    target_edges: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
    distance: float = 0.05,
    angle: float = 0.5235987755982988,
    two_sided: bool = False,
    near: float = 0.0,
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Which (k, 3) target vertices match the surface of a source: (matched (k,), distances (k,),
    angles (k,) in radians). See transfer_weights."""

def transfer_weights(
    vertices: ArrayLike,
    triangles: ArrayLike,
    weights: ArrayLike | Rows,
    target_vertices: ArrayLike,
    target_triangles: ArrayLike | None,
    *,
    target_edges: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
    distance: float = 0.05,
    angle: float = 0.5235987755982988,
    two_sided: bool = False,
    near: float = 0.0,
    max_influences: int = 0,
) -> tuple[Rows, NDArray[np.bool_], Floats, Floats]:
    """Weights of a source (n, 3), (f, 3), (n, m) for a target (k, 3), (g, 3) in the same space.

    (rows (k, m), matched (k,), distances (k,), angles (k,)). A target vertex matches if the nearest
    point of the source is no farther than `distance` times the diagonal of the source's bounding
    box, and either their normals differ by at most `angle` (with `two_sided` they may point to
    opposite sides) or it is within `near`, in the same unit; wires have no normal. It takes the
    weights at that point. The others are continued over the target by the bi-Laplacian
    (Abdrashitov et al. 2023); islands of the target in which nothing matches take those of their
    nearest points. Rows sum to 1, of at most `max_influences` (0: any number). ValueError where the
    source has no weights, and where no vertex matches.
    """

def prune(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    weights: ArrayLike,
    least: int,
    kept_sum: float,
    relative: float,
) -> NDArray[np.bool_]:
    """(n, m) mask of the influences that the paper's pruning (section 3.2) keeps."""
