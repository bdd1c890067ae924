"""Computes positions along bones, which the engine diffuses over a mesh in a thread."""

from collections.abc import Sequence

import numpy as np

from ...base.arrays import Floats
from ...base.engine import engine, engine_errors
from ...base.refusal import Refused
from ...base.steps import Steps
from ...base.worker import work_in_steps
from ...character.mesh import Mesh
from ...character.problem import Problem
from ...skeleton.poses import RIGID
from ...skeleton.skeleton import Skeleton


def diffused_parameters_in_steps(
    mesh: Mesh, skeleton: Skeleton, names: Sequence[str]
) -> Steps[dict[str, Floats]]:
    """Returns {bone: (n,) u} for these deform bones, where u is 0 at the head and 1 at the tail, as
    a generator of short steps. Raises Refused if the engine refuses the input."""
    arguments = Problem([mesh], skeleton).arguments
    try:
        found = yield from work_in_steps(
            lambda _progress: engine.diffuse_parameters(
                arguments["vertices"],
                arguments["triangles"],
                skeleton.heads,
                skeleton.tails,
                skeleton.parents,
                bone_deform=skeleton.deform,
                bone_kinds=["spine" if name in names else RIGID for name in skeleton.names],
                edges=arguments["edges"],
            )
        )
    except (ValueError, *engine_errors("SolverError")) as error:  # type: ignore[misc]
        raise Refused(f"'{mesh.name}': {error}") from error
    return {name: np.array(found[:, skeleton.names.index(name)]) for name in names}
