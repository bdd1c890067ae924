"""Compares rigid bones with stretchable-twistable bones, spines and bendy bones: a twisted cylinder
(the candy wrapper), a bent tail, a stretched arm.

spines.py ZIP OUTPUT_FOLDER     (called by bench.py)"""

import sys
from dataclasses import dataclass
from pathlib import Path

import araplbs
import numpy as np
import plots
import reference
import shaded
from results import table, write_page
from yardstick import rotation

NOTE = """\
The test uses a cylinder, a tail and an arm with a hand, each 2 m long with {n:,} vertices, and the
weights that the solver finds for 20 poses. The first and the last ring are locked to the first and
the last bone. *Ends free*: no vertices are locked, so the weights can reduce the energy by moving
the skin less.

- *ARAP energy*: the mean squared error of edges relative to rigidly rotated one-rings, for any
  kind of bone.
- *as desired*: the mean squared error relative to edges of the length prescribed by the bones (as
  rigid as desired, section 4.1 of the paper), computed by `araplbs.energy` with the bone kinds. The
  ARAP energy counts all stretch of an arm as error, even intended stretch. The better of two
  results can therefore have the higher ARAP energy.
- *reached*: motion of the last ring relative to the first in the last pose, as a share of the
  motion of the bones.
- *thinnest*: smallest distance from the axis relative to the rest pose, in poses that do not
  bend the axis.
- *longest edge*: length of the longest edge relative to its rest length. *of the hand*: length
  of the longest edge in the outer two thirds of the hand, relative to its rest length.

The quads are split along alternating diagonals. If all quads are split along *one diagonal*,
much of the intended stretch of a stretchable-twistable bone (STB) counts as error. The paper
measures stretch along the principal axes of a one-ring's covariance, which follow the bone only
if the edges are evenly distributed in all directions. A rigid bone with `bone_stretch` takes
the intended stretch from its transform, so the result does not depend on the diagonals.

The picture shows the last poses with bones in blue, and the error of each one-ring (root of its
energy): *as desired* for the arm, ARAP for the other shapes. The captions list the energies of
all poses."""
POSES = 20
RADIUS, LENGTH, WRIST, AROUND, ALONG = 0.3, 2.0, 1.25, 32, 81
SEGMENTS = 8
STRETCH = 4
TWIST, BEND = 170, 150


def tube(widths, depths, bump=0):
    """(ALONG * AROUND, 3): rings with half axes along X and Y."""
    angle = np.arange(AROUND) * 2 * np.pi / AROUND
    z = np.linspace(0, LENGTH, ALONG)[:, None]
    x = (widths[:, None] + bump) * np.cos(angle)
    y = depths[:, None] * np.sin(angle)
    return np.stack(np.broadcast_arrays(x, y, z), -1).reshape(-1, 3)


def quads(alternating=True):
    """Triangles of a tube."""
    i = np.arange(AROUND * (ALONG - 1))
    row, column = np.divmod(i, AROUND)
    k = row * AROUND + (column + 1) % AROUND
    j, m = i + AROUND, k + AROUND
    rising = np.stack([[i, k, m], [i, m, j]]).transpose(2, 0, 1)
    falling = np.stack([[i, k, j], [k, m, j]]).transpose(2, 0, 1)
    other = alternating & ((row + column) % 2 == 1)
    return np.where(other[:, None, None], falling, rising).reshape(-1, 3)


def smooth(x):
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)


def arm():
    """A forearm and a mitten with its thumb toward +X."""
    z = np.linspace(0, LENGTH, ALONG)
    hand = (z - WRIST) / (LENGTH - WRIST)
    forearm = 0.125 + 0.085 * smooth(1 - z / WRIST) + 0.03 * np.exp(-(((z - 0.3) / 0.25) ** 2))
    tip = np.sqrt(1 - 0.99 * np.clip((hand - 0.62) / 0.38, 0, 1) ** 2)
    widths = (forearm + 0.1 * smooth(hand / 0.35)) * tip
    depths = (forearm - 0.02 * smooth(hand / 0.5)) * tip
    angle = (np.arange(AROUND) * 2 * np.pi / AROUND + np.pi) % (2 * np.pi) - np.pi
    thumb = np.exp(-(((hand - 0.3) / 0.16) ** 4))[:, None] * np.exp(-((angle / 0.6) ** 4))
    points = tube(widths, depths, 0.15 * thumb)
    points[:, 2] += 0.13 * thumb.ravel()
    return points


