/* The functions match_surfaces, transfer_weights and transfer_shapes of the module: see the stubs.
 * Arguments are copied and the work runs without the GIL; cost and failures are those of what is
 * called. */
#include "python/transfer.h"

#include <limits.h>

#include "python/error.h"
#include "python/input.h"
#include "python/report.h"
#include "transfer/transfer.h"
#include "weights/influences.h"
#include "weights/sparse_weights.h"

/* What all of them make for the target. */
typedef struct answer {
    PyObject *matched, *distance, *angle;
    arap_matches out;
} answer;

static int make_answer(npy_intp count, answer *a) {
    a->matched = PyArray_SimpleNew(1, &count, NPY_BOOL);
    a->distance = a->matched ? arap_new_doubles(1, &count, NULL) : NULL;
    a->angle = a->distance ? arap_new_doubles(1, &count, NULL) : NULL;
    if (!a->angle) return -1;
    a->out = (arap_matches){.matched = PyArray_DATA((PyArrayObject *)a->matched),
                            .distance = PyArray_DATA((PyArrayObject *)a->distance),
                            .angle = PyArray_DATA((PyArrayObject *)a->angle)};
    return 0;
}

static void drop_answer(answer *a) {
    Py_XDECREF(a->matched);
    Py_XDECREF(a->distance);
    Py_XDECREF(a->angle);
}

/* 0, or -1 with an exception that names the first index out of range. */
static int check_indices(const int *indices, npy_intp count, int corners, npy_intp vertices,
                         const char *name) {
    for (npy_intp i = 0; i < count * corners; i++) {
        if (indices[i] >= 0 && indices[i] < vertices) continue;
        PyErr_Format(PyExc_ValueError, "%s[%zd, %zd] is %d: no vertex of the %zd there are", name,
                     i / corners, i % corners, indices[i], vertices);
        return -1;
    }
    return 0;
}

/* Read and check the target here: errors of arap_mesh_create would seem to mean the source. */
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

static int source_from_inputs(const arap_inputs *in, arap_geometry *source) {
    if (arap_geometry_from_inputs(in, source)) return -1;
    if (source->vertex_count) return 0;
    PyErr_SetString(PyExc_ValueError, "the source has no vertices");
    return -1;
}

/* Rows of the source, and how many bones there are: columns of dense weights, else those named. */
static int rows_from_inputs(arap_inputs *in, arap_sparse_weights *rows, int *bones) {
    npy_intp n = arap_input_size(in, 'n'), most = 0;
    if (!PyTuple_Check(in->weights)) {
        arap_shape shape = {2, {n, -1}};
        if (!arap_doubles(&in->arrays, in->weights, "weights", &shape)) return -1;
        in->size['m' - 'a'] = most = shape.size[1];
    }
    if (arap_sparse_weights_from_inputs(in, rows)) return -1;
    if (PyTuple_Check(in->weights))
        for (long long e = 0; e < rows->start[n]; e++)
            if (rows->bone[e] >= most) most = (npy_intp)rows->bone[e] + 1;
    if (most > 32768) {
        PyErr_Format(PyExc_ValueError, "%zd bones are too many", most);
        return -1;
    }
    *bones = (int)most;
    return 0;
}

PyObject *arap_py_match_surfaces(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "match_surfaces",
        .names = "vertices triangles target_vertices target_triangles? * target_edges progress "
                 "threads **",
        .tables = {&arap_match_settings_table}};
    answer a = {0};
    arap_inputs in;
    arap_transfer_settings settings;
    void *const places[] = {&settings};
    arap_geometry source, target;
    arap_py_context run;
    arap_status status;
    arap_transfer_settings_default(&settings);
    arap_inputs_init(&in);
    if (arap_parse(&signature, args, kwargs, &in, places) ||
        arap_py_context_init(&run, in.progress, in.threads) || source_from_inputs(&in, &source) ||
        target_from_inputs(&in, &target) || make_answer(target.vertex_count, &a))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    status = arap_match_surfaces(&run.context, &source, &target, &settings, &a.out);
    Py_END_ALLOW_THREADS
    if (status) arap_raise(PyModule_GetState(module), &run.context);

