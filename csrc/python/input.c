/* Converts Python arguments to the structures of arap.h: see python/input.h. The cost is a copy of
 * the arrays. Fails with an exception that names the argument. All functions need the GIL. */
#include "python/input.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

int arap_geometry_from_inputs(const arap_inputs *in, arap_geometry *geometry) {
    npy_intp n = arap_input_size(in, 'n');
    if (n > INT_MAX / 4) {
        PyErr_Format(PyExc_ValueError, "%zd vertices are too many", n);
        return -1;
    }
    *geometry = (arap_geometry){.vertex_count = (int)n,
                                .vertices = in->vertices,
                                .triangle_count = (size_t)arap_input_size(in, 'f'),
                                .triangles = in->triangles,
                                .edge_count = (size_t)arap_input_size(in, 'e'),
                                .edges = in->edges,
                                .tet_count = (size_t)arap_input_size(in, 't'),
                                .tets = in->tets};
    return 0;
}

/* The kind that the item names, or -1 with an exception. */
static int read_kind(PyObject *item, npy_intp bone) {
    static const char *const names[] = {"rigid", "stb", "spine", "bendy"};
    if (!item || !PyUnicode_Check(item)) {
        if (item)
            PyErr_Format(PyExc_TypeError, "bone_kinds[%zd] is %R: must be a string", bone, item);
        return -1;
    }
    for (int kind = 0; kind < 4; kind++)
        if (!PyUnicode_CompareWithASCIIString(item, names[kind])) return kind;
    PyErr_Format(PyExc_ValueError,
                 "bone_kinds[%zd] is '%U': must be 'rigid', 'stb', 'spine' or 'bendy'", bone, item);
    return -1;
}

static int take_kinds(arap_inputs *in, arap_bones *bones) {
    npy_intp m = bones->count;
    PyObject *kinds = in->bone_kinds;
    if (!kinds) return 0;
    if (PyUnicode_Check(kinds) || !PySequence_Check(kinds)) {
        PyErr_Format(PyExc_TypeError, "bone_kinds is %R, expected a sequence of strings", kinds);
        return -1;
    }
    Py_ssize_t count = PySequence_Size(kinds);
    if (count != m) {
        if (count >= 0)
            PyErr_Format(PyExc_ValueError, "bone_kinds has %zd entries, expected %zd", count, m);
        return -1;
    }
    char *to = arap_hold(&in->arrays, PyArray_SimpleNew(1, &m, NPY_BYTE));
    if (!to) return -1;
    for (npy_intp b = 0; b < m; b++) {
        PyObject *item = PySequence_GetItem(kinds, b);
        int kind = read_kind(item, b);
        Py_XDECREF(item);
        if (kind < 0) return -1;
        to[b] = (char)kind;
    }
    bones->kinds = to;
    return 0;
}

static int refuse_many(npy_intp bones) {
    if (bones <= 32768) return 0;
    PyErr_Format(PyExc_ValueError, "%zd bones are too many", bones);
    return -1;
}

int arap_bones_from_inputs(arap_inputs *in, arap_bones *bones) {
    npy_intp m = arap_input_size(in, 'm');
    if (refuse_many(m)) return -1;
    *bones = (arap_bones){.count = (int)m,
                          .heads = in->bone_heads,
                          .tails = in->bone_tails,
                          .ways = in->bone_ways,
                          .parents = in->bone_parents,
                          .roll_axes = in->bone_roll_axes,
                          .deform = in->bone_deform,
                          .limits = in->bone_limits,
                          .ranges = in->bone_ranges,
                          .stretch = in->bone_stretch,
                          .segments = in->bone_segments};
    return take_kinds(in, bones);
}

int arap_poses_from_inputs(arap_inputs *in, const arap_bones *bones, arap_given_poses *poses) {
    *poses = (arap_given_poses){.count = (int)arap_input_size(in, 'p'),
                                .transforms = in->poses,
                                .bends = in->bends,
                                .parameters = in->parameters,
                                .weights = in->pose_weights};
    if (!in->segment_poses) return 0;
    arap_shape shape = {2, {poses->count, arap_joint_count(bones)}};
    poses->joints =
        arap_transforms(&in->arrays, in->segment_poses, "segment_poses", "joint", &shape);
    return poses->joints ? 0 : -1;
}

int arap_some_poses_from_inputs(arap_inputs *in, const arap_bones *bones, arap_given_poses *poses) {
    if ((in->bends || in->segment_poses) && !bones->kinds) {
        PyErr_Format(PyExc_TypeError, "%s needs bone_kinds", in->bends ? "bends" : "segment_poses");
        return -1;
    }
    if (arap_poses_from_inputs(in, bones, poses)) return -1;
    if (poses->count) return 0;
    PyErr_SetString(PyExc_ValueError, "there are no poses");
    return -1;
}

