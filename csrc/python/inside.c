/* Exposes the internal state of a solver to tests: see python/functions.h. Everything is copied.
 * Fails with a Python exception on out-of-memory. */
#include "python/functions.h"

#include <string.h>

#include "solver/solver.h"

static int put(PyObject *dict, const char *name, PyObject *value) {
    int failed = !value || PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    return failed;
}

/* The spines: their parameters, gradients, points and Jacobians at all vertices. */
static int put_spines(PyObject *dict, const arap_mesh *mesh, const arap_poses *poses) {
    const arap_spines *spines = &poses->spines;
    npy_intp n = mesh->count, count = spines->count, pairs[3] = {n, count, 3},
             points[4] = {n, count, poses->count, 3}, matrices[4] = {n, count, poses->count, 9};
    PyObject *jacobians = arap_new_doubles(4, matrices, NULL);
    if (!jacobians) return -1;
    double *out = PyArray_DATA((PyArrayObject *)jacobians);
    for (int i = 0; i < mesh->count; i++)
        for (int k = 0; k < spines->count; k++)
            for (int p = 0; p < poses->count; p++, out += 9)
                arap_spine_jacobian(spines, mesh, p, i, k,
                                    poses->transform + 12 * ((size_t)p * (size_t)poses->columns +
                                                             (size_t)spines->bone[k]),
                                    out, NULL);
    return put(dict, "spine_jacobian", jacobians) ||
           put(dict, "spine_parameter", arap_new_doubles(2, pairs, spines->parameter)) ||
           put(dict, "spine_gradient", arap_new_doubles(3, pairs, spines->gradient)) ||
           put(dict, "spine_point", arap_new_doubles(4, points, spines->point));
}

/* The springs, grouped by vertex. Bones are numbered among the deforming ones. */
static int put_springs(PyObject *dict, const arap_mesh *mesh) {
    npy_intp starts = mesh->count + 1, count = (npy_intp)mesh->spring_start[mesh->count];
    npy_intp points[2] = {count, 3}, shares[2] = {count, 2};
    PyObject *start = PyArray_SimpleNew(1, &starts, NPY_INT64);
    PyObject *bone = PyArray_SimpleNew(1, &count, NPY_INT32);
    PyObject *column = PyArray_SimpleNew(2, shares, NPY_INT32);
    PyObject *share = PyArray_SimpleNew(2, shares, NPY_DOUBLE);
    PyObject *point = PyArray_SimpleNew(2, points, NPY_DOUBLE);
    PyObject *strength = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
    PyObject *held = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
    PyObject *weight = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
    int whole = start && bone && column && share && point && strength && held && weight;
    for (npy_intp i = 0; whole && i < starts; i++)
        ((npy_int64 *)PyArray_DATA((PyArrayObject *)start))[i] = (npy_int64)mesh->spring_start[i];
    for (npy_intp j = 0; whole && j < count; j++) {
        const arap_spring *spring = mesh->spring + j;
        ((npy_int32 *)PyArray_DATA((PyArrayObject *)bone))[j] = spring->bone;
        ((double *)PyArray_DATA((PyArrayObject *)strength))[j] = spring->strength;
        ((double *)PyArray_DATA((PyArrayObject *)held))[j] = spring->held;
        ((double *)PyArray_DATA((PyArrayObject *)weight))[j] = spring->weight;
        for (int k = 0; k < 2; k++) {
            ((npy_int32 *)PyArray_DATA((PyArrayObject *)column))[2 * j + k] = spring->column[k];
            ((double *)PyArray_DATA((PyArrayObject *)share))[2 * j + k] = spring->share[k];
        }
        for (int c = 0; c < 3; c++)
            ((double *)PyArray_DATA((PyArrayObject *)point))[3 * j + c] = spring->point[c];
    }
    return put(dict, "spring_start", start) | put(dict, "spring_bone", bone) |
           put(dict, "spring_column", column) | put(dict, "spring_share", share) |
           put(dict, "spring_point", point) | put(dict, "spring_strength", strength) |
           put(dict, "spring_held", held) | put(dict, "spring_weight", weight);
}