done:
    arap_inputs_release(&in);
    if (!PyErr_Occurred()) return Py_BuildValue("(NNN)", a.matched, a.distance, a.angle);
    drop_answer(&a);
    return NULL;
}

PyObject *arap_py_transfer_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "transfer_weights",
        .names = "vertices triangles weights target_vertices target_triangles? * target_edges "
                 "progress threads **",
        .tables = {&arap_transfer_settings_table}};
    answer a = {0};
    PyObject *result = NULL;
    int bones;
    arap_inputs in;
    arap_transfer_settings settings;
    void *const places[] = {&settings};
    arap_geometry source, target;
    arap_sparse_weights rows;
    arap_influences weights = {0};
    arap_py_context run;
    arap_status status;
    arap_transfer_settings_default(&settings);
    arap_inputs_init(&in);
    if (arap_parse(&signature, args, kwargs, &in, places) ||
        arap_py_context_init(&run, in.progress, in.threads) || source_from_inputs(&in, &source) ||
        rows_from_inputs(&in, &rows, &bones) || target_from_inputs(&in, &target) ||
        make_answer(target.vertex_count, &a))
        goto done;
    Py_BEGIN_ALLOW_THREADS
    status = arap_check_sparse_weights(&run.context.error, &rows, source.vertex_count, bones);
    if (!status)
        status = arap_transfer_weights(&run.context, &source, &rows, bones, &target, &settings,
                                       &a.out, &weights);
    Py_END_ALLOW_THREADS
    if (status)
        arap_raise(PyModule_GetState(module), &run.context);
    else
        result = arap_py_sparse_weights(&weights);
    arap_influences_clear(&weights);

done:
    arap_inputs_release(&in);
    if (result) return Py_BuildValue("(NNNN)", result, a.matched, a.distance, a.angle);
    drop_answer(&a);
    return NULL;
}

PyObject *arap_py_transfer_shapes(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "transfer_shapes",
        .names = "vertices triangles shapes target_vertices target_triangles? * target_edges "
                 "progress threads **",
        .tables = {&arap_shape_settings_table}};
    answer a = {0};
    PyObject *vertices = NULL, *lifted = NULL, *below = NULL;
    arap_inputs in;
    arap_transfer_settings settings;
    void *const places[] = {&settings};
    arap_geometry source, target;
    arap_py_context run;
    arap_status status;
    arap_transfer_settings_default(&settings);
    arap_inputs_init(&in);
    if (arap_parse(&signature, args, kwargs, &in, places) ||
        arap_py_context_init(&run, in.progress, in.threads) || source_from_inputs(&in, &source) ||
        target_from_inputs(&in, &target) || make_answer(target.vertex_count, &a))
        goto done;
    npy_intp count = arap_input_size(&in, 's'), sizes[] = {count, target.vertex_count, 3};
    if (count > INT_MAX / 4) PyErr_Format(PyExc_ValueError, "%zd shapes are too many", count);
    if (PyErr_Occurred() || arap_check_finite(in.shapes, 3 * count * source.vertex_count, "shapes"))
        goto done;
    vertices = arap_new_doubles(3, sizes, NULL);
    lifted = vertices ? arap_new_ints(1, &count, NULL) : NULL;
    below = lifted ? arap_new_ints(1, &count, NULL) : NULL;
    if (!below) goto done;
    arap_shapes shapes = {(int)count, in.shapes};
    arap_moved_shapes moved = {PyArray_DATA((PyArrayObject *)vertices),
                               PyArray_DATA((PyArrayObject *)lifted),
                               PyArray_DATA((PyArrayObject *)below)};
    Py_BEGIN_ALLOW_THREADS
    status =
        arap_transfer_shapes(&run.context, &source, &shapes, &target, &settings, &a.out, &moved);
    Py_END_ALLOW_THREADS
    if (status) arap_raise(PyModule_GetState(module), &run.context);

done:
    arap_inputs_release(&in);
    if (!PyErr_Occurred())
        return Py_BuildValue("(NNNNNN)", vertices, a.matched, a.distance, a.angle, lifted, below);
    drop_answer(&a);
    Py_XDECREF(vertices);
    Py_XDECREF(lifted);
    Py_XDECREF(below);
    return NULL;
}
