"""Skinning weights that keep the posed mesh as rigid as possible.

Arrays are NumPy arrays. The letters n, f, t, m and p stand for the numbers of vertices, triangles,
tets, bones and poses. Coordinates and transforms share one space and one unit (the add-on uses
those of the armature). For every bone, a pose gives the affine map from the rest position to the
posed position as rows [R | t]. An energy is the mean squared error of posed edges divided by the
mean squared length of rest edges (docs/energy.md 3). The square root of an energy is therefore a
relative error.

Bones are "rigid", "stb" (stretchable-twistable bones, Jacobson & Sorkine 2011), "spine" (Thiery &
Eisemann 2018, section 1.2) or "bendy" (Blender's bendy bones). A spine is the limit of many short
bones that all turn by the same amount. It bends from head to tail by an angle about an axis, and it
also stretches. An STB is a spine that turns about its own axis. The array `bends` (p, m, 4) gives,
for each pose and bone, a rotation vector (axis times angle in radians, in rest orientation) and a
stretch above 0. Rigid bones have (0, 0, 0, 1). The pose of a spine is the pose of its head. A
vertex v at the position u(v) in [0, 1] along the bone moves to T (R(u) v + t(u)), as in Eq. 2 to 4
of the paper with one sign corrected. A bendy bone of S segments has S + 1 joints. The two joints
next to v move it by (1 - s) M_j + s M_j+1, where j + s = S u(v). The transforms M are either given
(`segment_poses`) or evaluated at j / S on a spine with these `bends`. In the second case, a
stretched bone also scales along its axis.

An invalid value raises ValueError with a message that names the argument. A wrong type or dtype
raises TypeError. If the mesh, the bones or the poses are unusable, the ValueError is an InputError.
A failed solve raises SolverError.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str
simd: str
"""Instruction set of the local step on this machine: "avx512", "avx2" or "portable"."""
linear_algebra: str
"""Linear algebra in use: "OpenBLAS" or "plain loops". The plain loops are used if the module's
self-test found that OpenBLAS gives wrong results on this processor (a RuntimeWarning names the
routine). The plain loops are also used if the environment variable ARAPLBS_LINEAR_ALGEBRA is
"plain"."""

Floats: TypeAlias = NDArray[np.float64]
InitialWeights: TypeAlias = Literal["heat", "nearest", "boneglow", "bbw", "biharmonic"]
BoneKind: TypeAlias = Literal["rigid", "stb", "spine", "bendy"]
Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], Floats]
"""Sparse (n, m) rows: (start (n + 1,), bones, weights), as in scipy.sparse.csr_matrix."""

SETTINGS: Mapping[Literal["Solver", "JointSolver"], Mapping[str, Mapping[str, Any]]]
"""All settings of the two types, read-only: {name: {"type", "default", "min", "max", "choices",
"about"}}. Entries that do not apply are None. For the tuple `pruning`, the values are tuples."""

class InputError(ValueError):
    """Indicates that the mesh, the skeleton, the weights or the poses do not form a solvable
    problem. The message is a single sentence that states the reason.

    Raised by all functions and types that take meshes or skeletons. It is a subclass of ValueError.
    """

class SolverError(ArithmeticError):
    """Indicates that solving failed because a system was not positive definite or a number was not
    finite. The message names the step.

    Raised by all functions that factorize. It is a subclass of ArithmeticError.
    """

class Cancelled(Exception):
    """Indicates that the function `progress` returned False. A Solver or JointSolver keeps the
    state after its last complete step and can continue from there.

    Raised by all functions that take `progress`.
    """

@final
class Solver:
    """Skinning weights of one mesh and skeleton.

    Creating a solver checks the input, welds coincident vertices, links loose parts, and computes
    the initial weights (heat weights by default) unless you provide them. `solve()` then optimizes
    the weights. Alternatively, call `iterate()` until `done` is true. You can read `weights` at any
    time.

    The solver releases the GIL while it works. Solvers in different threads do not interfere with
    each other. The same input and seed give bit-identical results for any number of threads.

    Raises InputError if the mesh, the skeleton or the poses cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), SolverError if solving fails, and
    Cancelled if `progress` returns False. Raises RuntimeError if `progress` uses the solver.
    Source: Thiery & Eisemann, ARAPLBS, 2018, sections 3 to 7; for relative errors of edges, springs
    and limits on influences, docs/energy.md 7.
    """

    def __init__(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike | None,
        bone_heads: ArrayLike,
        bone_tails: ArrayLike | None,
        bone_parents: ArrayLike,
        *,
        edges: ArrayLike | None = None,
        tets: ArrayLike | None = None,
        bone_roll_axes: ArrayLike | None = None,
        bone_ways: ArrayLike | None = None,
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
        pose_count: int = 100,
        seed: int = 0,
        swing: float = 1.0471975511965976,
        twist: float = 0.17453292519943295,
        reach_poses: float = 0.0,
        max_influences: int = 4,
        expansion_rounds: int = 2,
        rigid_influences: int = 1,
        rigid_departure: float = 0.3,
        min_weight: float = 0.001,
        iterations: int = 30,
        tolerance: float = 0.002,
        acceleration: int = 5,
        coarsen: int = 1000,
        coarsen_given: bool = False,
        fine_poses: float = 0.6,
        rotation_clusters: float = 0.0,
        heat_floor: float = 1e-06,
        pruning: tuple[int, float, float] = (1, 0.999, 0.001),
        link_parts: bool = True,
        peak_stiffness: float = 0.01,
        attach: bool = False,
        neumann: bool = False,
        positivity: Literal["clip", "penalty", "none"] = "clip",
        filter: Literal["none", "all", "extrema"] = "none",
        constraint_strength: float = 100.0,
        harmonic: float = 0.0,
        damping: float = 1e-06,
        initial: InitialWeights = "heat",
        deformer: Literal["linear", "dual_quaternions"] = "linear",
        edge_power: float = 3.0,
        bone_spring_stiffness: float = 16.0,
        inner_bones: bool = True,
        section: float = 0.25,
        response: float = 0.65,
        min_gain: float = 0.004,
        displace_components: bool = True,
        drop_attachments: bool = False,
        position_clusters: int = 0,
    ) -> None:
        """
        Geometry
          vertices (n, 3), triangles (f, 3); edges (e, 2): wire edges, which belong to no face.
          tets (t, 4): a volume, with the corners in either order. The surface of the volume is
          found automatically and need not be given. Triangles that are not a face of a tet count as
          sheets, whose thickness is the volume divided by its surface area. Flat tets contribute
          nothing.
        Skeleton
          bone_heads, bone_tails (m, 3); bone_parents (m,), -1 for roots; bone_roll_axes (m, 3):
          local Z, NaN for any axis; bone_deform (m,): False for bones that do not deform and only
          connect other bones (default: all bones deform). bone_tails=None: the skeleton consists of
          joints only (see bone_directions), and a root whose joint is outside the mesh then moves
          nothing. bone_ways (m,): True for each bone whose parent extends to its head, regardless
          of the parent's tail. bone_limits (m, 3, 2): rotation limits in radians about local X, Y
          (the bone) and Z, NaN for none. In the sampled poses, these limits replace `swing` and
          `twist`.
          bone_kinds (m,): the kind of each bone, "rigid" by default. Bones that do not deform are
          rigid.
          bone_ranges (m, 4, 2): lower and upper bounds for the sampled poses, NaN for the default
          range. The four ranges are: swing about an axis across the bone (radians; 0 to `swing`);
          twist of the bone as a whole (`twist` to both sides), unless the bone has limits; for
          bones that are not rigid, bend from head to tail (`swing` to both sides; about the bone
          itself, or about an axis drawn uniformly from the sphere); and stretch (only 1). It is an
          error if a lower bound is above the upper bound, if only one of the two bounds is finite,
          or if a stretch is 0 or less.
          bone_segments (m,): number of segments of each bendy bone, 1 to 1000; ignored for other
          bones.
          bone_stretch (m,): rigid or bendy bones that are intended to stretch (ignored for STBs and
          spines, which always stretch). If given poses scale these bones, or their bends stretch
          them, edges may take any length instead of keeping their rest length (section 4.1). The
          energy may then rise in some iterations, and no vertices share rotations. A one-ring moved
          by an STB or spine uses the paper's stretch along the axes of its covariance, while
          other one-rings use the exact stretch. The energy is therefore discontinuous at the border
          of a spine's influence.
        Poses
          pose_count: number of random poses (paper section 3.3), generated from `seed`. Each bone
          swings by at most `swing` radians (default 60 degrees) and twists by at most `twist` (10
          degrees). reach_poses: share of the random poses in which limbs reach for targets (the
          last of the random poses). In these poses, the end of each bone chain moves to targets
          spread over the reach of the chain. Joints bend in the direction of their bend at rest, by
          up to 1.5 times `swing` within limits and ranges. Bones outside chains swing less.
          poses (p, m, 3, 4) or (p, m, 4, 4): additional poses, such as frames of an animation. The
          poses can be accompanied by the bends (p, m, 4) of the bones that are not rigid (default:
          no bends), or by segment_poses (p, j, 3, 4) or (p, j, 4, 4). The latter are the transforms
          of the joints of all deforming bendy bones, one bone after the other, and replace the
          poses and bends of these bones. It is an error if a rigid bone has a bend, if an STB turns
          about an axis other than its own, or if a stretch is 0 or less.
          pose_weights (p,): weight of each of `poses`, 0 or from 1e-6 to 1e6 (default: 1, the
          weight of each random pose). A pose of weight 2 counts like the same pose given twice.
          parameters (n, m): u of every vertex for each bone that is not rigid, from 0 to 1. NaN
          (the default) stands for the position of the vertex along the bone. The argument is
          ignored for rigid bones.
          displace_components: random poses turn each root of a disconnected skeleton about its own
          head, which tears the mesh between the roots. In each of these poses, the solver therefore
          moves every component of the skeleton as a whole to the position at which the energy is
          lowest (paper section 7, Figure 12). The solver repeats this step before every stage.
          Bones with a common ancestor, deforming or not, form one component, and so do roots whose
          heads coincide. The setting has no effect with STBs, spines or stretchable bones.
          With STBs and spines, the transforms of one-rings are as rigid as desired (section 4.1)
          instead of rotations, so the energy may rise in some iterations. Each vertex near these
          bones takes about a microsecond per pose and iteration. Memory grows by 24 bytes per
          vertex, pose and STB or spine, and by the same amount again for the posed mesh. With such
          bones, `coarsen` and both settings of clusters are treated as 0.
        Given weights
          weights: (n, m), or rows (start, bones, weights). Locked vertices (locked_vertices (n,))
          and locked bones (locked_bones (m,)) keep their weights exactly, and the other bones share
          the remainder. For several meshes with separate locks, pass locked_bones (s, m) and
          vertex_sets (n,), which gives the row of each vertex. A lock on one of several welded
          vertices locks all of them.
          With start_from_weights, the solver also starts from these weights instead of heat
          weights. The pattern of the starting weights, including explicit zeros in rows, determines
          the first influence patterns. Vertices without any weight still start from heat weights.
        Edits (paper section 5), which `edit()` can replace later
          constraints: soft constraints w(vertex, bone) = target, as (vertices, bones, targets). A
          constraint has no effect while the bone is not in the influence map of the vertex.
          influences: (vertices, bones, allowed). True adds the bone to the influence map of the
          vertex, and the bone gains weight if this lowers the energy. False excludes the bone
          permanently. If a pair is given with both values, False takes precedence.
          smoothed: (vertices, strengths), 0 to 1: vertices where the cotangent Laplacian of all
          weights is pulled toward 0 (paper section 6), so that each weight approaches the mean of
          the neighbors' weights. A strength of 0.1 leaves about half of the Laplacian, and a
          strength of 1 leaves very little. Vertices that have only wire edges have no Laplacian.
          released: (vertices, bones): pairs whose springs and whose peak and attach rows are
          ignored.
          rigid_parts: (n,) part number of each vertex, 0 or more, -1 for vertices of no part. In
          every result, all vertices of a part have bit-identical weights. The weights are those of
          the single bone that minimizes the energy, or a blend of at most rigid_influences bones
          (0: of max_influences). Parts that share a welded vertex are merged. An edit of one vertex
          applies to its whole part. Locked vertices belong to no part, nor do vertices whose locked
          weights differ from those of the part's first vertex. If rigid_influences is 1, a part
          across the mirror plane is solved without symmetry.
          On a symmetric character, edits of one side apply to both.
        Symmetry
          symmetry = (bone partners (m,), a point (3,) and the normal (3,) of a plane): the weights
          of both sides become bit-identical. The partner of a bone is its counterpart on the other
          side, the bone itself if it lies on the plane, or -1 for none. Partners must be of the
          same kind and have the same number of segments, and either both or neither must be
          stretchable. Vertices are paired by position, and from there along edges. A vertex is
          solved without symmetry if it has no partner, is influenced by an unpaired bone, is
          affected by a lock or, if max_influences is 1, lies on the plane. The random poses 2 k and
          2 k + 1 are then mirror images of each other, so pose_count should be even. The limits of
          two partners should also be mirror images.
        progress(stage, fraction of the call): callback that can return False to stop the call,
        which then raises Cancelled. The callback must not use the solver.
        threads: number of threads; 0 uses the number in ARAPLBS_THREADS or OMP_NUM_THREADS, or one
        thread per processor if neither is set.
        precision: floating-point precision of the local step and the factor.
        Result
          max_influences: maximum number of influences per vertex, 0 for no limit. Weights below
          min_weight are dropped.
          expansion_rounds: rounds in which every vertex adopts the influences of its neighbors and
          loses the influences that lower the energy least. 0 keeps the initial influence patterns,
          reduced to the limit. inner_bones: a bone in the middle of a loose part that a larger part
          surrounds, such as an eye or a wheel, moves only this loose part, and no other bone moves
          it. Influences that edits allow take precedence. response (0 to 1): the lower limit,
          relative to the initial weights, on the total weight of every bone and on the movement of
          the bone's own skin when the bone turns. Bones below this limit, and their mirror images,
          are held. Rows then pull their own skin toward its initial weights, and another stage
          follows.
          Locked weights, constraints and other edits take precedence. With 0, no bone is held.
          min_gain (0 to 1): in the expansion rounds, an influence is dropped if its gain is less
          than this share of the rest energy of the vertex's one-ring in all poses. With 0, an
          influence is dropped only if its weight would be negative. The influence of a bone to
          which a spring ties the vertex is kept.
        Energy
          edge_power (0 to 4): edges are weighted by their share of area times (mean edge /
          edge)^edge_power. With 3, the resulting skinning weights hardly depend on the
          tessellation. With 0, the edge weights are those of the paper.
          bone_spring_stiffness (0 to 1e6): stiffness of the springs inside the mesh, 0 for none. A
          bone spring is an additional edge in the energy, from a vertex to the nearest point on a
          bone inside the mesh. The bone carries this point along. The spring keeps limbs centered
          on their bones and preserves their thickness, but leaves twist and bend free. The weight
          of the spring is bone_spring_stiffness/2 area (mean edge / spring)^2. In this formula, a
          spring shorter than the limb's radius counts as having the length of this radius. The
          weight is lower near joints, for small loose parts and for flat sheets. The spring's bone
          is the nearest one surrounded by the vertex's part of the mesh. A part that surrounds no
          bone is tied to one bone as a whole. Springs that the weights cannot satisfy are weakened
          from stage to stage, down to a tenth. On bendy bones, the points move with the segments of
          the bone. With STBs or spines there are no springs.
          section (0 to 1e6): strength of one additional spring for each limb, as a share of the
          total strength of the springs around the middle of the limb's bone. The additional spring
          connects the mean of the skin around this middle with the position to which the bone moves
          the mean. This spring is never weakened. The spring is off if this value is 0, or if the
          skeleton has bones that are not rigid.
        Optimization
          iterations: maximum number of iterations in the last stage. A stage ends when the relative
          change of the energy is below `tolerance`. acceleration: number of past iterations that
          Anderson acceleration mixes, at most 20, 0 for plain iterations. coarsen: a mesh of at
          least this many vertices is first solved on a coarser mesh with about a third of the
          vertices, recursively; 0 for never. The setting has no effect with the paper's constraint
          rows. With given starting weights, it takes effect only if coarsen_given is set, which is
          faster but may lose some detail of the weights. fine_poses: share of the random poses used
          on meshes finer than the coarsest, unless components move. If `poses` are also given, each
          of the remaining random poses gets a correspondingly higher weight.
          rotation_clusters: up to 16 neighbors whose weights differ by at most this value share
          their rotations, 0 for none. Sharing rotations saves about half of the time of the local
          step. `energies` are then those of shared rotations, up to a fifth higher than the values
          that `energy` returns. position_clusters, as in the paper: the number of clusters of
          vertices that are close to each other, found by k-means++ with numbers from `seed`. They
          replace those of rotation_clusters; 0 for none. heat_floor and
          pruning = (min_influences, prune_sum, prune_ratio) prune the initial weights (paper
          section 3.2). link_parts ties loose parts to the surface on which they lie.
          peak_stiffness: without bone springs, strength of the rows that keep every bone at least
          as influential at its strongest vertex as at the start, 0 for none. attach, neumann,
          positivity="penalty" and constraint_strength control the paper's constraint rows (section
          4.3). drop_attachments: after every iteration, drop the attach rows at vertices whose
          neighbors give the bone a mean weight of at most 0.5 (Figure 15 A). Of every bone, the row
          with the largest such mean stays. positivity="clip" keeps weights >= 0 in every iteration,
          and "none" only in the result.
          filter: after every global step, every weight (or only spurious local extrema) is replaced
          by the mean of the neighbors' weights. harmonic: the factor delta of the paper's harmonic
          term (Eq. 13), with its c_i from constraint_strength. The term makes the weights smoother,
          but increases the energy and takes 1.5 times as long. A value of 1e-6 is weak, 1e-3 is
          strong, and 0 means no term.
          Reported energies do not include this term. damping: strength of the pull toward the
          initial weights where the energy does not determine the weights. initial: the method for
          the initial weights, one of the methods of `baseline_weights`. On a volume, attach holds
          the vertices that lie on bones.
          deformer: the deformer that will blend the weights. With "dual_quaternions" (Blender's
          Preserve Volume; rigid bones only), another stage follows with the same influence
          patterns. The energies of this stage are those of dual quaternion blending, and so are
          `energy` and the two energies in the report.
        """

    def iterate(self, count: int = 1, /) -> float:
        """Run up to `count` iterations, fewer if the solver is done earlier, and return the
        energy."""

    def solve(self) -> float:
        """Iterate until done and return the energy."""

    def edit(
        self,
        *,
        constraints: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        influences: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        smoothed: tuple[ArrayLike, ArrayLike] | None = None,
        released: tuple[ArrayLike, ArrayLike] | None = None,
        rigid_parts: ArrayLike | None = None,
    ) -> None:
        """Replace the current edits. The optimization continues from the current weights.

        The solver is then no longer done: it first runs a short stage with all allowed influences,
        and then the last stage. Invalid edits raise ValueError or TypeError and change nothing.
        """

    @property
    def constraint_rows(self) -> list[dict[str, Any]]:
        """Rows that hold weights: {vertex, bone, target, kind, released} with the kinds "peak",
        "attach" and "user". Welded vertices appear under the number of the first one. The list is
        empty while a coarse mesh is being solved."""

    @property
    def bone_springs(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, NDArray[np.bool_]]:
        """(vertices, bones, held, released), each (k,): the springs that tie vertices (the first
        one of welded vertices) to bones. held: the remaining share of a spring's strength, from 0.1
        to 1. released: whether an edit has switched the spring off. A vertex on the mirror plane
        can have two springs. The arrays are empty without bone springs and while a coarse mesh is
        being solved."""

    @property
    def rigid_parts(self) -> NDArray[np.int32]:
        """(n,) rigid part of each vertex, numbered from 0, including both given parts and those
        found by rigid_departure; -1 for vertices of no part."""

    @property
    def done(self) -> bool:
        """True once the last stage has converged or reached its maximum number of iterations."""

    @property
    def weights(self) -> Floats:
        """(n, m) final weights, ready to use: finite, >= 0, rows sum to 1, none below min_weight,
        at most max_influences per vertex once the solver is done. Locked weights are unchanged."""

    @property
    def sparse_weights(self) -> Rows:
        """`weights` as sparse rows without zeros."""

    @property
    def responses(self) -> Floats:
        """(m,) movement of each bone's own skin under `weights` when the bone and its children
        turn, relative to the movement under `initial_weights`. The value is NaN for bones that do
        not deform or have no own skin. The own skin consists of the vertices where the initial
        weight of the bone exceeds a half. If there are no such vertices, the own skin consists of
        the vertices where the weight exceeds half of the bone's largest initial weight, provided
        that this largest weight exceeds 0.05."""

    @property
    def shares(self) -> Floats:
        """(m,) area-weighted total weight of each bone over the whole surface, relative to
        `initial_weights`; NaN for the same bones as in `responses`."""

    @property
    def energy(self) -> float:
        """Energy of `weights` over the poses of the solver, including links between parts and
        current springs. With edge_power=0, bone_spring_stiffness=0 and no links, it equals
        `araplbs.energy`. The energy is computed on demand, which takes as long as an iteration."""

    @property
    def energies(self) -> Floats:
        """Energies: first that of the initial weights, then one after each change of the influence
        patterns (less one local step) and one after each iteration. While the coarse mesh is being
        solved, they are the energies on that mesh."""

    @property
    def initial_weights(self) -> Floats:
        """(n, m) weights before the first iteration."""

    @property
    def sparse_initial_weights(self) -> Rows:
        """`initial_weights` as sparse rows."""

    @property
    def raw_weights(self) -> Floats:
        """(n, m) current weights after the last global step."""

    @property
    def report(self) -> dict[str, Any]:
        """A report of the findings and the work:

        vertices: number of vertices of the given mesh.
        welded: vertices merged into others.
        collapsed_triangles: triangles that lost their area to welding.
        far_vertices: vertices at least 50 times the size of the mesh away from all others, or stray
          vertices at least twice its size away; they and their faces and edges are ignored.
        coarse_vertices: vertices of the coarsest mesh solved; 0 if only the mesh itself was.
        parts: parts of the mesh, each connected by faces and wires.
        linked_parts: parts that are linked to others.
        rigid_parts: current rigid parts, requested or found.
        found_rigid_parts: rigid parts found by the search.
        links: links between parts.
        layer_links: links between parts that lie on each other, such as clothes.
        symmetric_bones: deforming bones with a partner.
        symmetric_vertices: vertices with symmetric weights.
        unseen_parts: parts from which no bone is visible: a list of {vertex, size, rigid}; rigid
          ones follow their nearest bone as a whole.
        bones: bones of the given skeleton.
        deforming_bones: bones that deform.
        poses: random and given poses.
        iterations: iterations so far.
        stage_starts: indices in `energies` right after each change of the influence patterns.
        energy_before: the first of `energies`, each vertex with its own rotations.
        energy_after: the last of `energies`.
        section_energy: part of energy_after in the springs of `section`.
        unknowns: unknowns of the current system.
        factor_size: non-zeros of the factor of the system.
        factor_bytes: memory of the factor, in single or double precision.
        factor_flops: multiplications and additions of a factorization.
        peak_rows: rows that keep each bone at its strongest vertex.
        attach_rows: rows that let a bone alone move its strongest vertices.
        neumann_rows: rows that pull weights to zero at the border of a bone's region.
        positivity_rows: rows that keep weights at zero.
        damping: damping of the factorization, at least that of the settings.
        most_influences: largest number of influences of a vertex.
        mean_influences: mean number of influences of the vertices.
        idle_bones: indices of deforming bones without influence.
        held_bones: indices of bones that rows keep on their own skin.
        held_cost: approximate share of the energy that held_bones cost.
        deaf_bones: indices of bones whose own skin follows by less than half of `response`.
        skinless_bones: indices of deforming bones without own skin.
        inner_bones: indices of bones that move only the part around them.
        seconds: {stage: seconds of work}.
        shared_seconds: seconds of work that more threads could share, with threads=1.
        saved_seconds: approximate number of seconds that 2, 4 and 16 processors would save, with
          threads=1: a list, estimated from chunks and longest paths.
        """

@final
class JointSolver:
    """Joint positions that keep the posed mesh as rigid as possible (paper section 4.4), and the
    weights for these joints.

    A joint consists of coincident bone ends that belong together: a head at its parent's tail or
    head, or the heads of siblings. These ends move together and remain bit-identical. The poses
    keep their local rotations, and the transforms follow the joints. If the bones at a joint are
    apart in one of the given poses, the gap between them is preserved. The children of a spine
    follow the spine at the positions of their heads along it. Unconnected parts of the skeleton are
    free to move in each pose.

    Raises InputError if the mesh, the skeleton or the poses cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), SolverError if solving fails, and
    Cancelled if `progress` returns False. Raises RuntimeError if `progress` uses the solver.
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 4.4.
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
        pose_count: int = 100,
        seed: int = 0,
        swing: float = 1.0471975511965976,
        twist: float = 0.17453292519943295,
        reach_poses: float = 0.0,
        max_influences: int = 4,
        link_parts: bool = True,
        method: Literal["alternate", "together"] = "alternate",
        optimize_weights: bool = True,
        anchor: float = 0.0,
        centering: float = 0.0,
        component_stiffness: float = 1e-06,
        max_shift: float = 0.5,
        min_length: float = 0.5,
        iterations: int = 20,
        tolerance: float = 0.001,
        edge_power: float = 3.0,
        bone_spring_stiffness: float = 16.0,
        peak_stiffness: float = 0.01,
    ) -> None:
        """
        Arguments shared with Solver have the same meaning here. Bones are rigid, STBs or spines.
        Both ends of an STB or spine are joints. The bends of such a bone stay the same in rest
        orientation, except that STBs always turn about their own axis. Vertices without
        `parameters` use their positions along the moved bone.
        weights (n, m) or rows: starting weights. Their pattern determines the influence patterns,
        reduced to max_influences if weights are optimized. Without starting weights, the stages of
        a Solver run first, with one iteration each, before any joint moves.
        optimize_weights: False keeps the weights unchanged. method: "alternate" takes several joint
        steps, then rebuilds the system of the weights for the new poses and takes several weight
        steps. "together" alternates single joint steps and weight steps without another
        factorization.
        Constraints on joints
          pinned (m, 2): heads and tails that keep their exact positions.
          joint_stiffness, tangential: the paper's eps1 and eps2, as numbers or as (m, 2) for heads
          and tails. At each joint, the largest value counts, relative to the stiffness and the
          bones of the joint. joint_stiffness shortens the steps in all directions, and
          tangential shortens them along the bones.
          anchor: strength of the pull toward the initial positions; 1 is about as stiff as the
          energy itself.
          max_shift: maximum distance from the initial positions, as a share of the mean length of
          the bones that meet at the joint. min_length: minimum length of every bone, as a share of
          its initial length.
          component_stiffness: stiffness of the displacements of unconnected parts of the skeleton.
        centering: minimum stiffness across the bones of a joint. If the energy is less stiff than
        this minimum, as between rigid parts that no edge connects (the paper's Figure 15C), a pull
        toward the middle of the limb makes up the difference. 0 turns the pull off. Limb joints
        have a stiffness of 0.02 to 0.2, and finger joints of 0.0003 or more. With values from 0.001
        to 0.01, the energy still determines the positions of most limb and finger joints.
        symmetry: joints that are mirror images of each other within 1 % of the diagonal stay
        bit-identical mirror images. The joints of a bone that is its own partner stay on the plane.
        If the bone crosses the plane, its two ends are mirror images of each other.
        iterations: maximum number of iterations. The iterations end when the relative change of the
        energy in one iteration is below `tolerance`."""

    def iterate(self, count: int = 1, /) -> float:
        """Run up to `count` iterations, fewer if the solver is done earlier, and return the energy.
        After Cancelled, the state is that of the last accepted step, and iterating can continue."""

    def solve(self) -> float:
        """Iterate until done and return the energy."""

    @property
    def done(self) -> bool:
        """True once the iterations have converged or reached their maximum number."""

    @property
    def heads(self) -> Floats:
        """(m, 3) current bone heads."""

    @property
    def tails(self) -> Floats:
        """(m, 3) current bone tails."""

    @property
    def poses(self) -> Floats:
        """(p, m, 3, 4) poses for the current joints, with the sampled ones first."""

    @property
    def bends(self) -> Floats:
        """(p, m, 4) bends of the bones in `poses`."""

    @property
    def weights(self) -> Floats:
        """(n, m) final weights, ready to use, as for a Solver."""

    @property
    def sparse_weights(self) -> Rows:
        """`weights` as sparse rows without zeros."""

    @property
    def energy(self) -> float:
        """ARAP energy of the current joints and weights."""

    @property
    def energies(self) -> Floats:
        """Energies, including the anchor and centering terms: one at the start (once weights exist)
        and one after each accepted step of joints or weights. The energies never increase."""

    @property
    def report(self) -> dict[str, Any]:
        """A report of the findings and the work:

        joints: groups of bone ends that belong together.
        pinned_joints: joints that stay in place.
        symmetric_joints: joints with a partner.
        centered_joints: joints with a centering term.
        components: unconnected parts of the skeleton.
        poses: random and given poses.
        iterations: iterations so far.
        joint_steps: accepted steps of the joints.
        weight_steps: accepted steps of the weights.
        energy_before: the first of `energies`.
        energy_after: the last of `energies`.
        most_moved: the largest distance that a joint has moved.
        mean_moved: the mean of these distances.
        joint_of_head: (m,) joint of each bone's head.
        joint_of_tail: (m,) joint of each bone's tail.
        seconds: {stage: seconds} of weights, system, joint steps and weight steps.
        """

