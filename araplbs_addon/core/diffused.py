"""Places along bones that flow along a mesh, found by the engine in a thread."""

import numpy as np

from .errors import Refused
from .native_module import araplbs
from .poses import RIGID
from .problem import Problem
from .worker import Worker

WAIT = 0.01  # seconds of a step


def diffused_parameters_in_steps(mesh, skeleton, names):
    """{bone: (n,) u} of these deform bones, 0 at the head and 1 at the tail, as a generator of
    short steps. Raises Refused when the engine does."""
    arguments = Problem([mesh], skeleton).arguments
    found = []

    def work(_progress):
        found.append(
            araplbs.diffuse_parameters(
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

    worker = Worker(work)
    while worker.running:
        worker.join(WAIT)
        yield
    if isinstance(worker.error, (ValueError, araplbs.SolverError)):
        raise Refused(f"'{mesh.name}': {worker.error}") from worker.error
    if worker.error:
        raise worker.error
    return {name: np.array(found[0][:, skeleton.names.index(name)]) for name in names}
