"""The inner loop of the local step in every instruction set that this machine supports.

The Python module does not export the kernels and uses the widest one, so the tests compile the two
source files of the kernels into a library of their own. If there is no compiler,
ARAPLBS_TEST_KERNELS names an existing library (tools/cross.py writes
build/cross/TARGET/kernels.dll, .dylib or .so)."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import araplbs
import numpy as np
import pytest
import reference
import shapes
from paths import CSRC

LANES = 16
SETS = ["avx512", "avx2", "portable"]
SOLID, LINE, THIN = range(3)  # arap_ring_shape


class Input(ctypes.Structure):
    """arap_kernel_input of csrc/energy/local_kernels.h."""

    _fields_ = (
        ("transform", ctypes.c_void_p),
        ("lanes", ctypes.c_int),
        ("poses", ctypes.c_int),
        ("bones", ctypes.c_int),
        ("bone", ctypes.c_void_p),
        ("moments", ctypes.c_void_p),
        ("weight", ctypes.c_void_p),
        ("shape", ctypes.c_int),
        ("prior_share", ctypes.c_double),
        ("scratch", ctypes.c_void_p),
        ("stretches", ctypes.c_int),
        ("stretch", ctypes.c_void_p),
        ("stretch_place", ctypes.c_void_p),
        ("stretch_weight", ctypes.c_void_p),
        ("ring", ctypes.c_void_p),
        ("excess", ctypes.c_void_p),
        ("pull", ctypes.c_void_p),
        ("pull_scale", ctypes.c_double),
        ("pose_weight", ctypes.c_void_p),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = os.environ.get("ARAPLBS_TEST_KERNELS") or compiled(tmp_path_factory.mktemp("kernels"))
    result = ctypes.CDLL(str(path))
    result.arap_kernel_named.restype = ctypes.c_void_p
    result.arap_kernel_name.restype = ctypes.c_char_p
    fields = [name for name, _ in Input._fields_]
    text = (CSRC / "energy/local_kernels.h").read_text()
    declared = text.split("typedef struct arap_kernel_input {")[1].split("} arap_kernel_input;")[0]
    members = re.sub(r"/\*.*?\*/", "", declared, flags=re.S)
    assert re.findall(r"(\w+)\s*;", members) == fields, "the struct of local_kernels.h has changed"
    result.arap_kernel_input_size.restype = ctypes.c_size_t
    assert result.arap_kernel_input_size() == ctypes.sizeof(Input)
    return result


def compiled(folder):
    compiler = os.environ.get("CC") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler, and no ARAPLBS_TEST_KERNELS")
    cached = ["ccache"] if os.environ.get("CCACHE_DIR") else []  # tests/run.sh: it takes 7 s
    flags = [f"-I{CSRC}", "-O3", "-fno-math-errno", "-std=gnu11", "-fPIC", "-w"]
    objects = []
    for name in ("energy/local_kernels", "base/processor", "linalg/rotation"):
        objects.append(folder / f"{Path(name).name}.o")
        command = [*cached, compiler, *flags, "-c", CSRC / f"{name}.c", "-o", objects[-1]]
        subprocess.run(command, check=True)
    path = folder / "kernels.so"
    subprocess.run([compiler, "-shared", *objects, "-lm", "-o", path], check=True)
    return path


def aligned(array, dtype):
    """A copy at a multiple of 64 bytes."""
    array = np.ascontiguousarray(array, dtype)
    raw = np.zeros(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    out = raw[start : start + array.nbytes].view(dtype).reshape(array.shape)
    out[...] = array
    return out


UPPER = np.triu_indices(3)


def run(library, name, double, transforms, used, moments, weights, shape=SOLID, **more):
    """P_b (bones, 4, 3) of one vertex; transforms (poses, all bones, 3, 4), moments (b, 4, 3).

    pull (all bones, 3, lanes), aligned, is added to, times `scale`. stretch: (tensors (poses, all,
    3, 3), weights (all,), ring (3, 3)); then also the excess.
    """
    address = library.arap_kernel_named(name.encode(), int(double))
    if not address:
        pytest.skip(f"this machine does not run {name}")
    kernel = ctypes.CFUNCTYPE(None, ctypes.POINTER(Input), ctypes.c_void_p)(address)
    dtype = np.float64 if double else np.float32
    poses, bones = transforms.shape[:2]
    lanes = -(-poses // LANES) * LANES
    padded = np.zeros((bones, 12, lanes))
    padded[..., :poses] = transforms.reshape(poses, bones, 12).transpose(1, 2, 0)
    held = [
        aligned(padded, dtype),
        aligned(used, np.int32),
        aligned(moments, dtype),
        aligned(weights, np.float64),
        aligned(np.zeros(len(used) * 12 * 64), np.uint8),
    ]
    t, b, m, w, s = (a.ctypes.data for a in held)
    share = 1e-12 if double else 1e-6
    out = np.zeros((len(used), 3, 4))
    given = Input(t, lanes, poses, len(used), b, m, w, shape, share, s)
    if "pull" in more:
        given.pull, given.pull_scale = more["pull"].ctypes.data, more["scale"]
    often = np.zeros(lanes)
    often[:poses] = more.get("pose_weight", 1)
    held.append(often := aligned(often, dtype))
    if "pose_weight" in more:
        given.pose_weight = often.ctypes.data
    if "stretch" not in more:
        kernel(given, out.ctypes.data)
        return out.swapaxes(1, 2)
    tensors, shares, ring = more["stretch"]
    laid_out = np.zeros((len(shares), 6, lanes))
    laid_out[..., :poses] = (tensors - np.eye(3))[:, :, *UPPER].transpose(1, 2, 0)
    held += [
        aligned(laid_out, dtype),
        aligned(np.arange(len(shares)), np.int32),
        aligned(shares, np.float64),
        aligned(ring[UPPER], np.float64),
        aligned(np.zeros(1), np.float64),
    ]
    given.stretches = len(shares)
    given.stretch, given.stretch_place, given.stretch_weight, given.ring, given.excess = (
        array.ctypes.data for array in held[6:]
    )
    kernel(given, out.ctypes.data)
    return out.swapaxes(1, 2), held[-1][0]


def expected_pull(transforms, used, moments, scale):
    """R m_b of every pose (poses, bones, 3), and the sum of tr(R^T cov)."""
    result, alignment = [], 0
    for pose in transforms[:, used]:
        covariance = np.einsum("bij,bjk->ik", pose, moments)
        rotation = reference.rotation_of(covariance)
        alignment += np.sum(rotation * covariance)
        result.append(scale * moments[:, 3] @ rotation.T)
    return np.array(result), alignment


def expected(transforms, used, moments):
    result = np.zeros((len(used), 4, 3))
    for pose in transforms[:, used]:
        rotation = reference.rotation_of(np.einsum("bij,bjk->ik", pose, moments))
        result += np.einsum("bij,ik->bjk", pose, rotation)
    return result


precisions = pytest.mark.parametrize("double", [False, True], ids=["single", "double"])
sets = pytest.mark.parametrize("name", SETS)


@precisions
@sets
@pytest.mark.parametrize("poses", [1, 16, 37, 100])  # and more than a block
def test_pull_of_joints(library, name, double, poses, rng):
    """The values for joints are added to the present ones, and the rest of the output is the
    alignment."""
    used, weights, scale = np.array([4, 0, 3]), np.array([0.5, 0.3, 0.2]), 0.7
    transforms = rng.normal(size=(poses, 6, 3, 4))
    moments = rng.normal(size=(3, 4, 3)) * 0.3
    lanes = -(-poses // LANES) * LANES
    pull = aligned(np.ones((6, 3, lanes)), np.float64 if double else np.float32)
    out = run(
        library, name, double, transforms, used, moments, weights, pull=pull, scale=scale
    )  # fmt: skip
    each, alignment = expected_pull(transforms, used, moments, scale)
    tolerance = 1e-9 if double else 1e-3
    np.testing.assert_allclose(
        pull[used, :, :poses].transpose(2, 0, 1) - 1, each, atol=tolerance * np.abs(each).max()
    )
    np.testing.assert_array_equal(pull[[1, 2, 5]], 1)
    np.testing.assert_array_equal(pull[:, :, poses:], 1)
    assert abs(out[0, 0, 0] - alignment) < tolerance * alignment


@precisions
@sets
@pytest.mark.parametrize("poses", [1, 16, 37, 100])  # and more than a block
def test_against_the_svd(library, name, double, poses, rng):
    used, weights = np.array([4, 0, 3]), np.array([0.5, 0.3, 0.2])
    worst = 0
    for _ in range(20):
        transforms = rng.normal(size=(poses, 6, 3, 4)) * 0.3
        turns = 0.5 * rng.normal(size=(poses, 6, 3))
        for p, b in np.ndindex(poses, 6):
            transforms[p, b, :, :3] = shapes.rotation(turns[p, b], np.linalg.norm(turns[p, b]))
        moments = rng.normal(size=(3, 4, 3)) * 0.03
        moments[:, :3] += weights[:, None, None] * np.diag(rng.uniform(0.3, 1, 3))
        got = run(library, name, double, transforms, used, moments, weights)
        worst = max(worst, np.abs(got - expected(transforms, used, moments)).max() / poses)
    assert worst < (1e-12 if double else 1e-5)


@precisions
@sets
@pytest.mark.parametrize("poses", [1, 16, 37, 100])  # and more than a block
@pytest.mark.parametrize("pulled", [False, True])
def test_weights_of_poses(library, name, double, poses, pulled, rng):
    """Sums over poses are weighted. The values of each pose for joints are not."""
    used, weights = np.array([4, 0, 3]), np.array([0.5, 0.3, 0.2])
    transforms = rng.normal(size=(poses, 6, 3, 4))
    moments = rng.normal(size=(3, 4, 3)) * 0.3
    often = rng.uniform(0, 3, poses)
    lanes = -(-poses // LANES) * LANES
    pull = aligned(np.zeros((6, 3, lanes)), np.float64 if double else np.float32)
    more = {"pull": pull, "scale": 1.0} if pulled else {}
    got = run(
        library, name, double, transforms, used, moments, weights, pose_weight=often, **more
    )  # fmt: skip
    tolerance = 1e-9 if double else 1e-3
    if not pulled:
        each = [expected(pose[None], used, moments) for pose in transforms]
        np.testing.assert_allclose(
            got, np.tensordot(often, each, 1), atol=tolerance * np.abs(each).max() * poses
        )
        return
    alone = [expected_pull(pose[None], used, moments, 1.0) for pose in transforms]
    each = np.array([pull[0] for pull, _ in alone])
    np.testing.assert_allclose(
        pull[used, :, :poses].transpose(2, 0, 1), each, atol=tolerance * np.abs(each).max()
    )
    alignment = often @ [a for _, a in alone]
    assert abs(got[0, 0, 0] - alignment) < tolerance * alignment


@precisions
@sets
@pytest.mark.parametrize("flatness", [1, 1e-1, 1e-2, 1e-3, 1e-5, 1e-8, 0])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_rings_that_leave_the_rotation_open(library, name, double, rank, flatness, rng):
    """The trace of R^T cov is the largest possible, however flat the ring; of all rotations that
    reach it, the one nearest to the bones' is used."""
    poses = 37
    transforms = np.zeros((poses, 1, 3, 4))
    transforms[:, 0, :, :3] = shapes.random_rotations(rng, poses)
    stretched = transforms.copy()
    stretched[:, 0, :, :3] @= np.eye(3) + 0.2 * rng.normal(size=(poses, 3, 3))
    bone, weight = np.array([0]), np.array([1.0])
    for _ in range(10):
        frame = shapes.random_rotations(rng, 1)[0]
        sizes = np.where(np.arange(3) < rank, rng.uniform(0.5, 1, 3), flatness)
        moment = np.zeros((1, 4, 3))
        moment[0, :3] = frame @ np.diag(sizes) @ frame.T
        got = run(library, name, double, stretched, bone, moment, weight)
        cov = stretched[:, 0, :, :3] @ moment[0, :3]
        best = np.linalg.svd(cov, compute_uv=False) @ [1, 1, 1]
        best -= 2 * np.linalg.svd(cov, compute_uv=False)[:, 2] * (np.linalg.det(cov) < 0)
        tolerance = (1e-11 if double else 1e-5) * poses
        assert np.sum(got[0] * moment[0]) == pytest.approx(best.sum(), abs=tolerance)
        got = run(library, name, double, transforms, bone, moment, weight)
        slack = np.abs(got[0, :3] / poses - np.eye(3)).max()
        assert slack < (1e-4 if double else 0.01)