const double *arap_posed_from_inputs(arap_inputs *in, int one_pose, npy_intp *poses) {
    npy_intp n = arap_input_size(in, 'n');
    arap_shape one = {2, {n, 3}}, some = {3, {-1, n, 3}};
    PyObject *array = one_pose ? PyArray_FROM_O(in->posed) : NULL;
    if (PyErr_Occurred()) return NULL;
    int is_one = array && PyArray_NDIM((PyArrayObject *)array) == 2;
    Py_XDECREF(array);
    const double *points = arap_doubles(&in->arrays, in->posed, "posed", is_one ? &one : &some);
    *poses = is_one ? 1 : some.size[0];
    if (!points || *poses) return points;
    PyErr_SetString(PyExc_ValueError, "there are no poses");
    return NULL;
}

/* Convert a dense (vertices, bones) array to rows. It determines the number of bones if nothing
 * else has. */
static int dense_rows(arap_inputs *in, arap_sparse_weights *rows) {
    npy_intp *said = &in->size['m' - 'a'], vertices = arap_input_size(in, 'n');
    arap_shape shape = {2, {vertices, *said}};
    arap_arrays *arrays = &in->arrays;
    const double *dense = arap_doubles(arrays, in->weights, "weights", &shape);
    if (!dense) return -1;
    npy_intp count = 0, bones = *said = shape.size[1];
    for (npy_intp i = 0; i < vertices * bones; i++) count += dense[i] != 0;
    npy_intp starts = vertices + 1;
    long long *start = arap_hold(arrays, PyArray_SimpleNew(1, &starts, NPY_LONGLONG)), fill = 0;
    int *bone = start ? arap_hold(arrays, PyArray_SimpleNew(1, &count, NPY_INT)) : NULL;
    double *weight = bone ? arap_hold(arrays, PyArray_SimpleNew(1, &count, NPY_DOUBLE)) : NULL;
    if (!weight) return -1;
    for (npy_intp i = 0; i < vertices; i++) {
        start[i] = fill;
        for (npy_intp b = 0; b < bones; b++) {
            if (dense[i * bones + b] == 0) continue;
            bone[fill] = (int)b;
            weight[fill++] = dense[i * bones + b];
        }
    }
    start[vertices] = fill;
    *rows = (arap_sparse_weights){start, bone, weight};
    return 0;
}

static int sparse_rows(arap_arrays *arrays, PyObject *argument, npy_intp vertices,
                       arap_sparse_weights *rows) {
    PyObject *part[3];
    if (PyTuple_Size(argument) != 3) {
        PyErr_Format(PyExc_ValueError,
                     "weights is a tuple of %zd, expected (start, bones, weights)",
                     PyTuple_Size(argument));
        return -1;
    }
    for (int i = 0; i < 3; i++) part[i] = PyTuple_GetItem(argument, i);
    arap_shape start = {1, {vertices + 1}}, bone = {1, {-1}};
    rows->start = arap_longs(arrays, part[0], "weights[0]", &start);
    if (rows->start) rows->bone = arap_ints(arrays, part[1], "weights[1]", &bone);
    if (rows->bone) rows->weight = arap_doubles(arrays, part[2], "weights[2]", &bone);
    if (!rows->start || !rows->bone || !rows->weight) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "weights must be three arrays, not None");
        return -1;
    }
    int ascending = rows->start[0] == 0 && rows->start[vertices] == bone.size[0];
    for (npy_intp i = 0; i < vertices; i++) ascending &= rows->start[i] <= rows->start[i + 1];
    if (!ascending) {
        PyErr_Format(PyExc_ValueError,
                     "weights[0] must ascend from 0 to %zd, the number of weights", bone.size[0]);
        return -1;
    }
    return 0;
}

int arap_sparse_weights_from_inputs(arap_inputs *in, arap_sparse_weights *rows) {
    npy_intp n = arap_input_size(in, 'n');
    *rows = (arap_sparse_weights){0};
    if (!in->weights) return 0;
    return PyTuple_Check(in->weights) ? sparse_rows(&in->arrays, in->weights, n, rows)
                                      : dense_rows(in, rows);
}

int arap_bones_of_weights(const arap_inputs *in, const arap_sparse_weights *rows,
                          arap_bones *bones) {
    npy_intp n = arap_input_size(in, 'n'), count = arap_input_size(in, 'm');
    for (long long e = 0; PyTuple_Check(in->weights) && e < rows->start[n]; e++)
        if (rows->bone[e] >= count) count = (npy_intp)rows->bone[e] + 1;
    if (refuse_many(count)) return -1;
    *bones = (arap_bones){.count = (int)count};
    return 0;
}

/* Convert the parts of a tuple to one-dimensional arrays of `types`, "i": ints, "d": doubles, "b":
 * booleans. sizes: those of the arrays; -1: any, or that of the first array, which is returned.
 * Returns 0 without parts for None, and -1 with an exception. */
