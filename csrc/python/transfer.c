/* The functions match_surfaces, transfer_weights and transfer_shapes of the module: see the stubs.
 * Arguments are copied and the work runs without the GIL. Cost and failures are those of the
 * functions called. */
#include "python/functions.h"

#include <limits.h>

#include "python/report.h"
#include "transfer/transfer.h"
#include "weights/influences.h"
#include "weights/sparse_weights.h"

/* The settings, the target and the results of a call. */
typedef struct transfer {
    arap_transfer_settings settings;
    arap_geometry target;
    arap_matches out;
} transfer;

/* Read and check the target. Otherwise, errors of arap_mesh_create would seem to refer to the
 * source. */
static int target_from_inputs(const arap_inputs *in, arap_geometry *target) {
    npy_intp n = arap_input_size(in, 'k'), faces = arap_input_size(in, 'g'),
             edges = arap_input_size(in, 'h');
    if (!n || n > INT_MAX / 4) {
        PyErr_Format(PyExc_ValueError,
                     n ? "%zd target_vertices are too many" : "the target has no vertices", n);
        return -1;
    }
    *target = (arap_geometry){.vertex_count = (int)n,
                              .vertices = in->target_vertices,
                              .triangle_count = (size_t)faces,
                              .triangles = in->target_triangles,
                              .edge_count = (size_t)edges,
                              .edges = in->target_edges};
    return arap_check_finite(in->target_vertices, 3 * n, "target_vertices") ||
                   arap_check_indices(in->target_triangles, faces, 3, n, "target_triangles") ||
                   arap_check_indices(in->target_edges, edges, 2, n, "target_edges")
               ? -1
               : 0;
}

/* Open a call, and read the target. */
static int open_transfer(arap_call *call, const arap_signature *signature, PyObject *module,
                         PyObject *args, PyObject *kwargs, transfer *t) {
    void *const places[] = {&t->settings};
    *t = (transfer){0};
    if (arap_open(call, signature, module, args, kwargs, places)) return -1;
    if (call->geometry.vertex_count) return target_from_inputs(&call->in, &t->target);
    PyErr_SetString(PyExc_ValueError, "the source has no vertices");
    return -1;
}

/* Add the matches to the results of a call. */
static void add_matches(arap_call *call, transfer *t) {
    npy_intp count = t->target.vertex_count;
    t->out.matched = arap_new_result(call, NPY_BOOL, 1, &count, NULL);
    t->out.distance = arap_new_result(call, NPY_DOUBLE, 1, &count, NULL);
    t->out.angle = arap_new_result(call, NPY_DOUBLE, 1, &count, NULL);
}

PyObject *arap_py_match_surfaces(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "match_surfaces",
        .names = "vertices triangles target_vertices target_triangles? * target_edges progress "
                 "threads **",
        .tables = {&arap_match_settings_table}};
    transfer t;
    arap_call call;
    if (!open_transfer(&call, &signature, module, args, kwargs, &t)) add_matches(&call, &t);
    if (PyErr_Occurred()) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status =
        arap_match_surfaces(&call.run.context, &call.geometry, &t.target, &t.settings, &t.out);
    ARAP_END_WORK
    return arap_close(&call);
}

PyObject *arap_py_transfer_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "transfer_weights",
        .names = "vertices triangles weights target_vertices target_triangles? * target_edges "
                 "progress threads **",
        .tables = {&arap_transfer_settings_table},
        .reads = ARAP_READ_WEIGHTS};
    transfer t;
    arap_influences weights = {0};
    arap_call call;
    if (open_transfer(&call, &signature, module, args, kwargs, &t)) return arap_close(&call);
    call.count = 1; /* the weights come first */
    add_matches(&call, &t);
    if (PyErr_Occurred()) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_check_sparse_weights(&call.run.context.error, &call.weights,
                                            call.geometry.vertex_count, call.bones.count);
    if (!call.status)
        call.status =
            arap_transfer_weights(&call.run.context, &call.geometry, &call.weights,
                                  call.bones.count, &t.target, &t.settings, &t.out, &weights);
    ARAP_END_WORK
    if (!call.status) call.results[0] = arap_py_sparse_weights(&weights);
    arap_influences_clear(&weights);
    return arap_close(&call);
}

PyObject *arap_py_transfer_shapes(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "transfer_shapes",
        .names = "vertices triangles shapes target_vertices target_triangles? * target_edges "
                 "progress threads **",
        .tables = {&arap_shape_settings_table}};
    transfer t;
    arap_call call;
    if (open_transfer(&call, &signature, module, args, kwargs, &t)) return arap_close(&call);
    npy_intp count = arap_input_size(&call.in, 's'), sizes[] = {count, t.target.vertex_count, 3};
    if (count > INT_MAX / 4)
        PyErr_Format(PyExc_ValueError, "%zd shapes are too many", count);
    else
        arap_check_finite(call.in.shapes, 3 * count * call.geometry.vertex_count, "shapes");
    arap_shapes shapes = {(int)count, call.in.shapes};
    arap_moved_shapes moved;
    moved.vertices = arap_new_result(&call, NPY_DOUBLE, 3, sizes, NULL);
    add_matches(&call, &t);
    moved.lifted = arap_new_result(&call, NPY_INT, 1, &count, NULL);
    moved.below = arap_new_result(&call, NPY_INT, 1, &count, NULL);
    if (!moved.below) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_transfer_shapes(&call.run.context, &call.geometry, &shapes, &t.target,
                                       &t.settings, &t.out, &moved);
    ARAP_END_WORK
    return arap_close(&call);
}