@precisions
@sets
@pytest.mark.parametrize("gap", [1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-6, 0])
@pytest.mark.parametrize("middle", [0.9, 0.5, 0.2, 0.05, 0.01])
def test_rings_turned_inside_out(library, name, double, middle, gap, rng):
    """A covariance with the singular values 1, m, gap - m: the result is a proper rotation, and
    none is better."""
    bone, weight, rest = np.array([0]), np.array([1.0]), np.eye(3, 4)[None, None]
    tolerance = 1e-11 if double else 1e-5
    for _ in range(5):
        left, right = shapes.random_rotations(rng, 2)
        moment = np.zeros((1, 4, 3))
        moment[0, :3] = left @ np.diag([1, middle, min(gap - middle, middle)]) @ right
        rotation = run(library, name, double, rest, bone, moment, weight)[0, :3]
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=tolerance)
        assert np.linalg.det(rotation) == pytest.approx(1, abs=tolerance)
        best = 1 + middle + min(gap - middle, middle)
        assert np.sum(rotation * moment[0, :3]) == pytest.approx(best, abs=tolerance)


def test_the_widest_is_the_one_in_use(library):
    assert library.arap_kernel_name().decode() == araplbs.simd
    assert araplbs.simd == next(n for n in SETS if library.arap_kernel_named(n.encode(), 0))


