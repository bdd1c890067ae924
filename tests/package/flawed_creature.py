"""Creates a creature with good weights, and adds one fault of each kind that Check Weights
finds."""

import creature
import generated
import numpy as np

N = creature.NAMES.index


class Subject:
    """The creature with weights from the solver, to which faults can be added."""

    def __init__(self, core):
        self.core = core
        self.vertices, self.triangles, self.first = creature.creature()
        bones = creature.BONES
        names = [bone[0] for bone in bones]
        opposite = [
            names.index(n[:-1] + {"L": "R", "R": "L"}[n[-1]]) if n[-2:-1] == "." else k
            for k, n in enumerate(names)
        ]
        self.skeleton = {
            "names": names,
            "heads": np.array([bone[1] for bone in bones], float),
            "tails": np.array([bone[2] for bone in bones], float),
            "parents": np.array([names.index(b[3]) if b[3] else -1 for b in bones]),
            "roll_axes": np.tile([0.0, 1.0, 0.0], (len(bones), 1)),
            "deform": np.ones(len(bones), bool),
            "limits": np.full((len(bones), 3, 2), np.nan),
            "opposite": np.array(opposite),
        }
        self.options = {"pose_count": 12}
        self.weights = None

    @property
    def problem(self):
        own = self.core("character.problem")
        mesh = own.Mesh("Creature", self.vertices, self.triangles, np.zeros((0, 2), int), np.eye(4))
        return own.Problem([mesh], own.Skeleton(**self.skeleton), symmetric=True)

    def solve(self):
        options = self.core("model.options").Options(**self.options)
        rows = self.core("solvers.solve").solve(self.problem, options).rows
        self.weights = self.core("model.sparse_weights").dense_of(rows, len(creature.BONES))

    def findings(self, progress=None):
        rows = self.core("model.sparse_weights")
        vertices, bones = np.nonzero(self.weights)  # NaN as well
        sparse = rows.make_sparse_weights(
            len(self.vertices), vertices, bones, self.weights[vertices, bones]
        )
        options = self.core("model.options").Options(**self.options)
        problem = self.problem
        poses = self.core("character.pose_sets").pose_set(problem, options)
        return self.core("features.check.check").check(
            problem, sparse, poses, options, 0, progress
        ), problem

    def near(self, point, radius, part=0):
        """Vertices of a part within a distance of a point."""
        off = np.linalg.norm(self.vertices - np.array(point), axis=1) < radius
        own = creature.vertices_of(self.first, part)
        return own[off[own]]

    def give(self, vertices, bone, share=1.0):
        """Gives a bone this share of the weight."""
        self.weights[vertices] *= 1 - share
        self.weights[vertices, N(bone)] += share


def stretch(s):
    """A border from one vertex to the next."""
    x = np.abs(s.vertices[:, 0])
    arm = np.flatnonzero((x > 0.5) & (x < 1.1) & (s.vertices[:, 0] > 0))
    arm = arm[arm < s.first[1]]
    s.weights[arm] = 0
    s.weights[arm, np.where(s.vertices[arm, 0] > 0.75, N("head"), N("arm.L"))] = 1
    return None, arm


def collapse(s):
    """Half of the skin that bends one way and half of that which bends the other."""
    hand = np.flatnonzero((s.vertices[:, 0] > 0.9) & (s.vertices[:, 0] < 1.3))
    hand = hand[hand < s.first[1]]
    s.weights[hand] = 0
    s.weights[hand, N("front.L")] = s.weights[hand, N("head")] = 0.5
    return None, hand


def bleeding(s):
    """One finger moves the middle of the other."""
    finger = s.near((1.75, 0.15, 1.35), 0.2)
    s.give(finger, "front.L", 0.4)
    return "front.L", finger


def overreach(s):
    """A finger that moves the flank of the hips along."""
    flank = np.flatnonzero((s.vertices[:, 0] > 0.1) & (s.vertices[:, 2] < 0.75))
    s.give(flank, "back.L", 0.7)
    return "back.L", flank


def drift(s):
    """A limb that follows the bone below."""
    s.weights[:, N("arm.L")] += 0.9 * s.weights[:, N("hand.L")]
    s.weights[:, N("hand.L")] *= 0.1
    return "hand.L", s.near((1.075, 0, 1.35), 0.35)


