/* The functions match_surfaces, transfer_weights and transfer_shapes of the module: see the stubs.
 * Arguments are copied and the work runs without the GIL. Cost and failures are those of the
 * functions called. */
#include "python/functions.h"

#include <limits.h>

#include "python/error.h"
#include "python/input.h"
#include "python/report.h"
#include "transfer/transfer.h"
#include "weights/influences.h"
#include "weights/sparse_weights.h"

/* A call of any of these functions: its input, and the results for the target. */
typedef struct call {
    arap_inputs in;
    arap_transfer_settings settings;
    arap_geometry source, target;
    arap_py_context run;
    PyObject *matched, *distance, *angle;
    arap_matches out;
} call;

/* 0, or -1 with an exception that names the first index out of range. */
static int check_indices(const int *indices, npy_intp count, int corners, npy_intp vertices,
                         const char *name) {
    for (npy_intp i = 0; i < count * corners; i++) {
        if (indices[i] >= 0 && indices[i] < vertices) continue;
        PyErr_Format(PyExc_ValueError, "%s[%zd, %zd] is %d, but there are %zd vertices", name,
                     i / corners, i % corners, indices[i], vertices);
        return -1;
    }
    return 0;
}

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
                   check_indices(in->target_triangles, faces, 3, n, "target_triangles") ||
                   check_indices(in->target_edges, edges, 2, n, "target_edges")
               ? -1
               : 0;
}

/* Read both meshes and allocate the results. The call must be ended whether or not this
 * succeeds. */
static int begin(const arap_signature *signature, PyObject *args, PyObject *kwargs, call *c) {
    void *const places[] = {&c->settings};
    *c = (call){0};
    arap_transfer_settings_default(&c->settings);
    if (arap_open(signature, args, kwargs, places, &c->in, &c->run) ||
        arap_geometry_from_inputs(&c->in, &c->source))
        return -1;
    if (!c->source.vertex_count) {
        PyErr_SetString(PyExc_ValueError, "the source has no vertices");
        return -1;
    }
    if (target_from_inputs(&c->in, &c->target)) return -1;
    npy_intp count = c->target.vertex_count;
    c->matched = PyArray_SimpleNew(1, &count, NPY_BOOL);
    c->distance = c->matched ? arap_new_doubles(1, &count, NULL) : NULL;
    c->angle = c->distance ? arap_new_doubles(1, &count, NULL) : NULL;
    if (!c->angle) return -1;
    c->out = (arap_matches){.matched = PyArray_DATA((PyArrayObject *)c->matched),
                            .distance = PyArray_DATA((PyArrayObject *)c->distance),
                            .angle = PyArray_DATA((PyArrayObject *)c->angle)};
    return 0;
}

/* Raise a failure and release the input. Without an exception, the caller builds the result,
 * otherwise the partial results are released. */
static int ends_well(PyObject *module, arap_status status, call *c) {
    if (status) arap_raise(PyModule_GetState(module), &c->run.context);
    arap_inputs_release(&c->in);
    if (!PyErr_Occurred()) return 1;
    Py_XDECREF(c->matched);
    Py_XDECREF(c->distance);
    Py_XDECREF(c->angle);
    return 0;
}

/* Read the rows of the source and the number of bones: columns of dense weights, otherwise the
 * bones named. */
static int rows_from_inputs(arap_inputs *in, arap_sparse_weights *rows, int *bones) {
    npy_intp n = arap_input_size(in, 'n'), max = 0;
    if (!PyTuple_Check(in->weights)) {
        arap_shape shape = {2, {n, -1}};
        if (!arap_doubles(&in->arrays, in->weights, "weights", &shape)) return -1;
        in->size['m' - 'a'] = max = shape.size[1];
    }
    if (arap_sparse_weights_from_inputs(in, rows)) return -1;
    if (PyTuple_Check(in->weights))
        for (long long e = 0; e < rows->start[n]; e++)
            if (rows->bone[e] >= max) max = (npy_intp)rows->bone[e] + 1;
    if (max > 32768) {
        PyErr_Format(PyExc_ValueError, "%zd bones are too many", max);
        return -1;
    }
    *bones = (int)max;
    return 0;
}

