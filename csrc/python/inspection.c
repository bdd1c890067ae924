/* The functions nearest_points, mesh_extent, inspect_weights and part_doubts of the module: see the
 * stubs. Arguments are copied and the work runs without the GIL. Cost and failures are those of the
 * functions called. */
#include "python/functions.h"

#include <limits.h>

#include "base/memory.h"
#include "measures/inspection.h"
#include "mesh/nearest.h"
#include "mesh/extent.h"
#include "python/error.h"
#include "python/input.h"
#include "weights/influences.h"

PyObject *arap_py_nearest_points(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "nearest_points",
        .names = "vertices triangles points * owners radius edges progress threads"};
    PyObject *corners = NULL, *bary = NULL, *heights = NULL, *parts = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_py_context run;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry))
        goto done;
    npy_intp count = arap_input_size(&in, 'k'), sizes[2] = {count, 3}, n = geometry.vertex_count;
    if (count > INT_MAX / 4) {
        PyErr_Format(PyExc_ValueError, "%zd points are too many", count);
        goto done;
    }
    if (arap_check_finite(in.points, 3 * count, "points")) goto done;
    corners = arap_new_ints(2, sizes, NULL);
    bary = corners ? arap_new_doubles(2, sizes, NULL) : NULL;
    heights = bary ? arap_new_doubles(1, &count, NULL) : NULL;
    parts = heights ? arap_new_ints(1, &n, NULL) : NULL;
    if (!parts) goto done;
    const arap_closest out = {.corner = PyArray_DATA((PyArrayObject *)corners),
                              .bary = PyArray_DATA((PyArrayObject *)bary),
                              .height = PyArray_DATA((PyArrayObject *)heights)};
    int *part = PyArray_DATA((PyArrayObject *)parts);
    ARAP_BEGIN_WORK
    status = arap_closest_points(&run.context, &geometry, (int)count, in.points, in.owners,
                                 in.radius, part, &out);
    ARAP_END_WORK
    if (status) arap_raise(PyModule_GetState(module), &run.context);

done:
    arap_inputs_release(&in);
    if (!PyErr_Occurred()) return Py_BuildValue("(NNNN)", corners, bary, heights, parts);
    Py_XDECREF(corners);
    Py_XDECREF(bary);
    Py_XDECREF(heights);
    Py_XDECREF(parts);
    return NULL;
}

PyObject *arap_py_mesh_extent(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "mesh_extent",
                                             .names = "vertices triangles * edges"};
    static const npy_intp sizes[2] = {2, 3};
    PyObject *box = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_py_context run;
    arap_extent extent;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry))
        goto done;
    ARAP_BEGIN_WORK
    status = arap_check_geometry(&run.context.error, &geometry);
    if (!status) status = arap_extent_find(&run.context, &geometry, NULL, &extent);
    ARAP_END_WORK
    if (status)
        arap_raise(PyModule_GetState(module), &run.context);
    else
        box = arap_new_doubles(2, sizes, extent.box[0]);

done:
    arap_inputs_release(&in);
    return box;
}

/* Read rows and the number of bones: columns of dense weights, otherwise the bones named, at least
 * one. */
static int rows_from_inputs(arap_inputs *in, arap_sparse_weights *rows, npy_intp *bones) {
    npy_intp n = arap_input_size(in, 'n');
    arap_shape shape = {2, {n, -1}};
    *bones = 1;
    if (!PyTuple_Check(in->weights)) {
        if (!arap_doubles(&in->arrays, in->weights, "weights", &shape)) return -1;
        in->size['m' - 'a'] = *bones = shape.size[1];
    }
    if (arap_sparse_weights_from_inputs(in, rows)) return -1;
    for (long long e = 0; e < rows->start[n] && PyTuple_Check(in->weights); e++)
        if (rows->bone[e] >= *bones) *bones = (npy_intp)rows->bone[e] + 1;
    if (*bones <= 32768) return 0;
    PyErr_Format(PyExc_ValueError, "%zd bones are too many", *bones);
    return -1;
}

PyObject *arap_py_inspect_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "inspect_weights",
        .names = "vertices triangles? weights * edges links progress threads"};
    PyObject *each[4] = {0};
    arap_inputs in;
    arap_geometry geometry;
    arap_sparse_weights rows;
    arap_py_context run;
    arap_status status;
    npy_intp bones;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || rows_from_inputs(&in, &rows, &bones))
        goto done;
    npy_intp n = geometry.vertex_count, entries = (npy_intp)rows.start[n];
    for (int k = 0; k < 4; k++)
        if (!(each[k] = arap_new_doubles(1, k < 2 ? &n : &entries, NULL))) goto done;
    const arap_inspection out = {.contrast = PyArray_DATA((PyArrayObject *)each[0]),
                                 .roughness = PyArray_DATA((PyArrayObject *)each[1]),
                                 .straight = PyArray_DATA((PyArrayObject *)each[2]),
                                 .along = PyArray_DATA((PyArrayObject *)each[3])};
    ARAP_BEGIN_WORK
    status = arap_inspect_weights(&run.context, &geometry, (size_t)arap_input_size(&in, 'h'),
                                  in.links, &rows, (int)bones, &out);
    ARAP_END_WORK
    if (status) arap_raise(PyModule_GetState(module), &run.context);

done:
    arap_inputs_release(&in);
    if (!PyErr_Occurred()) return Py_BuildValue("(NNNN)", each[0], each[1], each[2], each[3]);
    for (int k = 0; k < 4; k++) Py_XDECREF(each[k]);
    return NULL;
}

PyObject *arap_py_part_doubts(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "part_doubts",
        .names = "vertices triangles? weights bone_heads bone_tails bone_parents * bone_deform "
                 "bone_ways edges progress threads"};
    PyObject *part = NULL, *owner = NULL, *other = NULL, *doubt = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_sparse_weights rows;
    arap_bones bones;
    arap_part_doubts found = {0};
    arap_py_context run;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones) ||
        arap_sparse_weights_from_inputs(&in, &rows))
        goto done;
    ARAP_BEGIN_WORK
    status = arap_part_doubts_create(&run.context, &geometry, &rows, &bones, &found);
    ARAP_END_WORK
    if (status) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    npy_intp n = geometry.vertex_count, count = found.count, others[2] = {count, ARAP_OTHERS};
    part = arap_new_ints(1, &n, found.part);
    owner = part ? arap_new_ints(1, &count, found.owner) : NULL;
    other = owner ? arap_new_ints(2, others, found.other) : NULL;
    doubt = other ? arap_new_doubles(1, &count, found.doubt) : NULL;

done:
    arap_part_doubts_clear(&found);
    arap_inputs_release(&in);
    if (!PyErr_Occurred()) return Py_BuildValue("(NNNN)", part, owner, other, doubt);
    Py_XDECREF(part);
    Py_XDECREF(owner);
    Py_XDECREF(other);
    Py_XDECREF(doubt);
    return NULL;
}