TRIANGLES = quads()
CYLINDER = tube(np.full(ALONG, RADIUS), np.full(ALONG, RADIUS))
TAIL = tube(*[RADIUS * (1 - 0.85 * np.linspace(0, 1, ALONG) ** 1.2)] * 2)
ARM = arm()


@dataclass
class Case:
    """A chain of bones along Z, its poses, and the mesh that it moves with the computed weights."""

    name: str
    vertices: np.ndarray
    heights: tuple  # of the joints
    poses: np.ndarray
    kinds: tuple = ()
    bends: np.ndarray | None = None
    stretch: tuple = ()
    free: bool = False
    triangles: np.ndarray | None = None

    def __post_init__(self):
        self.triangles = TRIANGLES if self.triangles is None else self.triangles
        self.bones = chain(self.heights)
        self.more = {}
        if self.kinds:
            self.more = {"bone_kinds": self.kinds, "bends": self.bends}
        if "bendy" in self.kinds:
            self.more["bone_segments"] = [SEGMENTS] * len(self.kinds)
        if self.stretch:
            self.more["bone_stretch"] = self.stretch
        n, m = len(self.vertices), len(self.heights) - 1
        ends, locked = np.zeros((n, m)), np.zeros(n, bool)
        ends[:, 0] = 1
        ends[-AROUND:] = np.eye(m)[-1]
        locked[:AROUND] = locked[-AROUND:] = not self.free
        solver = araplbs.Solver(
            self.vertices, self.triangles, *self.bones, **self.more, poses=self.poses,
            pose_count=0, weights=ends, locked_vertices=locked,
        )  # fmt: skip
        solver.solve()
        self.weights = solver.weights
        self.posed = self.pose(solver._inside)

    def pose(self, inside):
        """The posed mesh (poses, n, 3)."""
        v, middle = self.vertices, (self.vertices.min(0) + self.vertices.max(0)) / 2
        moved = lambda t: np.einsum("p...ij,nj->pn...i", t[..., :3], v) + t[:, None, ..., 3]  # noqa: E731
        each, size = moved(self.poses), inside["diagonal"]
        if "bendy" in self.kinds:
            t = inside["transform"]
            t[..., 3] = size * t[..., 3] + middle - t[..., :3] @ middle
            at = SEGMENTS * reference.along_bone(self.bones[0][0], self.bones[1][0], v)
            hats = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(SEGMENTS + 1)))
            each[:, :, 0] = np.einsum("nj,pnji->pni", hats, moved(t))
        spines = [b for b, kind in enumerate(self.kinds) if kind in ("stb", "spine")]
        for k, b in enumerate(spines):
            each[:, :, b] = (inside["spine_point"][:, k] * size + middle).transpose(1, 0, 2)
        return np.einsum("nb,pnbi->pni", self.weights, each)

    def desired(self, poses=slice(None)):
        """(energy, that of each vertex) relative to edges of the length prescribed by the bones."""
        more = dict(self.more)
        if self.kinds:
            more["bends"] = self.bends[poses]
        return araplbs.energy(
            self.vertices, self.triangles, self.weights, self.poses[poses], per_vertex=True,
            bone_heads=self.bones[0], bone_tails=self.bones[1], **more,
        )  # fmt: skip

    def rigid(self, poses=slice(None)):
        """The same relative to edges that only rotate."""
        posed = self.posed[poses]
        return araplbs.posed_energy(self.vertices, self.triangles, posed, per_vertex=True)

    def bone_lines(self):
        """A polyline for each bone in the last pose."""
        lines = []
        for b, (head, tail, _) in enumerate(zip(*self.bones, strict=True)):
            kind = self.kinds[b] if self.kinds else "rigid"
            steps = {"rigid": 1, "bendy": SEGMENTS}.get(kind, 40)
            bend = [0, 0, 0, 1] if self.bends is None else self.bends[-1, b]
            at = np.linspace(0, 1, steps + 1)
            points = [
                reference.spine_point(head, tail, np.asarray(bend), u, head + u * (tail - head))
                for u in at
            ]
            pose = self.poses[-1, b]
            lines.append(np.array(points) @ pose[:, :3].T + pose[:, 3])
        return lines