def test_unknown_names_are_refused(library):
    assert not library.arap_kernel_named(b"neon", 0)


@precisions
@sets
def test_parallel_edges(library, name, double, rng):
    """Only the direction of the edges matters, and it is the same as with the rotations."""
    edge = rng.normal(size=3)
    used, weights = np.array([0, 2]), np.array([0.6, 0.4])
    transforms = rng.normal(size=(20, 3, 3, 4)) * 0.3
    transforms[..., :3] += shapes.random_rotations(rng, 20, 3)
    moments = rng.normal(size=(2, 4, 1)) * edge
    moments /= np.sqrt(np.einsum("pbij,bjk->pik", transforms[:, used], moments) ** 2).mean() * 3
    arguments = (library, name, double, transforms, used, moments, weights)
    rotated, short = run(*arguments), run(*arguments, shape=LINE)
    tolerance = 1e-10 if double else 2e-4
    np.testing.assert_allclose(short @ edge, rotated @ edge, atol=tolerance * np.abs(rotated).max())


@precisions
@sets
@pytest.mark.parametrize("across", [(1e-2, 3e-3), (1e-2, 0), (1e-4, 1e-5)])
def test_thin_rings(library, name, double, across, rng):
    """The best rotations, even if single precision distinguishes the columns of cov only in these
    axes."""
    poses, used, weights = 37, np.array([2, 0]), np.array([0.6, 0.4])
    transforms = rng.normal(size=(poses, 3, 3, 4)) * 0.1
    transforms[..., :3] += shapes.random_rotations(rng, poses, 3)
    moments = rng.normal(size=(2, 4, 3))
    moments[:, 0, 0] += 3
    moments *= (0.3, *across)
    got = run(library, name, double, transforms, used, moments, weights, THIN)
    best = np.array(
        [reference.rotation_of(c) for c in np.einsum("pbij,bjk->pik", transforms[:, used], moments)]
    )
    tolerance = (1e-8 if double else 1e-4) * poses
    np.testing.assert_allclose(
        got, np.einsum("pbij,pik->bjk", transforms[:, used], best), atol=tolerance
    )