def optimize_joints(
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
    pose_count: int = 100,
    seed: int = 0,
    swing: float = 1.0471975511965976,
    twist: float = 0.17453292519943295,
    reach_poses: float = 0.0,
    max_influences: int = 4,
    link_parts: bool = True,
    method: Literal["alternate", "together"] = "alternate",
    optimize_weights: bool = True,
    anchor: float = 0.0,
    centering: float = 0.0,
    component_stiffness: float = 1e-06,
    max_shift: float = 0.5,
    min_length: float = 0.5,
    iterations: int = 20,
    tolerance: float = 0.001,
    edge_power: float = 3.0,
    bone_spring_stiffness: float = 16.0,
    peak_stiffness: float = 0.01,
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Run a JointSolver with these arguments to completion and return (heads, tails, report): heads
    and tails (m, 3) in the space and unit of the vertices, and the report of the solver, a dict.

    Raises the same exceptions as JointSolver.
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 4.4.
    """

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
    """Return the relative ARAP energy, as in the paper, of weights (n, m) over poses (p, m, 3, 4)
    or (p, m, 4, 4).

    Rows are normalized. A vertex without weights stays at rest, as in Blender. The energy is the
    mean over the poses, each weighted by pose_weights (p,). `weld` joins coincident vertices, which
    take the weights of the first one. per_vertex also returns the (n,) energies of the vertices,
    each relative to its own one-ring. Bones that are not rigid need bone_kinds with bone_heads,
    bone_tails (m, 3) and the bends or segment_poses. bone_stretch also needs heads and tails. The
    other arguments are those of a Solver.

    Raises InputError if the mesh, the weights or the poses cannot be used, and ValueError or
    TypeError for any other invalid argument (the message names it).
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 3, relative to the edges at rest
    (docs/energy.md 3).
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
    """Return the relative ARAP energy of points (p, n, 3) posed by any method, on the scale of
    `energy`.

    The energy is the mean over the poses, each weighted by pose_weights (p,). `weld` joins
    coincident vertices, which take the position of the first one.

    Raises InputError if the mesh or the points cannot be used, and ValueError or TypeError for any
    other invalid argument (the message names it).
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 3, relative to the edges at rest
    (docs/energy.md 3).
    """

def dual_quaternion_skinning(
    vertices: ArrayLike,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    poses: ArrayLike,
    *,
    bone_axes: ArrayLike | None = None,
    threads: int = 0,
) -> Floats:
    """Return the vertices (p, n, 3) as posed by Blender's Armature modifier with Preserve Volume.

    weights (n, m) or rows, blended in the given order. The weights of a vertex can have any sum. If
    the sum is 1e-4 or less, the vertex stays at rest. poses (p, m, 3, 4) or (p, m, 4, 4), with any
    scale and shear.
    bone_axes (m, 3, 3): local X, Y (head to tail) and Z of each bone at rest as columns. The
    rotation of a scaled or sheared bone depends on these axes (default: the coordinate axes).

    Raises InputError if the weights cannot be used, and ValueError or TypeError for any other
    invalid argument (the message names it).
    Source: Kavan et al., Skinning with dual quaternions, 2007, as implemented in Blender's
    modifier.
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
    """Return the optimized centers of rotation (Le & Hodgins 2016), (n, 3), for
    `center_of_rotation_skinning`. Each vertex turns about the mean position of the parts of the
    surface with similar weights.

    A center is the mean over triangles, weighted by area and by the similarity s(w_p, w_v). The
    similarity is the sum over pairs of bones j != k of w_pj w_pk w_vj w_vk exp(-(w_pj w_vk - w_pk
    w_vj)^2 / sigma^2), where w_v are the mean weights of the corners. Rows of weights are
    normalized. The center is NaN if no triangle has two bones in common with the vertex, for
    example if a single bone moves the vertex. The computation time grows with the square of the
    number of influences, so limit the influences first.

    Raises InputError if the mesh or the weights cannot be used, ValueError or TypeError for any
    other invalid argument (the message names it), and Cancelled if `progress` returns False.
    Source: Le & Hodgins, Real-time skeletal skinning with optimized centers of rotation, 2016.
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
    """Return the vertices (p, n, 3) as posed by skinning with centers of rotation (Le & Hodgins
    2016, Algorithm 1). Each vertex turns by the blended quaternion about its center, and linear
    blending moves the center. Vertices without a finite center are blended linearly.

    centers (n, 3); weights, poses and bone_axes as for dual_quaternion_skinning. The method does
    not cover scale and shear, which are blended linearly in the bones' own rotation.

    Raises InputError if the weights cannot be used, and ValueError or TypeError for any other
    invalid argument (the message names it).
    Source: Le & Hodgins 2016, Algorithm 1.
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
    tolerance: float = 0.001,
    smoothness: float = 0.0,
    damping: float = 1e-08,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> _Baked:
    """Compute weights, and bones on request, with which linear blending best approximates frames.

    vertices (n, 3) at rest. frames: a sequence of p arrays (n, 3), the positions to approximate. It
    can be a list, an array (p, n, 3), a numpy.memmap, or any object with len() and [index]. All
    frames are read one by one, in order, once at the start, once for each iteration and each round
    of clustering, and once at the end. Only 16 frames are kept at a time, so apart from the
    transforms, memory does not grow with p. transforms (p, m, 3, 4) or (p, m, 4, 4): transforms of
    the given bones in each frame, or None if there are no given bones.

    The weights of a vertex are >= 0 and sum to 1, and at most max_influences of them are nonzero
    (0: 32). The weights are optimal for the vertex's set of bones, which is found by a search.
    weights: starting weights, toward which `damping` pulls where the frames do not determine the
    weights. locked_vertices (n,) and locked_bones (m,) keep the starting weights exactly, and the
    other bones share the remainder. Where locked weights sum to 1 or more, other bones get none,
    and errors are those of the row scaled to sum to 1. candidates (n, m): False if a bone may not
    move a vertex. smoothness, with triangles or edges: strength of the pull between the weights of
    neighbors. Vertices that coincide at rest and stay within 0.1 % of the size in all frames get
    one row, so seams stay closed, except where locks or candidates differ. new_bones start from
    clusters of vertices that move in the same way (Le and Deng 2012). The transforms of new bones
    are optimized. With move_bones, the transforms of the given bones are also optimized. The
    transforms are rigid, or affine with rigid=False. Then weights and transforms are improved
    alternately, and no step increases the error.

    Returns a dict: weights (start, bones, weights) of the given bones followed by the new ones;
    transforms (p, m + new_bones, 3, 4); centers (m + new_bones, 3), the center at rest of the
    vertices that each bone moves; vertex_error (n,), the root mean square distance over the frames;
    rms and max, the root mean square and maximum distance over all vertices and frames, in the
    units of the vertices; worst (frame, vertex); size, the diagonal of the bounding box;
    iterations; and history, the rms after each iteration. With iterations=0, the dict contains the
    errors of the given weights, with unweighted vertices at rest.

    Raises InputError if the mesh, the weights or a frame cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), SolverError if solving fails, and
    Cancelled if `progress` returns False. Exceptions raised while reading a frame are passed on
    unchanged.
    Source: after Kavan et al. 2010 and Le & Deng, Smooth skinning decomposition with rigid bones,
    2012.
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
    limb_hold: float = 10.0,
    slack: float = 0.8,
    inside: float = 0.1,
    bending: float = 0.3,
    iterations: int = 100,
    tolerance: float = 0.001,
    acceleration: int = 5,
    samples: int = 30,
) -> Floats | tuple[Floats, Floats]:
    """Return the equilibrium positions (p, n, 3) of the vertices of an elastic body when its bones
    are posed. Skinning weights cannot produce these shapes, but the shapes show how little strain
    is possible.

    vertices (n, 3), triangles (f, 3), edges (e, 2) that belong to no face, tets (t, 4) of a solid;
    bone_heads and bone_tails (m, 3) of rigid bones, bone_deform (m,); poses (p, m, 3 or 4, 4) from
    rest. weights (n, m) or rows (start, bones, weights) determine the initial shape and the bone
    that holds each vertex (default: the nearest one). Coincident vertices are welded, and loose
    parts are linked.

    Local and global steps minimize the sum of these terms:

    - the integral of the squared Surface Strain (and of |F - R|^2 in tets);
    - bending * relative errors of the edges of one-rings that share a rotation;
    - inside * relative error of the line from each vertex to its bone in the same rotation, which
      keeps thickness and volume;
    - hold * squared distances from the position to which the bone moves a vertex, in radii of the
      limb, with almost no effect at joints;
    - limb_hold * squared Limb Drift beyond slack times the drift of the initial shape.

    inside=0 poses the skin alone, with the least strain. The problem is not convex, so the result
    is a local minimum for these settings and not a proven bound. tolerance: a pose is finished when
    its energy falls by less than this share twice in a row. The energy never increases.
    per_iteration=True returns (posed, energies (iterations + 1, p)). Results do not depend on the
    number of threads.

    method="mixed": automatic skinning by mixed finite elements (Kassahun, Kachkovski, Song and
    Monem, SGI). The rotations of a few blue-noise `samples` are found by the adjoint method and
    spread to all elements by biharmonic weights. Stretches and points come from a KKT system whose
    constraint F = R S is softened because it cannot be satisfied in 3D. Only `hold`, `samples`,
    `iterations` (evaluations) and `tolerance` are used. Wires and links are ignored. The mesh may
    have at most 5000 vertices.

    Raises InputError if the mesh, the skeleton or the poses cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), SolverError if solving fails, and
    Cancelled if `progress` returns False.
    Source: local and global steps with Anderson acceleration (Peng et al. 2018); for the mixed
    method, Kassahun et al. 2022.
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
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
    hold: float = 0.01,
    samples: int = 30,
) -> _Mixed:
    """Evaluate elastic_poses(method="mixed") once, in the first of the poses. turns (h, 3): a
    rotation vector for each sample, relative to the mean rotation of the bones at the samples
    (default: the rotations of the bones).

    Returns a dict: samples (h,), vertex indices; weights (elements, h) with sum 1; turns (h, 3);
    rotations and stretches (elements, 3, 3), with the measured triangles first and then the tets;
    points (n, 3); pulls (n,), the strength with which each vertex is pinned; energy; and gradient
    (h, 3), the gradient of the energy with respect to the turns. The stretch of a triangle is in
    the first two rows and columns, along its edge 0 to 1 and across that edge.

    Raises InputError if the mesh, the skeleton or the poses cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), SolverError if solving fails, and
    Cancelled if `progress` returns False.
    Source: Kassahun et al., Automatic skinning by mixed finite elements, 2022, with a softened
    constraint F = R S.
    """

def surface_strain(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    posed: ArrayLike,
    *,
    threads: int = 0,
) -> Floats:
    """Return the (f,) Surface Strain of each triangle for one pose (n, 3), or its root mean square
    over poses (p, n, 3). The strain is the square root of (s1 - 1)^2 + (s2 - 1)^2. Here s1 and s2
    are the singular values of the map from the triangle at rest to the posed triangle, in the plane
    of the triangle. A value of 0.1 is 10 %. The strain is 0 for triangles that move rigidly, and
    for slivers with an altitude below 1e-4 of their longest edge, which are excluded from all
    measures.

    Raises InputError if the mesh or a posed point cannot be used, and ValueError or TypeError for
    any other invalid argument (the message names it).
    Source: the measure of this project: docs/bench/seen.md.
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
    """Return the `measures` of a Deformation for weights (n, m) or rows, blended linearly over
    poses (p, m, 3, 4) or (p, m, 4, 4). The arguments are those of Deformation. The result is
    bit-identical for any number of threads.

    Raises InputError if the mesh, the weights or the poses cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), and Cancelled if `progress` returns
    False.
    Source: the measures of this project: docs/bench/seen.md.
    """

