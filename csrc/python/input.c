/* Python arguments as the structures of arap.h: see python/input.h. */
#include "python/input.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int arap_read_int(PyObject *object, void *argument) {
    arap_int_argument *out = argument;
    int overflow;
    long value = PyLong_AsLongAndOverflow(object, &overflow);
    if (value == -1 && PyErr_Occurred()) return 0;
    if (overflow || value < INT_MIN || value > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is %S: out of range", out->name, object);
        return 0;
    }
    out->value = (int)value;
    return 1;
}

int arap_read_seed(PyObject *object, void *seed) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return 0;
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    int failed = value == (unsigned long long)-1 && PyErr_Occurred();
    if (failed) PyErr_Format(PyExc_ValueError, "seed is %S: must be from 0 to 2**64 - 1", number);
    Py_DECREF(number);
    *(unsigned long long *)seed = value;
    return !failed;
}

int arap_geometry_from_python(arap_arrays *arrays, PyObject *vertices, PyObject *triangles,
                              PyObject *edges, PyObject *tets, arap_geometry *geometry) {
    arap_shape points = {2, {-1, 3}}, faces = {2, {-1, 3}}, pairs = {2, {-1, 2}},
               cells = {2, {-1, 4}};
    *geometry = (arap_geometry){.vertices = arap_doubles(arrays, vertices, "vertices", &points),
                                .triangles = arap_ints(arrays, triangles, "triangles", &faces),
                                .edges = arap_ints(arrays, edges, "edges", &pairs)};
    if (!PyErr_Occurred()) geometry->tets = arap_ints(arrays, tets, "tets", &cells);
    if (PyErr_Occurred()) return -1;
    if (!geometry->vertices) {
        PyErr_SetString(PyExc_TypeError, "vertices must be an array, not None");
        return -1;
    }
    if (points.size[0] > INT_MAX / 4) {
        PyErr_Format(PyExc_ValueError, "%zd vertices are too many", points.size[0]);
        return -1;
    }
    geometry->vertex_count = (int)points.size[0];
    geometry->triangle_count = geometry->triangles ? (size_t)faces.size[0] : 0;
    geometry->edge_count = geometry->edges ? (size_t)pairs.size[0] : 0;
    geometry->tet_count = geometry->tets ? (size_t)cells.size[0] : 0;
    return 0;
}

int arap_bones_from_python(arap_arrays *arrays, PyObject *heads, PyObject *tails, PyObject *parents,
                           PyObject *roll_axes, PyObject *deform, PyObject *limits,
                           arap_bones *bones) {
    arap_shape shape = {2, {-1, 3}};
    *bones = (arap_bones){.heads = arap_doubles(arrays, heads, "bone_heads", &shape)};
    if (PyErr_Occurred()) return -1;
    npy_intp m = shape.size[0];
    arap_shape tail_shape = {2, {m, 3}}, parent_shape = {1, {m}}, roll_shape = {2, {m, 3}},
               deform_shape = {1, {m}}, limit_shape = {3, {m, 3, 2}};
    bones->tails = arap_doubles(arrays, tails, "bone_tails", &tail_shape);
    if (!PyErr_Occurred())
        bones->parents = arap_ints(arrays, parents, "bone_parents", &parent_shape);
    if (!PyErr_Occurred())
        bones->roll_axes = arap_doubles(arrays, roll_axes, "bone_roll_axes", &roll_shape);
    if (!PyErr_Occurred()) bones->deform = arap_bools(arrays, deform, "bone_deform", &deform_shape);
    if (!PyErr_Occurred())
        bones->limits = arap_doubles(arrays, limits, "bone_limits", &limit_shape);
    if (PyErr_Occurred()) return -1;
    if (!bones->heads || !bones->tails || !bones->parents) {
        PyErr_SetString(PyExc_TypeError,
                        "bone_heads, bone_tails and bone_parents must be arrays, not None");
        return -1;
    }
    if (m > 32768) {
        PyErr_Format(PyExc_ValueError, "%zd bones are too many", m);
        return -1;
    }
    bones->count = (int)m;
    return 0;
}

/* The kind that the item names, or -1 with an exception. */
static int read_kind(PyObject *item, npy_intp bone) {
    static const char *const names[] = {"rigid", "stb", "spine", "bendy"};
    if (!item || !PyUnicode_Check(item)) {
        if (item) PyErr_Format(PyExc_TypeError, "bone_kinds[%zd] is %R: not a string", bone, item);
        return -1;
    }
    for (int kind = 0; kind < 4; kind++)
        if (!PyUnicode_CompareWithASCIIString(item, names[kind])) return kind;
    PyErr_Format(PyExc_ValueError,
                 "bone_kinds[%zd] is '%U': must be 'rigid', 'stb', 'spine' or 'bendy'", bone, item);
    return -1;
}

