"""Computes quantities that several weight checks use."""

import numpy as np

from ...base.arrays import Floats


def ramp(value: float, limits: tuple[float, float], least: float = 0.2) -> float:
    """Maps a value to a severity: `least` at the first limit, 1 at the second."""
    first, last = limits
    return float(np.clip(least + (1 - least) * (value - first) / (last - first), 0, 1))


def counted(count: int) -> str:
    return "1 vertex" if count == 1 else f"{count:,} vertices"


def factors(rest: Floats, posed: Floats) -> tuple[Floats, Floats]:
    """The largest and smallest stretch factors, (p, f), of triangles with corners (f, 3, 3) at rest
    and (p, f, 3, 3) when posed."""
    e, f = rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0]
    base = np.linalg.norm(e, axis=1)
    along = (e * f).sum(1) / base
    height = np.linalg.norm(f - (along / base)[:, None] * e, axis=1)
    x = (posed[:, :, 1] - posed[:, :, 0]) / base[:, None]
    y = (posed[:, :, 2] - posed[:, :, 0] - along[:, None] * x) / height[:, None]
    xx, yy, xy = (x * x).sum(-1), (y * y).sum(-1), (x * y).sum(-1)
    mean, root = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
    return np.sqrt(mean + root), np.sqrt(np.maximum(mean - root, 0))