def bone_outside(s):
    for ends in ("heads", "tails"):
        s.skeleton[ends][[N("front.L"), N("front.R")], 2] += 0.6
    return "front.L", np.flatnonzero(s.weights[:, N("front.L")] > 0.4)


def idle_bone(s):
    s.weights[:, N("hips")] += s.weights[:, N("back.R")]
    s.weights[:, N("back.R")] = 0
    return "back.R", None


def deaf_bone(s):
    """A finger whose skin follows the hand, except slightly at its tip."""
    w = s.weights[:, N("back.L")].copy()
    s.weights[:, N("back.L")] = 0.08 * w
    s.weights[:, N("hand.L")] += 0.92 * w
    return "back.L", None


def unweighted(s):
    bare = s.near((0, 0, 2.4), 0.25)
    s.weights[bare] = 0
    return None, bare


def unnormalized(s):
    half = s.near((0, 0, 2.4), 0.25)
    s.weights[half] *= 0.5
    return None, half


def speckle(s):
    one = s.near((0, -0.2, 0.5), 0.08)[:1]
    s.give(one, "head")
    return "head", one


def asymmetry(s):
    arm = s.near((0.8, 0, 1.35), 0.2)
    s.give(arm, "arm.L", 0.35)
    return None, arm


def influences(s):
    some = s.near((0, 0, 0.8), 0.3)
    for bone in ("hips", "chest", "head", "arm.L", "arm.R"):
        s.give(some, bone, 0.1)
    return None, some


def loose_part(s):
    button = creature.vertices_of(s.first, 3)
    s.weights[button] = 0
    s.give(button, "head")
    return "head", button


def doubtful_part(s):
    """A button at the elbow, on the side of the other bone."""
    button = creature.vertices_of(s.first, 3)
    s.vertices = s.vertices.copy()
    s.vertices[button] += (0.88, -0.24, 1.35) - s.vertices[button].mean(axis=0)
    s.weights[button] = 0
    s.give(button, "arm.L")
    return "arm.L", button


def intersection(s):
    """The sleeve does not follow the elbow."""
    sleeve = creature.vertices_of(s.first, 1)
    s.weights[sleeve] = 0
    s.give(sleeve, "chest")
    return None, None


def become(s, vertices, triangles):
    """Another mesh, each of whose vertices has the weights of the nearest vertex of the old one."""
    near = [np.linalg.norm(s.vertices - at, axis=1).argmin() for at in vertices]
    s.weights, s.vertices, s.triangles = s.weights[near], vertices, triangles


def generated_one(name, moved=None):
    """moved: the bone that the duplicated geometry follows."""

    def flaw(s):
        before = len(generated.body()[0])
        become(s, *generated.SET[name]())
        if moved:
            s.weights[before:] = 0
            s.weights[before:, N(moved)] = 1
        return None, None

    return flaw


# Faults of the mesh: no weights repair them.
OF_MESH = ("INNER_SHELL", "DOUBLE_SHELL", "SPLIT_EDGES", "ISLANDS", "NOISE")
FLAWS = {
    "STRETCH": stretch,
    "COLLAPSE": collapse,
    "BLEEDING": bleeding,
    "OVERREACH": overreach,
    "DRIFT": drift,
    "BONE_OUTSIDE": bone_outside,
    "IDLE_BONE": idle_bone,
    "DEAF_BONE": deaf_bone,
    "UNWEIGHTED": unweighted,
    "UNNORMALIZED": unnormalized,
    "SPECKLE": speckle,
    "ASYMMETRY": asymmetry,
    "INFLUENCES": influences,
    "LOOSE_PART": loose_part,
    "DOUBTFUL_PART": doubtful_part,
    "INTERSECTION": intersection,
    "INNER_SHELL": generated_one("inner hull", "hips"),
    "DOUBLE_SHELL": generated_one("double shell", "hips"),
    "SPLIT_EDGES": generated_one("split edges"),
    "ISLANDS": generated_one("islands"),
    "NOISE": generated_one("noise"),
}