PyObject *arap_inside_dict(const arap_solver *solver) {
    struct arap_test_state in;
    arap_solver_inside(solver, &in);
    PyObject *dict = PyDict_New();
    if (!dict) return NULL;
    npy_intp n = in.mesh->count, starts = n + 1, edges = (npy_intp)in.mesh->ring[n];
    npy_intp entries = (npy_intp)in.influences->start[n], unknowns = in.system->unknowns;
    npy_intp known = in.right_side ? entries : 0;
    npy_intp stored = unknowns ? in.system->matrix.start[unknowns] : 0, columns = unknowns + 1;
    npy_intp points[2] = {n, 3}, gram[4] = {in.poses->columns, in.poses->columns, 4, 4};
    npy_intp transforms[4] = {in.poses->count, in.poses->columns, 3, 4};
    npy_intp inputs = in.mesh->input_count, wires[2] = {(npy_intp)in.mesh->wire_count, 2};
    PyObject *ring = PyArray_SimpleNew(1, &starts, NPY_INT64);
    PyObject *start = PyArray_SimpleNew(1, &starts, NPY_INT64);
    PyObject *entry = PyArray_SimpleNew(1, &unknowns, NPY_INT64);
    PyObject *unknown = PyArray_SimpleNew(1, &entries, NPY_INT32); /* -1: none */
    PyObject *balance = PyArray_SimpleNew(1, &unknowns, NPY_INT64);
    if (ring && start && entry && unknown && balance) {
        for (npy_intp i = 0; i <= n; i++) {
            ((npy_int64 *)PyArray_DATA((PyArrayObject *)ring))[i] = (npy_int64)in.mesh->ring[i];
            ((npy_int64 *)PyArray_DATA((PyArrayObject *)start))[i] =
                (npy_int64)in.influences->start[i];
        }
        const arap_system *system = in.system;
        int *number = PyArray_DATA((PyArrayObject *)unknown);
        for (npy_intp e = 0; e < entries; e++) number[e] = -1;
        for (npy_intp i = 0; i < n && unknowns; i++) /* shared weights are those of any vertex */
            for (int u = 0; u < system->size[i]; u++) {
                size_t e = arap_unknown_entry(system, (int)i, u);
                ((npy_int64 *)PyArray_DATA((PyArrayObject *)entry))[system->offset[i] + u] =
                    (npy_int64)e;
                ((npy_int64 *)PyArray_DATA((PyArrayObject *)balance))[system->offset[i] + u] =
                    (npy_int64)arap_balance_entry(system, (int)i);
                number[e] = number[arap_twin_of(&system->shared, e)] = system->offset[i] + u;
            }
    }
    int failed = put(dict, "ring", ring) | put(dict, "start", start) | put(dict, "entry", entry) |
                 put(dict, "unknown", unknown) | put(dict, "balance", balance);
    failed = failed || put(dict, "weld", arap_new_ints(1, &inputs, in.mesh->weld)) ||
             put(dict, "part", arap_new_ints(1, &n, in.mesh->part)) ||
             put(dict, "wires", arap_new_ints(2, wires, in.mesh->wires)) ||
             put(dict, "points", arap_new_doubles(2, points, in.mesh->v)) ||
             put(dict, "unit", PyFloat_FromDouble(in.mesh->unit)) ||
             put(dict, "diagonal", PyFloat_FromDouble(in.mesh->diagonal)) ||
             put(dict, "neighbor", arap_new_ints(1, &edges, in.mesh->neighbor)) ||
             put(dict, "edge_weight", arap_new_doubles(1, &edges, in.mesh->edge_weight)) ||
             put(dict, "area", arap_new_doubles(1, &n, in.mesh->area)) ||
             put(dict, "transform", arap_new_doubles(4, transforms, in.poses->transform)) ||
             put(dict, "gram", arap_new_doubles(4, gram, in.poses->gram)) ||
             put(dict, "bone", arap_new_ints(1, &entries, in.influences->bone)) ||
             put(dict, "right_side", arap_new_doubles(1, &known, in.right_side)) ||
             put(dict, "column", arap_new_ints(1, &columns, in.system->matrix.start)) ||
             put(dict, "row", arap_new_ints(1, &stored, in.system->matrix.row)) ||
             put(dict, "value", arap_new_doubles(1, &stored, in.system->matrix.value)) ||
             put(dict, "penalized", arap_new_doubles(1, &stored, in.system->penalized)) ||
             put(dict, "product", arap_new_doubles(1, &known, in.product)) ||
             put(dict, "visits", PyLong_FromLong(in.visits));
    if (!failed && in.poses->spines.count) failed = put_spines(dict, in.mesh, in.poses);
    if (!failed && in.mesh->spring_start) failed = put_springs(dict, in.mesh);
    if (!failed && in.clusters) failed = put(dict, "cluster", arap_new_ints(1, &n, in.clusters));
    if (!failed && in.visibility) {
        npy_intp owners[2] = {n, ARAP_MAX_SHARED};
        PyObject *visible = PyArray_SimpleNew(1, &n, NPY_BOOL);
        PyObject *shared = PyArray_SimpleNew(1, &n, NPY_BYTE);
        if (visible && shared) {
            memcpy(PyArray_DATA((PyArrayObject *)visible), in.visibility->visible, (size_t)n);
            memcpy(PyArray_DATA((PyArrayObject *)shared), in.visibility->nearest_count, (size_t)n);
        }
        failed = put(dict, "visible", visible) | put(dict, "nearest_count", shared);
        failed = failed ||
                 put(dict, "distance", arap_new_doubles(1, &n, in.visibility->distance)) ||
                 put(dict, "nearest", arap_new_ints(2, owners, in.visibility->nearest));
    }
    if (!failed && in.symmetry->vertex)
        failed = put(dict, "symmetry_vertex", arap_new_ints(1, &n, in.symmetry->vertex));
    if (!failed && in.symmetry->vertex) {
        PyObject *symmetric = PyArray_SimpleNew(1, &n, NPY_BOOL);
        if (symmetric)
            memcpy(PyArray_DATA((PyArrayObject *)symmetric), in.symmetry->symmetric, (size_t)n);
        failed = put(dict, "symmetric", symmetric);
    }
    if (failed) Py_CLEAR(dict);
    return dict;
}