@final
class Deformation:
    """Measures of the visible deformation of a mesh, over all poses that you add.

    The measures are independent of the energy that the weights minimize. Vertices are not welded.

    Raises InputError if the mesh, the weights or the poses cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), and Cancelled if `progress` returns
    False.
    Source: the measures of this project: docs/bench/seen.md.
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
        """vertices (n, 3), triangles (f, 3) at rest; bone_heads, bone_tails (m, 3): required for
        limbs; bone_deform (m,): bones that do not deform have no limbs, but their weights count.
        bone_kinds and bone_segments are those of a Solver."""

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
        """Add the mesh as posed by linear blending with weights (n, m) or rows in poses (p, m, 3,
        4) or (p, m, 4, 4). Rows are normalized. A vertex without weights stays at rest, as in
        Blender. The arguments bends, segment_poses and parameters for bones that are not rigid are
        those of `energy`, and progress is that of a Solver. A call that raises an exception adds
        nothing."""

    def add(
        self,
        posed: ArrayLike,
        poses: ArrayLike | None = None,
        *,
        bends: ArrayLike | None = None,
        segment_poses: ArrayLike | None = None,
    ) -> None:
        """Add points (p, n, 3) posed by any method. poses (p, m, 3, 4) or (p, m, 4, 4), with bends
        or segment_poses, are the poses of the bones. The poses are required if there are limbs."""

    def clear(self) -> None:
        """Remove all poses, so that other weights of the same mesh and bones can be measured."""

    def measures(self, *, per_triangle: bool = False, per_vertex: bool = False) -> dict[str, Any]:
        """Return the measures over all added poses, NaN if something cannot be measured:

        area: Surface Strain, the square root of the mean squared strain over poses and over
        triangles weighted by area (0.1 is 10 %); face: the same measure with equal weights for all
        triangles; p99: 99th percentile over triangles of the root mean square over poses, computed
        like numpy.percentile.
        drift: Limb Drift, the mean of bone_drift; worst_drift: the largest value of bone_drift;
        bone_drift (m,): the distance between the center of the limb around the middle of a bone and
        the position to which the bone moves this center. The drift is given in radii of the limb,
        as the root mean square over poses, and is NaN for bones that no limb encloses. limbs: the
        number of limbs. A limb consists of the vertices that are nearest to the bone at 0.3 to 0.7
        of its length, and there must be at least 6 of them. Their mean distance from the bone is
        the radius of the limb. The radius must be at most 1.5 times the length of the bone, and the
        center of the limb must lie within half a radius of the bone. volume: Volume Change of the
        closed parts, the mean over poses as a share of their volume at rest (-0.1 is 10 % less).
        closed_parts: the number of parts in which every edge joins two triangles of the same
        orientation. poses: the number of added poses. On request, the result also contains
        triangle_strain (f,), the root mean square over poses, and vertex_strain (n,), the square
        root of the area-weighted mean of its square over the triangles of each vertex.
        """

def baseline_weights(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike | None,
    bone_parents: ArrayLike,
    *,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    bone_ways: ArrayLike | None = None,
    bone_deform: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
    method: InitialWeights = "heat",
    max_influences: int = 4,
    min_weight: float = 0.001,
    link_parts: bool = True,
    handles: ArrayLike | None = None,
) -> Rows:
    """Compute weights (n, m) for a mesh and a skeleton by a method from the literature, without
    poses or energy. Rows sum to 1 and have at most max_influences entries (0: any number). Weights
    below min_weight are omitted. As in a Solver, the mesh is welded and loose parts are linked.

    "heat": bone heat (Baran & Popovic 2007), diffused from the bones that are nearest to each
    vertex and visible from it. "nearest": every vertex follows only its nearest bone, visible or
    not. "boneglow": BoneGlow (Wareham & Lasenby 2008), the diffused light that bones send to the
    vertices. "bbw": bounded biharmonic weights (Jacobson et al. 2011), which minimize w' Q w, where
    Q is the bi-Laplacian. The weights w are between 0 and 1, fixed to 1 at the handles of the bone
    and to 0 at the handles of other bones. "biharmonic": the same weights without bounds. Negative
    weights are clipped at the end.

    In a volume, the handles of a bone are the vertices on it. On a surface or wires, the handles
    are the core of the vertices nearest to the bone: the vertices whose distance from the vertices
    of other bones, along edges, is at least 0.85 times the largest such distance. For parts without
    a visible bone, only the distance counts. Parts far from all bones follow the nearest one.
    handles (n,): for biharmonic weights, the bone of which a vertex is a handle, -1 for none. These
    are the only handles of the bone, such as a single point. Other bones keep those described here.
    Biharmonic weights for more than 200,000 vertices raise ValueError.

    Raises InputError if the mesh or the skeleton cannot be used, ValueError or TypeError for any
    other invalid argument (the message names it), SolverError if solving fails, and Cancelled if
    `progress` returns False.
    Source: the papers named above. In the add-on, these are the methods of initial weights.
    """

def skin_owners(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike | None,
    bone_parents: ArrayLike,
    *,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    bone_ways: ArrayLike | None = None,
    bone_deform: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> NDArray[np.int32]:
    """Return the bone that owns each vertex of the skin, (n,): the nearest deforming bone.
    Distances outside the mesh count three times, and distances beyond the radius of the bone's limb
    count more. The result is an index of the given bones and does not depend on the unit of length.
    In a Solver, bone springs lead to these bones. A loose part that surrounds no bone belongs to
    one bone as a whole.

    Raises InputError if the mesh or the skeleton cannot be used, ValueError or TypeError for any
    other invalid argument (the message names it), and Cancelled if `progress` returns False.
    Source: this project (docs/decisions/035-owners.md).
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
    """Return `parameters` (n, m) for a Solver that follow the mesh: u from 0 at the head to 1 at
    the tail, diffused like heat weights from the vertices that see the bone. At vertices that see a
    bone earlier in the chain, u is 0. At vertices that see a descendant of the bone, u is 1 (or the
    position of the child's head).

    The values are NaN for bones that do not deform and, with bone_kinds, for rigid ones.

    Raises InputError if the mesh or the skeleton cannot be used, ValueError or TypeError for any
    other invalid argument (the message names it), and SolverError if solving fails.
    Source: the system of heat weights (Baran & Popovic 2007), for positions along bones instead of
    weights.
    """