def chain(heights):
    joints = np.column_stack([np.zeros((len(heights), 2)), heights])
    return joints[:-1], joints[1:], np.arange(len(heights) - 1) - 1


def even(count):
    return tuple(np.linspace(0, LENGTH, count + 1))


def shared(count, axis, angles):
    """Poses of a chain whose joints, except the first, share each angle equally."""
    turns = np.tile(np.eye(3), (len(angles), count, 1, 1))
    for p, angle in enumerate(angles):
        turns[p, 1:] = rotation(np.array(axis), angle / (count - 1))
    return araplbs.forward_kinematics(*chain(even(count)), turns)


def turns(vertices, axis, most, spine):
    """Chains of 2 and of 16 bones, and single bones that rotate from head to tail."""
    angles = np.radians(np.linspace(-most, most, POSES))
    bends = np.zeros((POSES, 1, 4))
    bends[:, 0, :3], bends[:, 0, 3] = np.outer(angles, axis), 1
    rest = np.tile(np.eye(3, 4), (POSES, 1, 1, 1))
    yield Case("2 rigid bones", vertices, even(2), shared(2, axis, angles))
    yield Case("16 rigid bones", vertices, even(16), shared(16, axis, angles))
    yield Case("16 rigid bones, ends free", vertices, even(16), shared(16, axis, angles), free=True)
    yield Case(f"a bendy bone, {SEGMENTS} segments", vertices, even(1), rest, ("bendy",), bends)
    name = "an STB" if spine == "stb" else "a spine"
    yield Case(name, vertices, even(1), rest, (spine,), bends)


def stretched():
    """The first of two bones, the arm, is stretched, and the other, its hand, moves with its
    end."""
    factors = np.linspace(0.5, STRETCH, POSES)
    joints, still = (0, WRIST, LENGTH), np.tile(np.eye(3, 4), (POSES, 2, 1, 1))
    still[:, 1, 2, 3] = (factors - 1) * WRIST
    scaled = still.copy()
    scaled[:, 0, 2, 2] = factors
    bends = np.tile([0, 0, 0, 1.0], (POSES, 2, 1))
    bends[:, 0, 3] = factors
    stb = (("stb", "rigid"), bends)
    yield Case("rigid bones", ARM, joints, still)
    yield Case("rigid, scaled", ARM, joints, scaled)
    yield Case("rigid, scaled, bone_stretch", ARM, joints, scaled, stretch=(True, False))
    yield Case("an STB and a rigid hand", ARM, joints, still, *stb)
    yield Case(
        "an STB and a rigid hand, one diagonal", ARM, joints, still, *stb, triangles=quads(False)
    )


def angle_between_ends(case):
    """Degrees by which the last ring is rotated relative to the first in the last pose."""
    turns = []
    for ring in (slice(AROUND), slice(-AROUND, None)):
        now, rest = (x[ring] - x[ring].mean(0) for x in (case.posed[-1], case.vertices))
        turns.append(araplbs.nearest_rotations((now.T @ rest)[None])[0])
    cosine = (np.trace(turns[1] @ turns[0].T) - 1) / 2
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def length(points):
    return np.linalg.norm(points[-AROUND:].mean(0) - points[:AROUND].mean(0))


def stretch_of_edges(case):
    """The longest edge relative to its length at rest, and the longest of the hand."""
    i, k = np.concatenate([case.triangles[:, [a, (a + 1) % 3]] for a in range(3)]).T
    long = [
        np.linalg.norm(x[..., k, :] - x[..., i, :], axis=-1) for x in (case.posed, case.vertices)
    ]
    ratio = (long[0] / long[1]).max(0)
    hand = np.minimum(case.vertices[i, 2], case.vertices[k, 2]) > (2 * WRIST + LENGTH) / 3
    return ratio.max(), ratio[hand].max()


