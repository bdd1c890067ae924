"""Compares our weights with Blender's own, on the same character in the same process. The extension
must be installed (install_extension)."""

import importlib
import os
import re
import time
from dataclasses import dataclass

import bpy
import numpy as np

UNSEEN_POSES, UNSEEN_SEED = 100, 20_180_101  # poses that no optimization has seen
EXTENSION = "bl_ext.user_default.araplbs"


def install_extension(zip_path):
    """Install and enable the extension for this user of Blender."""
    bpy.ops.extensions.package_install_files(
        repo="user_default", filepath=os.path.abspath(zip_path), enable_on_install=True
    )
    if EXTENSION not in bpy.context.preferences.addons:
        raise RuntimeError(f"{zip_path} was not installed and enabled")


def part(name):
    """Import a module of the installed extension."""
    return importlib.import_module(f"{EXTENSION}.{name}")


def package(name):
    """Import a module of the package araplbs, which comes in the extension's wheel."""
    return importlib.import_module(f"araplbs.{name}")


@dataclass
class Outcome:
    """The outcome of one method of weighting a character."""

    name: str
    seconds: float
    rows: object  # weights of all meshes (start, bones, weights)
    energy: float | None = None  # relative, in unseen poses
    worst_stretch: float | None = None  # 99th percentile over the vertices, in the same poses
    animation_energy: float | None = None
    # Entries of a report in unseen poses and in the animation (araplbs/measures/deformation.py).
    deformation: dict | None = None
    animation_deformation: dict | None = None
    unweighted: int = 0
    most_influences: int = 0
    mean_influences: float = 0.0
    bad_sums: int = 0  # vertices whose weights do not sum to 1
    processor_seconds: float = 0.0  # of all threads, and of the system
    peak_bytes: int = 0  # of the process
    more_bytes: int = 0  # beyond the memory before
    report: dict | None = None

    def as_dict(self):
        kept = (
            *("seconds", "processor_seconds", "energy", "worst_stretch", "animation_energy"),
            *("deformation", "animation_deformation"),
            *("unweighted", "most_influences", "mean_influences", "bad_sums"),
        )
        result = {key: getattr(self, key) for key in kept}
        result["peak_mib"] = round(self.peak_bytes / 2**20, 1)
        return {**result, "more_mib": round(self.more_bytes / 2**20, 1)}


def measured(name, work):
    """Return the Outcome of this function, without weights, and its return value."""
    before = resident()
    reset_peak()
    start, processor = time.perf_counter(), time.process_time()
    result = work()
    seconds = {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - processor,
    }
    most = peak()
    more = max(0, most - before)
    return Outcome(name, rows=None, **seconds, peak_bytes=most, more_bytes=more), result


def select(armature, meshes):
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in meshes or ob == armature)
    bpy.context.view_layer.objects.active = armature


def copies_of(meshes):
    """Create unbound copies of mesh objects, without vertex groups, at the same positions in the
    world."""
    result = []
    for ob in meshes:
        copy = ob.copy()
        copy.data = ob.data.copy()
        copy.parent = None
        copy.matrix_world = ob.matrix_world
        for modifier in [m for m in copy.modifiers if m.type == "ARMATURE"]:
            copy.modifiers.remove(modifier)
        copy.vertex_groups.clear()
        ob.users_collection[0].objects.link(copy)
        result.append(copy)
    bpy.context.view_layer.update()
    return result


def remove(objects):
    for ob in objects:
        data = ob.data
        bpy.data.objects.remove(ob)
        if not data.users:
            kind = bpy.data.meshes if isinstance(data, bpy.types.Mesh) else bpy.data.armatures
            kind.remove(data)


def open_largest(file):
    """Open a file and return (armature, meshes) of the character with the most vertices."""
    bpy.ops.wm.open_mainfile(filepath=str(file))
    targets = part("blender.read.targets").find_in_file(bpy.context.view_layer)
    largest = max(targets, key=lambda each: sum(len(ob.data.vertices) for ob in each.meshes))
    return largest.armature, largest.meshes


def animation_poses(armature, frames=60):
    """Return the poses (p, m, 3, 4) of all actions of the armature, or None."""
    skeleton = part("blender.read.read_armature").read_armature(armature, False)
    read = part("blender.poses.read_poses").read_poses
    try:
        return read(armature, skeleton, "ALL", frames, bpy.context.view_layer).transforms
    except package("base.refusal").Refused:  # there is no action
        return None