def bone_directions(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike | None,
    bone_parents: ArrayLike,
    *,
    bone_deform: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None, Literal["tails", "lengths", "joints"]]:
    """Return the directions of the bones of an armature: (tails (m, 3), ways (m,) or None, source).

    "tails": the given tails are correct. "lengths": the given tails have correct directions but
    wrong lengths, as in some imported armatures. A bone then extends to the child at which it
    points, or to the end of the skin beyond the bone. "joints": the given tails are meaningless, or
    `bone_tails` is None. A bone then extends to the joints of all its children. `ways` marks the
    bones to which their parents extend, and is the bone_ways argument of other functions. The tail
    of a bone then only gives the axis about which the bone turns. Bones without children extend to
    the skin beyond their joints.

    Tails are considered meaningless if most of them are far from all children. This is the case if
    the median of |tail - nearest child| / |head - nearest child|, over bones with children, is
    above 0.57.

    Raises InputError if the mesh or the skeleton cannot be used, ValueError or TypeError for any
    other invalid argument (the message names it), and Cancelled if `progress` returns False.
    Source: this project. See docs/reliability.md for the files on which the method was tested.
    """

def control_bones(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    bone_heads: ArrayLike,
    bone_tails: ArrayLike | None,
    bone_parents: ArrayLike,
    *,
    bone_ways: ArrayLike | None = None,
    bone_deform: ArrayLike | None = None,
    bone_evidence: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    tets: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> NDArray[np.int32]:
    """Return, as an array (m,), the reason why each deforming bone is a control bone, which should
    move no vertex. The reasons are: 1, a root that lies outside the body it carries; 2, no skin
    around the bone; 3, coincident with another bone; 4, other bones move the skin around it. A
    value of 0 means that the bone moves skin or is not a deforming bone.

    bone_evidence (m,): other evidence, such as names and constraints. Values are positive for a
    control bone and negative for a bone that moves skin. A value of 1 is a single hint, such as a
    name, and 2 is nearly certain. At -1 and below, a bone counts as a control bone only if it is
    away from the mesh. Evidence alone is not sufficient. It only supports a suspicion based on the
    position of the bone. The result does not depend on the position, rotation and scale of the
    scene. At least one deforming bone always remains.

    To leave control bones out of a Solver, switch off their bone_deform, remove their parents (-1),
    and make the nearest remaining ancestor the parent of their children. Otherwise, bones that do
    not deform count as part of the bone above them.

    Raises InputError if the mesh or the skeleton cannot be used, ValueError or TypeError for any
    other invalid argument (the message names it), and Cancelled if `progress` returns False.
    Source: this project. See docs/reliability.md for the files on which the method was tested.
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
    swing: float = 1.0471975511965976,
    twist: float = 0.17453292519943295,
    reach_poses: float = 0.0,
) -> Floats:
    """Return random poses (count, m, 3, 4), identical to those that a Solver with these arguments
    uses.

    Raises InputError if the skeleton cannot be used, and ValueError or TypeError for any other
    invalid argument (the message names it).
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 3.3, with a low-discrepancy lattice instead of
    random numbers (docs/energy.md 2).
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
    bone_kinds: Sequence[BoneKind],
    bone_ranges: ArrayLike | None = None,
    bone_segments: ArrayLike | None = None,
    symmetry: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    seed: int = 0,
    swing: float = 1.0471975511965976,
    twist: float = 0.17453292519943295,
    reach_poses: float = 0.0,
) -> tuple[Floats, Floats]:
    """Return random poses (count, m, 3, 4) and their bends (count, m, 4), identical to those that a
    Solver with the same arguments uses. The children of an STB or spine follow it at the positions
    of their heads along the bone.

    Raises InputError if the skeleton cannot be used, and ValueError or TypeError for any other
    invalid argument (the message names it).
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 3.3, with a low-discrepancy lattice instead of
    random numbers (docs/energy.md 2).
    """