int arap_kinds_from_python(arap_arrays *arrays, PyObject *kinds, PyObject *ranges,
                           PyObject *segments, PyObject *stretch, arap_bones *bones) {
    npy_intp m = bones->count;
    arap_shape shape = {3, {m, ARAP_RANGES, 2}}, per_bone = {1, {m}};
    bones->ranges = arap_doubles(arrays, ranges, "bone_ranges", &shape);
    if (PyErr_Occurred()) return -1;
    bones->segments = arap_ints(arrays, segments, "bone_segments", &per_bone);
    if (PyErr_Occurred()) return -1;
    bones->stretch = arap_bools(arrays, stretch, "bone_stretch", &per_bone);
    if (PyErr_Occurred()) return -1;
    if (!kinds || kinds == Py_None) return 0;
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
    char *to = arap_hold(arrays, PyArray_SimpleNew(1, &m, NPY_BYTE));
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

/* Transforms (poses, items, 3 or 4, 4) as (poses, items, 3, 4); None: *out = NULL. */
static int transforms(arap_arrays *arrays, PyObject *argument, const char *name, const char *item,
                      arap_shape *shape, const double **out) {
    const double *data = arap_doubles(arrays, argument, name, shape);
    *out = NULL;
    if (!data) return PyErr_Occurred() ? -1 : 0;
    npy_intp rows = shape->size[2], count = shape->size[0], items = shape->size[1];
    if (count && rows != 3 && rows != 4) {
        PyErr_Format(PyExc_ValueError, "%s has %zd rows per transform, expected 3 or 4", name,
                     rows);
        return -1;
    }
    if (rows == 4) { /* drop the last rows */
        npy_intp sizes[4] = {count, items, 3, 4};
        double *to = arap_hold(arrays, PyArray_SimpleNew(4, sizes, NPY_DOUBLE));
        if (!to) return -1;
        for (npy_intp i = 0; i < count * items; i++) {
            const double *last = data + 16 * i + 12;
            double off = fabs(last[0]) + fabs(last[1]) + fabs(last[2]) + fabs(last[3] - 1);
            if (!(off <= 1e-5)) { /* rounding of a matrix product is no perspective */
                PyErr_Format(PyExc_ValueError,
                             "%s[%zd] of %s %zd has a last row other than (0, 0, 0, 1)", name,
                             i / items, item, i % items);
                return -1;
            }
            memcpy(to + 12 * i, data + 16 * i, 12 * sizeof(double));
        }
        data = to;
    }
    *out = data;
    return 0;
}

int arap_bends_from_python(arap_arrays *arrays, PyObject *bends, PyObject *segment_poses,
                           PyObject *parameters, npy_intp vertices, const arap_bones *bones,
                           arap_given_poses *poses) {
    arap_shape per_pose = {3, {poses->count, bones->count, ARAP_BEND}},
               per_vertex = {2, {vertices, bones->count}},
               per_joint = {4, {poses->count, arap_joint_count(bones), -1, 4}};
    poses->bends = arap_doubles(arrays, bends, "bends", &per_pose);
    if (PyErr_Occurred()) return -1;
    if (transforms(arrays, segment_poses, "segment_poses", "joint", &per_joint, &poses->joints))
        return -1;
    poses->parameters = arap_doubles(arrays, parameters, "parameters", &per_vertex);
    return PyErr_Occurred() ? -1 : 0;
}

/* Rows of a dense (vertices, bones) array. */
static int dense_rows(arap_arrays *arrays, PyObject *argument, npy_intp vertices, npy_intp bones,
                      arap_rows *rows) {
    arap_shape shape = {2, {vertices, bones}};
    const double *dense = arap_doubles(arrays, argument, "weights", &shape);
    if (!dense) return -1;
    npy_intp count = 0;
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
    *rows = (arap_rows){start, bone, weight};
    return 0;
}

static int sparse_rows(arap_arrays *arrays, PyObject *argument, npy_intp vertices,
                       arap_rows *rows) {
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

int arap_rows_from_python(arap_arrays *arrays, PyObject *argument, npy_intp vertices,
                          npy_intp bones, arap_rows *rows, int *given) {
    *rows = (arap_rows){0};
    *given = argument && argument != Py_None;
    if (!*given) return 0;
    return PyTuple_Check(argument) ? sparse_rows(arrays, argument, vertices, rows)
                                   : dense_rows(arrays, argument, vertices, bones, rows);
}

/* The parts of a tuple of `count` one-dimensional arrays of equal length: vertices, bones and, if
 * there are three, what `third` is set to by the caller. Returns the length, -1 with an
 * exception; 0 for None. */
static npy_intp pair_arrays(arap_arrays *arrays, PyObject *argument, const char *name,
                            const char *parts, int count, const int **vertex, const int **bone,
                            PyObject **third) {
    char names[2][32];
    arap_shape shape = {1, {-1}};
    if (!argument || argument == Py_None) return 0;
    if (!PyTuple_Check(argument) || PyTuple_Size(argument) != count) {
        PyErr_Format(PyExc_TypeError, "%s must be a tuple %s", name, parts);
        return -1;
    }
    for (int i = 0; i < 2; i++) snprintf(names[i], sizeof names[i], "%s[%d]", name, i);
    *vertex = arap_ints(arrays, PyTuple_GetItem(argument, 0), names[0], &shape);
    if (PyErr_Occurred()) return -1;
    *bone = arap_ints(arrays, PyTuple_GetItem(argument, 1), names[1], &shape);
    if (PyErr_Occurred()) return -1;
    *third = count > 2 ? PyTuple_GetItem(argument, 2) : NULL;
    if (!*vertex || !*bone || *third == Py_None) {
        PyErr_Format(PyExc_TypeError, "%s must be %s arrays, not None", name,
                     count > 2 ? "three" : "two");
        return -1;
    }
    return shape.size[0];
}

int arap_edits_from_python(arap_arrays *arrays, PyObject *constraints, PyObject *influences,
                           PyObject *released, arap_edits *edits) {
    PyObject *third = NULL;
    *edits = (arap_edits){0};
    npy_intp count = pair_arrays(arrays, constraints, "constraints", "(vertices, bones, targets)",
                                 3, &edits->constraint_vertex, &edits->constraint_bone, &third);
    if (count < 0) return -1;
    edits->constraint_count = (int)count;
    arap_shape shape = {1, {count}};
    edits->constraint_target = arap_doubles(arrays, third, "constraints[2]", &shape);
    if (PyErr_Occurred()) return -1;
    third = NULL;
    count = pair_arrays(arrays, influences, "influences", "(vertices, bones, allowed)", 3,
                        &edits->influence_vertex, &edits->influence_bone, &third);
    if (count < 0) return -1;
    edits->influence_count = (int)count;
    shape.size[0] = count;
    edits->influence_allowed = arap_bools(arrays, third, "influences[2]", &shape);
    if (PyErr_Occurred()) return -1;
    count = pair_arrays(arrays, released, "released", "(vertices, bones)", 2,
                        &edits->release_vertex, &edits->release_bone, &third);
    if (count < 0) return -1;
    edits->release_count = (int)count;
    return 0;
}

int arap_reflection_from_python(arap_arrays *arrays, PyObject *argument, npy_intp bones,
                                arap_reflection *reflection, int *given) {
    *given = argument && argument != Py_None;
    if (!*given) return 0;
    if (!PyTuple_Check(argument) || PyTuple_Size(argument) != 3) {
        PyErr_SetString(PyExc_TypeError,
                        "mirror must be a tuple (bone_partners, plane_point, plane_normal)");
        return -1;
    }
    arap_shape per_bone = {1, {bones}}, vector = {1, {3}};
    reflection->bone_partners =
        arap_ints(arrays, PyTuple_GetItem(argument, 0), "mirror[0]", &per_bone);
    if (PyErr_Occurred()) return -1;
    const double *point = arap_doubles(arrays, PyTuple_GetItem(argument, 1), "mirror[1]", &vector);
    if (PyErr_Occurred()) return -1;
    const double *normal = arap_doubles(arrays, PyTuple_GetItem(argument, 2), "mirror[2]", &vector);
    if (PyErr_Occurred()) return -1;
    if (!reflection->bone_partners || !point || !normal) {
        PyErr_SetString(PyExc_TypeError, "mirror must be three arrays, not None");
        return -1;
    }
    memcpy(reflection->point, point, sizeof reflection->point);
    memcpy(reflection->normal, normal, sizeof reflection->normal);
    return 0;
}

int arap_transforms_from_python(arap_arrays *arrays, PyObject *argument, npy_intp bones,
                                const double **out, int *count) {
    arap_shape shape = {4, {-1, bones, -1, 4}};
    *count = 0;
    if (transforms(arrays, argument, "poses", "bone", &shape, out)) return -1;
    if (*out) *count = (int)shape.size[0];
    return 0;
}

int arap_some_transforms_from_python(arap_arrays *arrays, PyObject *argument, npy_intp *bones,
                                     const double **out, int *count) {
    arap_shape shape = {4, {-1, -1, -1, 4}};
    if (transforms(arrays, argument, "poses", "bone", &shape, out)) return -1;
    if (!*out)
        PyErr_SetString(PyExc_TypeError, "poses must be an array, not None");
    else if (!shape.size[0])
        PyErr_SetString(PyExc_ValueError, "there are no poses");
    *bones = shape.size[1];
    *count = (int)shape.size[0];
    return PyErr_Occurred() ? -1 : 0;
}
