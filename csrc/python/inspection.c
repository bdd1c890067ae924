/* The functions nearest_points, mesh_extent, inspect_weights and part_doubts of the module: see the
 * stubs. Arguments are copied and the work runs without the GIL. Cost and failures are those of the
 * functions called. */
#include "python/functions.h"

#include <limits.h>

#include "measures/inspection.h"
#include "mesh/extent.h"
#include "mesh/nearest.h"

PyObject *arap_py_nearest_points(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "nearest_points",
        .names = "vertices triangles points * owners radius edges progress threads"};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    npy_intp count = arap_input_size(&call.in, 'k'), sizes[2] = {count, 3},
             n = call.geometry.vertex_count;
    if (count > INT_MAX / 4)
        PyErr_Format(PyExc_ValueError, "%zd points are too many", count);
    else
        arap_check_finite(call.in.points, 3 * count, "points");
    arap_closest out = {0};
    out.corner = arap_new_result(&call, NPY_INT, 2, sizes, NULL);
    out.bary = arap_new_result(&call, NPY_DOUBLE, 2, sizes, NULL);
    out.height = arap_new_result(&call, NPY_DOUBLE, 1, &count, NULL);
    int *part = arap_new_result(&call, NPY_INT, 1, &n, NULL);
    if (!part) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_closest_points(&call.run.context, &call.geometry, (int)count, call.in.points,
                                      call.in.owners, call.in.radius, part, &out);
    ARAP_END_WORK
    return arap_close(&call);
}

PyObject *arap_py_mesh_extent(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "mesh_extent",
                                             .names = "vertices triangles * edges"};
    static const npy_intp sizes[2] = {2, 3};
    arap_extent extent;
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_check_geometry(&call.run.context.error, &call.geometry);
    if (!call.status)
        call.status = arap_extent_find(&call.run.context, &call.geometry, NULL, &extent);
    ARAP_END_WORK
    if (!call.status) arap_new_result(&call, NPY_DOUBLE, 2, sizes, extent.box);
    return arap_close(&call);
}

PyObject *arap_py_inspect_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "inspect_weights",
        .names = "vertices triangles? weights * edges links progress threads",
        .reads = ARAP_READ_WEIGHTS};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    npy_intp n = call.geometry.vertex_count, entries = (npy_intp)call.weights.start[n];
    arap_inspection out;
    out.contrast = arap_new_result(&call, NPY_DOUBLE, 1, &n, NULL);
    out.roughness = arap_new_result(&call, NPY_DOUBLE, 1, &n, NULL);
    out.straight = arap_new_result(&call, NPY_DOUBLE, 1, &entries, NULL);
    out.along = arap_new_result(&call, NPY_DOUBLE, 1, &entries, NULL);
    if (!out.along) return arap_close(&call);
    int bones = call.bones.count ? call.bones.count : 1; /* rows without entries */
    ARAP_BEGIN_WORK
    call.status = arap_inspect_weights(&call.run.context, &call.geometry,
                                       (size_t)arap_input_size(&call.in, 'h'), call.in.links,
                                       &call.weights, bones, &out);
    ARAP_END_WORK
    return arap_close(&call);
}

PyObject *arap_py_part_doubts(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "part_doubts",
        .names = "vertices triangles? weights bone_heads bone_tails bone_parents * bone_deform "
                 "bone_ways edges progress threads",
        .reads = ARAP_READ_BONES | ARAP_READ_WEIGHTS};
    arap_part_doubts found = {0};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_part_doubts_create(&call.run.context, &call.geometry, &call.weights,
                                          &call.bones, &found);
    ARAP_END_WORK
    if (!call.status) {
        npy_intp n = call.geometry.vertex_count, others[2] = {found.count, ARAP_OTHERS};
        arap_new_result(&call, NPY_INT, 1, &n, found.part);
        arap_new_result(&call, NPY_INT, 1, others, found.owner);
        arap_new_result(&call, NPY_INT, 2, others, found.other);
        arap_new_result(&call, NPY_DOUBLE, 1, others, found.doubt);
    }
    arap_part_doubts_clear(&found);
    return arap_close(&call);
}
