"""Present weights as game engines store them: read, quantize, write."""

import numpy as np

from ..blender.engine_limits import read_limits
from ..blender.read_armature import read_armature
from ..blender.read_mesh import locked_bones, present_weights, refuse_mesh
from ..blender.references import Reference
from ..blender.write_weights import write_weights
from ..core.quantize import STEPS, quantize
from ..core.refusal import Refused
from ..core.report import names_in_line


class QuantizeTask:
    """Until apply() nothing in Blender's data is changed. warnings: for people."""

    def __init__(self, options, _threads=0):
        self.options = options

    def read(self, targets, _view_layer):
        """Raises Refused when weights cannot be changed, or there are none."""
        self.warnings = list(targets.skipped)
        self.armature = targets.armature.name
        self.skeleton = read_armature(targets.armature, False)
        self.found = [(ob, *self._read(ob)) for ob in targets.meshes]
        if not any(rows.sums().any() for _ob, rows, _limits in self.found):
            names = names_in_line([f"'{ob.name}'" for ob in targets.meshes])
            raise Refused(f"No vertex of {names} has weights of deform bones")

    def _read(self, ob):
        refuse_mesh(ob)
        locked = locked_bones(ob, self.skeleton)
        if locked.any():
            names = names_in_line([self.skeleton.names[b] for b in np.flatnonzero(locked)])
            raise Refused(f"'{ob.name}' has locked vertex groups, unlock them first: {names}")
        rows = present_weights(ob, self.skeleton)
        if not np.isfinite(rows.weights).all():
            bad = rows.vertices[~np.isfinite(rows.weights)][0]
            raise Refused(f"'{ob.name}' has a weight that is not finite, at vertex {bad}")
        bare = int(np.count_nonzero(rows.sums() <= 0))
        if bare:
            which = "1 vertex has" if bare == 1 else f"{bare} vertices have"
            self.warnings.append(
                f"'{ob.name}': {which} no weights, for which exporters add a bone: "
                "Weight Only What Is New gives them some"
            )
        return rows, read_limits(ob, self.options.limit)

    def solve(self, progress=None):
        """Quantizes; keeps the rows of each mesh."""
        self.rows = []
        for count, (_ob, rows, limits) in enumerate(self.found):
            if progress:
                progress("quantization", count / len(self.found), None)
            self.rows.append(
                quantize(rows, STEPS[self.options.bits], limits, self.options.threshold)
            )
        self.found = [(Reference.to(ob), rows) for ob, rows, _limits in self.found]

    def apply(self):
        """Writes the weights; the report. Raises Refused when objects were changed meanwhile."""
        objects = [reference.get() for reference, _rows in self.found]
        names, bones = self.skeleton.names, self.skeleton.deform
        told = []
        for ob, (_reference, before), rows in zip(objects, self.found, self.rows, strict=True):
            done = write_weights(
                ob, rows, names, np.zeros(len(bones), bool), bones, np.ones(rows.count, bool)
            )
            told.append(
                {
                    "name": ob.name,
                    "vertices": rows.count,
                    **done,
                    "most_influences": int(np.diff(rows.start).max()),
                    "largest_change": _largest_change(before, rows),
                }
            )
        return {"armature": self.armature, "objects": told, "options": self.options.as_dict()}


def _largest_change(before, after):
    """Of any weight."""
    stride = 1 + max(int(rows.bones.max(initial=0)) for rows in (before, after))
    keys = np.concatenate([rows.vertices * stride + rows.bones for rows in (before, after)])
    signed = np.concatenate([-before.weights, after.weights])
    _keys, where = np.unique(keys, return_inverse=True)
    return float(np.abs(np.bincount(where.reshape(-1), signed)).max(initial=0))