def forward_kinematics(
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    rotations: ArrayLike,
    bends: ArrayLike | None = None,
    /,
) -> Floats:
    """Return transforms (p, m, 3, 4) computed from local rotations (p, m, 3, 3) in rest
    orientation. With bends (p, m, 4), bones whose bend is not (0, 0, 0, 1) carry their children
    along the bend.

    Raises InputError if the skeleton or the bends cannot be used, and ValueError or TypeError for
    any other invalid argument (the message names it).
    Source: Thiery & Eisemann, ARAPLBS, 2018, sections 1.2 and 3.3, Eq. 2 to 4 for spines.
    """

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
    swing: float = 1.0471975511965976,
    twist: float = 0.17453292519943295,
) -> tuple[Floats, Floats, NDArray[np.int32]]:
    """Find poses that bring the tail of the bone `effector` to each of the targets (k, 3), starting
    from the rest pose.

    Returns (rotations (k, m, 3, 3), errors (k,), iterations (k,)): local rotations in rest
    orientation, for forward_kinematics; the remaining distance; and the number of iterations. If a
    target is out of reach, the result is the nearest pose found.

    chain_count: number of bones that turn, counted from the effector toward the root; 0 for all
    bones up to the root. Joints stay within bone_limits. Joints without limits swing by at most
    `swing` (default 60 degrees) and twist by at most `twist` (10 degrees). Values of pi remove
    these two bounds. method: forward and backward reaching (Aristidou & Lasenby 2011), cyclic
    coordinate descent, or damped least squares. tolerance: a share of the length of the chain.
    iterations: the maximum number of iterations.

    Raises InputError if the skeleton cannot be used, and ValueError or TypeError for any other
    invalid argument (the message names it).
    Source: for FABRIK, Aristidou & Lasenby 2011; for damped least squares, Wampler 1986 and
    Nakamura & Hanafusa 1986.
    """