def thinnest(case):
    from_axis = lambda points: np.linalg.norm(points[..., :2], axis=-1)  # noqa: E731
    return (from_axis(case.posed) / from_axis(case.vertices)).min()


def rows_of(test, title, cases):
    for k, case in enumerate(cases):
        longest, hand = stretch_of_edges(case)
        if test == "arm":
            wanted = STRETCH * WRIST + LENGTH - WRIST
            reached = f"{length(case.posed[-1]):.2f} of {wanted:.2f} m"
        else:
            asked = TWIST if test == "twist" else BEND
            reached = f"{angle_between_ends(case):.0f} of {asked} degrees"
        yield (
            f"{'...' if k else title + ':'} {case.name}", f"{case.rigid()[0]:.4f}",
            f"{case.desired()[0]:.4f}" if test == "arm" else "", reached,
            "" if test == "tail" else f"{thinnest(case):.3f}", f"{longest:.2f}",
            f"{hand:.2f}" if test == "arm" else "",
        )  # fmt: skip


def draw_case(panel, case, camera, error, caption):
    shape = (ALONG, AROUND)
    shaded.draw(
        panel, case.posed[-1].reshape(*shape, 3), np.sqrt(error).reshape(shape), camera,
        case.bone_lines(),
    )  # fmt: skip
    panel.set_title(caption, fontsize=10)


LAST = slice(POSES - 1, POSES)


def draw(twist, tail, arms, output):
    fig = plots.plt.figure(figsize=(10, 12.4), dpi=100)
    top, middle, bottom = fig.subfigures(3, 1, height_ratios=[3.7, 2.5, 6.2])
    for part, title, cases, camera in (
        (top, f"Twisted by {TWIST} degrees", twist, shaded.view(-60, 18)),
        (middle, f"Bent by {BEND} degrees", tail, shaded.view(20, 14)),
    ):
        part.suptitle(title, fontweight="bold")
        shown = [case for case in cases if not case.free]
        for panel, case in zip(part.subplots(1, 4, sharex=True, sharey=True), shown, strict=True):
            caption = f"{case.name}\nenergy {case.rigid()[0]:.4f}"
            draw_case(panel, case, camera, case.rigid(LAST)[1], caption)
    bottom.suptitle(f"Stretched to {STRETCH} times the length", fontweight="bold")
    shown = arms[:1] + arms[2:4]
    panels = bottom.subplots(4, 1, sharex=True, sharey=True)
    camera = shaded.view(-90, 30, up=(-1.0, 0, 0))
    shaded.draw(panels[0], ARM.reshape(ALONG, AROUND, 3), np.zeros((ALONG, AROUND)), camera)
    panels[0].set_title("at rest", fontsize=10)
    for panel, case in zip(panels[1:], shown, strict=True):
        caption = f"{case.name}: energy {case.rigid()[0]:.4f}, as desired {case.desired()[0]:.4f}"
        draw_case(panel, case, camera, case.desired(LAST)[1], caption)
    bar = panels[0].inset_axes([0.6, 0.45, 0.36, 0.14])
    shaded.color_bar(fig, bar, orientation="horizontal", label="error of one-rings, %")
    return plots.save(fig, output, "spines.png")


def main(_zip_path, output):
    twist = list(turns(CYLINDER, [0, 0, 1.0], TWIST, "stb"))
    tail = list(turns(TAIL, [1.0, 0, 0], BEND, "spine"))
    arms = list(stretched())
    rows = [
        *rows_of("twist", f"twisted by up to {TWIST} degrees", twist),
        *rows_of("tail", f"tail bent by up to {BEND} degrees", tail),
        *rows_of("arm", f"arm 0.5 to {STRETCH} times as long", arms),
    ]
    picture = draw(twist, tail, arms, Path(output))
    head = (
        "poses and bones", "ARAP energy", "as desired", "reached", "thinnest", "longest edge",
        "of the hand",
    )  # fmt: skip
    write_page(
        Path(output), "spines", "STBs, spines and bendy bones", NOTE.format(n=len(CYLINDER)),
        table(head, rows), pictures=[picture],
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