PyObject *arap_py_match_surfaces(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "match_surfaces",
        .names = "vertices triangles target_vertices target_triangles? * target_edges progress "
                 "threads **",
        .tables = {&arap_match_settings_table}};
    call c;
    arap_status status = ARAP_OK;
    if (!begin(&signature, args, kwargs, &c)) {
        ARAP_BEGIN_WORK
        status = arap_match_surfaces(&c.run.context, &c.source, &c.target, &c.settings, &c.out);
        ARAP_END_WORK
    }
    return ends_well(module, status, &c) ? Py_BuildValue("(NNN)", c.matched, c.distance, c.angle)
                                         : NULL;
}

PyObject *arap_py_transfer_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "transfer_weights",
        .names = "vertices triangles weights target_vertices target_triangles? * target_edges "
                 "progress threads **",
        .tables = {&arap_transfer_settings_table}};
    call c;
    PyObject *found = NULL;
    int bones;
    arap_sparse_weights rows;
    arap_influences weights = {0};
    arap_status status = ARAP_OK;
    if (!begin(&signature, args, kwargs, &c) && !rows_from_inputs(&c.in, &rows, &bones)) {
        ARAP_BEGIN_WORK
        status =
            arap_check_sparse_weights(&c.run.context.error, &rows, c.source.vertex_count, bones);
        if (!status)
            status = arap_transfer_weights(&c.run.context, &c.source, &rows, bones, &c.target,
                                           &c.settings, &c.out, &weights);
        ARAP_END_WORK
        if (!status) found = arap_py_sparse_weights(&weights);
        arap_influences_clear(&weights);
    }
    return ends_well(module, status, &c)
               ? Py_BuildValue("(NNNN)", found, c.matched, c.distance, c.angle)
               : NULL;
}

PyObject *arap_py_transfer_shapes(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "transfer_shapes",
        .names = "vertices triangles shapes target_vertices target_triangles? * target_edges "
                 "progress threads **",
        .tables = {&arap_shape_settings_table}};
    call c;
    PyObject *vertices = NULL, *lifted = NULL, *below = NULL;
    arap_status status = ARAP_OK;
    if (begin(&signature, args, kwargs, &c)) goto done;
    npy_intp count = arap_input_size(&c.in, 's'), sizes[] = {count, c.target.vertex_count, 3};
    if (count > INT_MAX / 4) PyErr_Format(PyExc_ValueError, "%zd shapes are too many", count);
    if (PyErr_Occurred() ||
        arap_check_finite(c.in.shapes, 3 * count * c.source.vertex_count, "shapes"))
        goto done;
    vertices = arap_new_doubles(3, sizes, NULL);
    lifted = vertices ? arap_new_ints(1, &count, NULL) : NULL;
    below = lifted ? arap_new_ints(1, &count, NULL) : NULL;
    if (!below) goto done;
    arap_shapes shapes = {(int)count, c.in.shapes};
    arap_moved_shapes moved = {PyArray_DATA((PyArrayObject *)vertices),
                               PyArray_DATA((PyArrayObject *)lifted),
                               PyArray_DATA((PyArrayObject *)below)};
    ARAP_BEGIN_WORK
    status = arap_transfer_shapes(&c.run.context, &c.source, &shapes, &c.target, &c.settings,
                                  &c.out, &moved);
    ARAP_END_WORK

done:
    if (ends_well(module, status, &c))
        return Py_BuildValue("(NNNNNN)", vertices, c.matched, c.distance, c.angle, lifted, below);
    Py_XDECREF(vertices);
    Py_XDECREF(lifted);
    Py_XDECREF(below);
    return NULL;
}