def reach_chains(
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    *,
    bone_deform: ArrayLike | None = None,
) -> list[tuple[NDArray[np.int32], Floats]]:
    """Return the limbs, necks, tails and fingers that reach for targets in sampled poses. For each
    of these chains, the result contains the bones of the chain, starting at its root, and the
    position (3,) of its effector at rest.

    Raises InputError if the skeleton cannot be used, and ValueError or TypeError for any other
    invalid argument (the message names it).
    Source: this project (docs/energy.md 2).
    """

def nearest_rotations(matrices: ArrayLike, /) -> Floats:
    """Return the proper rotations (n, 3, 3) nearest to the matrices (n, 3, 3) in the Frobenius
    norm. The results are never reflections, even for singular matrices.

    Raises ValueError if a matrix is not finite or the shape is not (n, 3, 3), and TypeError if the
    argument is not an array.
    Source: Horn 1987, by unit quaternions. The rotation maximizes tr(R^T M), as in the local step
    (docs/energy.md 3).
    """

def embed(
    vertices: ArrayLike,
    tets: ArrayLike,
    points: ArrayLike,
    *,
    threads: int = 0,
) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Locate points (p, 3) in the tets (t, 4) of vertices (n, 3).

    Returns (tets (p,), coordinates (p, 4), distances (p,)): the tet that contains each point, or
    the tet nearest to it; the barycentric coordinates of the point in this tet, >= 0 with sum 1;
    and the distance of the point from the tet, 0 inside. If W are the weights of the vertices of
    tets T, the weights at the points are einsum("pk,pkb->pb", coordinates, W[T[tets]]).

    Raises ValueError or TypeError for an invalid argument (the message names it), and InputError
    for points that are too far away.
    Source: barycentric coordinates. For points outside the volume, the weights are those of the
    nearest point of the volume.
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
    """Return the vertices (p, n, 3) as posed by linear blending with weights (n, m) or rows and
    poses (p, m, 3, 4) or (p, m, 4, 4).

    Rows are normalized. A vertex without weights stays at rest, as in Blender. The arguments for
    bones that are not rigid are those of `energy`.

    Raises InputError if the weights or the poses cannot be used, and ValueError or TypeError for
    any other invalid argument (the message names it).
    Source: linear blend skinning (docs/energy.md 2).
    """