static npy_intp take_tuple(arap_inputs *in, PyObject *argument, const char *name, const char *form,
                           const char *types, npy_intp *sizes, const void **parts) {
    int count = (int)strlen(types), missing = 0;
    memset(parts, 0, (size_t)count * sizeof *parts);
    if (!argument || argument == Py_None) return 0;
    if (!PyTuple_Check(argument) || PyTuple_Size(argument) != count) {
        PyErr_Format(PyExc_TypeError, "%s must be a tuple %s", name, form);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        char label[32];
        arap_shape shape = {1, {sizes[i] < 0 ? sizes[0] : sizes[i]}};
        PyObject *part = PyTuple_GetItem(argument, i);
        snprintf(label, sizeof label, "%s[%d]", name, i);
        if (types[i] == 'i')
            parts[i] = arap_ints(&in->arrays, part, label, &shape);
        else if (types[i] == 'b')
            parts[i] = arap_bools(&in->arrays, part, label, &shape);
        else
            parts[i] = arap_doubles(&in->arrays, part, label, &shape);
        if (PyErr_Occurred()) return -1;
        sizes[i] = shape.size[0];
        missing |= !parts[i];
    }
    if (!missing) return sizes[0];
    PyErr_Format(PyExc_TypeError, "%s must be %s arrays, not None", name,
                 count > 2 ? "three" : "two");
    return -1;
}

/* Convert a tuple of arrays of equal length, and set this length. */
static int take_list(arap_inputs *in, PyObject *argument, const char *name, const char *form,
                     const char *types, int *length, const void **parts) {
    npy_intp count = take_tuple(in, argument, name, form, types, (npy_intp[]){-1, -1, -1}, parts);
    *length = (int)count;
    return count < 0 ? -1 : 0;
}

int arap_edits_from_inputs(arap_inputs *in, arap_edits *edits) {
    const void *constraints[3], *influences[3], *smoothed[2], *released[2];
    *edits = (arap_edits){.rigid_parts = in->rigid_parts};
    if (take_list(in, in->constraints, "constraints", "(vertices, bones, targets)", "iid",
                  &edits->constraint_count, constraints) ||
        take_list(in, in->influences, "influences", "(vertices, bones, allowed)", "iib",
                  &edits->influence_count, influences) ||
        take_list(in, in->released, "released", "(vertices, bones)", "ii", &edits->release_count,
                  released) ||
        take_list(in, in->smoothed, "smoothed", "(vertices, strengths)", "id", &edits->smooth_count,
                  smoothed))
        return -1;
    edits->constraint_vertex = constraints[0];
    edits->constraint_bone = constraints[1];
    edits->constraint_target = constraints[2];
    edits->influence_vertex = influences[0];
    edits->influence_bone = influences[1];
    edits->influence_allowed = influences[2];
    edits->release_vertex = released[0];
    edits->release_bone = released[1];
    edits->smooth_vertex = smoothed[0];
    edits->smooth_strength = smoothed[1];
    return 0;
}

int arap_locks_from_inputs(arap_inputs *in, arap_problem *problem) {
    npy_intp m = arap_input_size(in, 'm');
    arap_shape bones = {1, {m}}, per_set = {2, {-1, m}};
    problem->locked_vertices = in->locked_vertices;
    problem->vertex_set = in->vertex_sets;
    problem->locked_bones = arap_bools(&in->arrays, in->locked_bones, "locked_bones",
                                       in->vertex_sets ? &per_set : &bones);
    problem->set_count = in->vertex_sets ? (int)per_set.size[0] : 1;
    if (PyErr_Occurred()) return -1;
    if (in->vertex_sets && !problem->locked_bones) {
        PyErr_SetString(PyExc_ValueError, "vertex_sets needs locked_bones of shape (sets, bones)");
        return -1;
    }
    if (problem->set_count) return 0;
    PyErr_SetString(PyExc_ValueError, "locked_bones has no rows: vertex_sets needs at least one");
    return -1;
}

int arap_reflection_from_inputs(arap_inputs *in, arap_reflection *reflection, int *given) {
    npy_intp sizes[3] = {arap_input_size(in, 'm'), 3, 3};
    const void *parts[3];
    *given = in->symmetry != NULL;
    if (take_tuple(in, in->symmetry, "symmetry", "(bone_partners, plane_point, plane_normal)",
                   "idd", sizes, parts) < 0)
        return -1;
    if (!*given) return 0;
    reflection->bone_partners = parts[0];
    memcpy(reflection->point, parts[1], sizeof reflection->point);
    memcpy(reflection->normal, parts[2], sizeof reflection->normal);
    return 0;
}

int arap_problem_from_inputs(arap_inputs *in, arap_problem *problem, arap_sparse_weights *rows,
                             arap_reflection *reflection) {
    int mirrored = 0;
    if (arap_geometry_from_inputs(in, &problem->geometry) ||
        arap_bones_from_inputs(in, &problem->bones) ||
        arap_poses_from_inputs(in, &problem->bones, &problem->poses) ||
        arap_sparse_weights_from_inputs(in, rows) ||
        arap_reflection_from_inputs(in, reflection, &mirrored))
        return -1;
    problem->weights = in->weights ? rows : NULL;
    problem->symmetry = mirrored ? reflection : NULL;
    return 0;
}