@precisions
@sets
def test_wires_are_the_same_by_both_ways(library, name, double, rng):
    """Nearly straight rings, computed in axes of their own and like any other ring in exact
    arithmetic."""
    edges = np.array([[1, 0.02, 0], [-1, 0.01, 0.03], [0.98, 0, -0.02]])
    points = rng.normal(size=(2, 3, 4))
    transforms = rng.normal(size=(21, 2, 3, 4)) * 0.05
    transforms[..., :3] += shapes.random_rotations(rng, 21, 2)
    moments = np.einsum("bek,ej->bkj", points, edges) / 3
    axes = np.linalg.svd(edges)[2]
    axes[2] *= np.linalg.det(axes)
    arguments = (library, name, double, transforms, np.array([0, 1]))
    any_ring = run(*arguments, moments, np.zeros(2))
    thin = run(*arguments, moments @ axes.T, np.zeros(2), THIN) @ axes
    tolerance = 1e-7 if double else 2e-2  # the other way's noise of the twist
    np.testing.assert_allclose(thin, any_ring, atol=tolerance * np.abs(any_ring).max())


@precisions
@sets
@pytest.mark.parametrize("line", [False, True])
def test_stretched_rings(library, name, double, line, rng):
    """The result is R U instead of R, where R is the best rotation for cov U; for parallel edges,
    it is the direction in which R U moves them."""
    poses, used, weights = 21, np.array([1, 0]), np.array([0.7, 0.3])
    transforms = rng.normal(size=(poses, 2, 3, 4)) * 0.3
    transforms[..., :3] += shapes.random_rotations(rng, poses, 2)
    root = np.eye(3) + 0.3 * rng.normal(size=(poses, 2, 3, 3))
    tensors = root @ root.transpose(0, 1, 3, 2)
    edge = rng.normal(size=3)
    edge /= np.linalg.norm(edge)
    moments = rng.normal(size=(2, 4, 3)) * 0.1
    moments[:, :3] += weights[:, None, None] * np.eye(3)
    ring = moments[0, :3] @ moments[0, :3].T
    if line:
        moments = rng.normal(size=(2, 4, 1)) * edge
        ring = np.outer(edge, edge)
    ring /= np.trace(ring)
    got, excess = run(
        library, name, double, transforms, used, moments, weights, LINE if line else SOLID,
        stretch=(tensors, weights, ring),
    )  # fmt: skip
    result, more = np.zeros((2, 4, 3)), 0
    for pose, own in zip(transforms[:, used], tensors, strict=True):
        u = np.eye(3) + np.einsum("b,bij->ij", weights, own - np.eye(3))
        cov = np.einsum("bij,bjk->ik", pose, moments)
        if line:
            goes = cov @ edge / np.linalg.norm(cov @ edge) * np.linalg.norm(u @ edge)
            best = np.outer(goes, edge)
        else:
            best = reference.rotation_of(cov @ u) @ u
        result += np.einsum("bij,ik->bjk", pose, best)
        more += np.trace((u @ u - np.eye(3)) @ ring)
    tolerance = (1e-11 if double else 2e-4) * poses
    np.testing.assert_allclose(got, result, atol=tolerance)
    assert excess == pytest.approx(more, abs=tolerance)