def nearest_points(
    vertices: ArrayLike,
    triangles: ArrayLike,
    points: ArrayLike,
    *,
    owners: ArrayLike | None = None,
    radius: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> tuple[NDArray[np.int32], Floats, Floats, NDArray[np.int32]]:
    """Find the points of a surface that are nearest to points (k, 3).

    Returns (corners (k, 3), coordinates (k, 3), heights (k,), parts (n,)): the vertices of the
    triangle, -1 if no triangle was found; the barycentric coordinates of the nearest point; the
    distance to the nearest point, negative for given points behind the surface (according to the
    vertex normals) and inf without a triangle; and the part number of every vertex. A part consists
    of vertices connected by triangles and edges. owners (k,): for each point, a vertex whose part
    is skipped, -1 for none.
    radius (k,): search radius of each point, inf by default. Of coincident vertices, the first one
    is used.

    Raises InputError if the mesh cannot be used, ValueError or TypeError for any other invalid
    argument (the message names it), and Cancelled if `progress` returns False.
    Source: closest point on a triangle (Ericson, Real-Time Collision Detection, 2004, section
    5.1.5), searched in a tree of boxes.
    """

def mesh_extent(
    vertices: ArrayLike,
    triangles: ArrayLike,
    *,
    edges: ArrayLike | None = None,
) -> Floats:
    """Find the bounding box of the main part of a mesh: its lowest and its highest corner, (2, 3).

    The diagonal of this box is the size of the mesh, of which the solver's distances are shares.
    Vertices in no triangle or edge, a few vertices far away, and objects far beside the largest one
    do not count. Without triangles and edges, all points count except a few that are far away.

    Raises InputError if the mesh cannot be used, and ValueError or TypeError for any other invalid
    argument (the message names it).
    """

def inspect_weights(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    *,
    edges: ArrayLike | None = None,
    links: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return measures of weights (n, m) or rows along a surface: (contrast (n,), roughness (n,),
    straight (e,), along (e,)). The last two have a value for each entry of the rows, or for each
    dense weight that is not 0.

    contrast: half the sum over bones of |w - mean of the neighbors|. It is 0 for a vertex that
    moves like its neighbors, and 1 for a vertex that has no bone in common with its neighbors.
    roughness: the mean contrast of the neighbors with this vertex left out, which is large where
    bones meet; 0 if the contrast is below 0.2. straight, along: the distance of the vertex from the
    core of the bone, in a straight line and along edges and links, respectively. links (h, 2) are
    additional connections between vertices. Among the vertices with at least half of the bone's
    largest weight, the core is the connected set with the most weight. Both distances are 0 in the
    core and for weights below 0.05. along is inf beyond 4 times the largest straight distance of
    the bone. Rows are normalized. Coincident vertices count as one, with the row of the first.

    Raises InputError if the mesh or the weights cannot be used, ValueError or TypeError for any
    other invalid argument (the message names it), and Cancelled if `progress` returns False.
    Source: this project, for the check of weights (docs/bench/check.md).
    """

def part_doubts(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    weights: ArrayLike | tuple[ArrayLike, ArrayLike, ArrayLike],
    bone_heads: ArrayLike,
    bone_tails: ArrayLike,
    bone_parents: ArrayLike,
    *,
    bone_deform: ArrayLike | None = None,
    bone_ways: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    progress: Callable[[str, float], bool | None] | None = None,
    threads: int = 0,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], Floats]:
    """Measure how clearly each loose part belongs to the bone that moves it. Returns (parts (n,),
    owners (k,), others (k, 2), doubts (k,)): the part number of each vertex, and for each part its
    bone, the two bones that fit next best, and how well the first of these fits relative to the
    owner. At 1, both fit equally well.

    The owner has more than half of the part's weight, and about the same weight everywhere in the
    part. It is -1 without such a bone, or in a mesh of a single part. The others are the deforming
    parent and children of the owner with the best fit, otherwise -1. A bone fits a part better the
    larger its weights are in the part and on the surface that the part touches, and the nearer it
    is. bone_ways: see Solver.

    Raises InputError if the mesh, the weights or the bones cannot be used, ValueError or TypeError
    for any other invalid argument (the message names it), and Cancelled if `progress` returns
    False.
    Source: this project (docs/manual/parts.md).
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
    """Find the target vertices (k, 3) that match the surface of a source (n, 3), (f, 3), by the
    rule of transfer_weights. Returns (matched (k,), distances (k,) in the unit of the vertices,
    angles (k,) in radians).

    Raises InputError if one of the meshes cannot be used, ValueError or TypeError for any other
    invalid argument (the message names it), and Cancelled if `progress` returns False.
    Source: Abdrashitov et al., Robust skin weights transfer via weight inpainting, 2023, section
    3.1.
    """

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
    """Transfer the weights of a source (n, 3), (f, 3), (n, m) to a target (k, 3), (g, 3) in the
    same space.

    Returns (rows (k, m), matched (k,), distances (k,), angles (k,)). A target vertex matches if the
    nearest point of the source is no farther than `distance` times the diagonal of the source's
    bounding box, and if the normals at both points differ by at most `angle`. With `two_sided`, the
    normals may point to opposite sides. If the point is no farther than `near`, in the same unit as
    `distance`, the normals do not matter. Wires have no normal. A matching vertex takes the weights
    at that point. The weights of the other vertices are continued over the target by the
    bi-Laplacian (Abdrashitov et al. 2023). Islands of the target without a match take the weights
    of their nearest points. Rows sum to 1 and have at most `max_influences` entries (0: any
    number). Raises ValueError if the source has no weights, or if no vertex matches.

    Raises InputError if one of the meshes cannot be used, ValueError or TypeError for any other
    invalid argument (the message names it), SolverError if solving fails, and Cancelled if
    `progress` returns False.
    Source: Abdrashitov et al., Robust skin weights transfer via weight inpainting, 2023, sections
    3.1 and 3.2.
    """

def transfer_shapes(
    vertices: ArrayLike,
    triangles: ArrayLike,
    shapes: ArrayLike,
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
    keep_above: bool = True,
) -> tuple[Floats, NDArray[np.bool_], Floats, Floats, NDArray[np.int32], NDArray[np.int32]]:
    """Transfer the shapes (s, n, 3) of a source (n, 3), (f, 3) to a target (k, 3), (g, 3) in the
    same space.

    Returns (shapes (s, k, 3), matched (k,), distances (k,), angles (k,), lifted (s,), below (s,)).
    Vertices match as in transfer_weights. A matching vertex follows its nearest point of the
    source, and its offset turns with the surface. The displacements of the other vertices are
    continued over the target by the bi-Laplacian, which is factorized once for all shapes. None of
    these displacements is longer than the longest displacement of a matching vertex. Islands
    without a match follow their nearest points. With `keep_above`, vertices above the surface at
    rest are lifted if a shape brings them below the surface or too near to it, that is, nearer than
    half of their height at rest and nearer than 0.001 of the size of the source. lifted: the number
    of lifted vertices.
    below: the number of vertices that remain below the surface, between intersecting parts of the
    surface. A shape that moves nothing leaves the target bit-identical. Raises ValueError if no
    vertex matches.

    Raises InputError if one of the meshes cannot be used, ValueError or TypeError for any other
    invalid argument (the message names it), SolverError if solving fails, and Cancelled if
    `progress` returns False.
    Source: the matching and the bi-Laplacian of Abdrashitov et al. 2023, applied to displacements.
    """

def prune(
    vertices: ArrayLike,
    triangles: ArrayLike | None,
    weights: ArrayLike,
    min_influences: int,
    prune_sum: float,
    prune_ratio: float,
) -> NDArray[np.bool_]:
    """Return a mask (n, m) of the influences that the paper's pruning (section 3.2) keeps.

    vertices (n, 3), triangles (f, 3); weights (n, m), dense, at least 0. The weights are visited in
    increasing order. A weight is dropped only if at least `min_influences` other weights remain,
    and if these weights sum to more than `prune_sum`. In addition, the weight must be below the
    share `prune_ratio` of the vertex's largest weight, and no neighbor that keeps the bone may have
    a smaller weight.

    Raises InputError if the mesh cannot be used, and ValueError or TypeError for any other invalid
    argument (the message names it).
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 3.2.
    """