class Character:
    """An armature with its meshes as arrays in armature space, and the poses for the evaluation."""

    def __init__(self, armature, meshes, threads=0):
        import araplbs

        targets = part("blender.read.targets").Targets(armature, meshes)
        options = package("model.options").Options()
        self.threads = threads
        self.armature, self.meshes = armature, meshes
        self.task = part("weighting").WeightingTask(options, threads)
        self.task.read(targets, bpy.context.view_layer)
        self.skeleton = self.task.problem.skeleton
        arguments = self.task.problem.arguments
        self.vertices, self.triangles = arguments["vertices"], arguments["triangles"]
        self.edges = arguments["edges"]
        s = self.skeleton
        self.poses = araplbs.sample_poses(
            s.heads, s.tails, s.parents, UNSEEN_POSES, bone_roll_axes=s.roll_axes,
            bone_deform=s.deform, bone_limits=s.limits, seed=UNSEEN_SEED,
        )  # fmt: skip
        self.animation = animation_poses(armature)

    def present_rows(self, meshes):
        read = part("blender.read.read_mesh").present_weights
        return package("model.sparse_weights").join_sparse_weights(
            [read(ob, self.skeleton) for ob in meshes]
        )

    def energy(self, rows, poses, per_vertex=False):
        import araplbs

        return araplbs.energy(
            self.vertices, self.triangles, tuple(rows), poses, edges=self.edges,
            per_vertex=per_vertex, threads=self.threads,
        )  # fmt: skip

    def measures(self, rows, poses, **wanted):
        """Return the result of araplbs.deformation for these weights."""
        import araplbs

        s = self.skeleton
        return araplbs.deformation(
            self.vertices, self.triangles, tuple(rows), poses, s.heads, s.tails,
            bone_deform=s.deform, threads=self.threads, **wanted,
        )  # fmt: skip

    def deformation(self, rows, poses):
        """Return the entry for a report."""
        as_report = package("measures.deformation").as_report
        return as_report(self.skeleton, self.measures(rows, poses))

    def judge(self, outcome):
        rows = outcome.rows
        sums = rows.sums()
        counts = np.bincount(rows.vertices[rows.weights > 0], minlength=rows.count)
        outcome.unweighted = int((sums <= 0).sum())
        outcome.most_influences = int(counts.max(initial=0))
        outcome.mean_influences = float(counts.mean())
        outcome.bad_sums = int((np.abs(sums - 1) > 1e-4).sum())
        if outcome.unweighted < rows.count:
            outcome.energy, local = self.energy(rows, self.poses, per_vertex=True)
            outcome.worst_stretch = float(np.percentile(np.sqrt(local), 99))
            outcome.deformation = self.deformation(rows, self.poses)
            if self.animation is not None:
                outcome.animation_energy = self.energy(rows, self.animation)
                outcome.animation_deformation = self.deformation(rows, self.animation)
        return outcome


def blender_weights(character, limit=0, kind="ARMATURE_AUTO"):
    """Return (Outcome of Blender's automatic weights on copies, the copies). limit: influences per
    vertex, enforced by Blender's own operators. kind: the kind of parenting."""
    copies = copies_of(character.meshes)
    select(character.armature, copies)
    outcome, _done = measured("Blender", lambda: bpy.ops.object.parent_set(type=kind))
    if limit:
        for ob in copies:
            if not any(vertex.groups for vertex in ob.data.vertices):
                continue
            bpy.context.view_layer.objects.active = ob
            bpy.ops.object.vertex_group_limit_total(group_select_mode="ALL", limit=limit)
            bpy.ops.object.vertex_group_normalize_all(group_select_mode="ALL", lock_active=False)
    outcome.rows = character.present_rows(copies)
    return character.judge(outcome), copies


def our_weights(character, **options):
    """Return (Outcome of the operator on copies, the copies)."""
    copies = copies_of(character.meshes)
    select(character.armature, copies)
    press = bpy.ops.object.araplbs_auto_weight
    outcome, result = measured("ours", lambda: press("EXEC_DEFAULT", **options))
    if result != {"FINISHED"}:
        raise RuntimeError(f"the operator ended with {result}")
    outcome.rows = character.present_rows(copies)
    return character.judge(outcome), copies


def solve_again(character, **options):
    """Return the engine's own report for these options: stages, iterations, energies."""
    task = character.task
    task.options = package("model.options").Options(**options)
    task.solve()
    return task.solution.report


def reset_peak():
    """Restart the measurement of peak(), if the system supports it."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


def peak():
    """Return the peak resident memory of the process in bytes since reset_peak(), or 0 if
    unknown."""
    return _status("VmHWM")


def resident():
    """Return the resident memory of the process in bytes, or 0 if unknown."""
    return _status("VmRSS")


def _status(entry):
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            found = re.search(rf"{entry}:\s+(\d+) kB", file.read())
    except OSError:
        return 0
    return 1024 * int(found.group(1)) if found else 0
