/* Exposes the internal state of a solver to tests: see python/functions.h. Everything is copied.
 * Fails with a Python exception on out-of-memory. */
#include "python/functions.h"

#include "solver/solver.h"

/* Takes the reference to the value. After an exception, the dictionary is incomplete. */
static void put(PyObject *dict, const char *name, PyObject *value) {
    if (value) PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
}

static void put_ints(PyObject *dict, const char *name, npy_intp count, const int *data) {
    put(dict, name, arap_new_ints(1, &count, data));
}

static void put_doubles(PyObject *dict, const char *name, npy_intp count, const double *data) {
    put(dict, name, arap_new_doubles(1, &count, data));
}

/* bytes: an array (count) of one-byte numbers of this type. */
static void put_bytes(PyObject *dict, const char *name, int type, npy_intp count,
                      const void *bytes) {
    put(dict, name, arap_new_array(type, 1, &count, bytes));
}

/* The spines: their parameters, gradients, points and Jacobians at all vertices. */
static void put_spines(PyObject *dict, const arap_mesh *mesh, const arap_poses *poses) {
    const arap_spines *spines = &poses->spines;
    npy_intp n = mesh->count, count = spines->count, pairs[3] = {n, count, 3},
             points[4] = {n, count, poses->count, 3}, matrices[4] = {n, count, poses->count, 9};
    PyObject *jacobians = arap_new_doubles(4, matrices, NULL);
    double *out = jacobians ? PyArray_DATA((PyArrayObject *)jacobians) : NULL;
    for (int i = 0; out && i < mesh->count; i++)
        for (int k = 0; k < spines->count; k++)
            for (int p = 0; p < poses->count; p++, out += 9)
                arap_spine_jacobian(spines, mesh, p, i, k,
                                    poses->transform + 12 * ((size_t)p * (size_t)poses->columns +
                                                             (size_t)spines->bone[k]),
                                    out, NULL);
    put(dict, "spine_jacobian", jacobians);
    put(dict, "spine_parameter", arap_new_doubles(2, pairs, spines->parameter));
    put(dict, "spine_gradient", arap_new_doubles(3, pairs, spines->gradient));
    put(dict, "spine_point", arap_new_doubles(4, points, spines->point));
}

/* The springs, grouped by vertex. Bones are numbered among the deforming ones. */
static void put_springs(PyObject *dict, const arap_mesh *mesh) {
    npy_intp count = (npy_intp)mesh->spring_start[mesh->count];
#define MEMBER(name, type, items)                                                                  \
    put(dict, "spring_" #name,                                                                     \
        arap_new_members(type, count, items, &mesh->spring->name, sizeof *mesh->spring))
    put(dict, "spring_start", arap_new_sizes(mesh->count + 1, mesh->spring_start));
    MEMBER(bone, NPY_INT, 1);
    MEMBER(column, NPY_INT, 2);
    MEMBER(share, NPY_DOUBLE, 2);
    MEMBER(point, NPY_DOUBLE, 3);
    MEMBER(strength, NPY_DOUBLE, 1);
    MEMBER(held, NPY_DOUBLE, 1);
    MEMBER(weight, NPY_DOUBLE, 1);
#undef MEMBER
}

/* The entries of the unknowns and of their balances, and the unknown of each entry, or -1. */
static void put_unknowns(PyObject *dict, const arap_system *system, const arap_influences *in) {
    npy_intp entries = (npy_intp)in->start[in->count], unknowns = system->unknowns;
    PyObject *entry = PyArray_SimpleNew(1, &unknowns, NPY_INT64);
    PyObject *unknown = PyArray_SimpleNew(1, &entries, NPY_INT);
    PyObject *balance = PyArray_SimpleNew(1, &unknowns, NPY_INT64);
    if (entry && unknown && balance) {
        npy_int64 *to_entry = PyArray_DATA((PyArrayObject *)entry),
                  *to_balance = PyArray_DATA((PyArrayObject *)balance);
        int *number = PyArray_DATA((PyArrayObject *)unknown);
        for (npy_intp e = 0; e < entries; e++) number[e] = -1;
        for (int i = 0; i < in->count && unknowns; i++) /* shared weights are those of any vertex */
            for (int u = 0; u < system->size[i]; u++) {
                size_t e = arap_unknown_entry(system, i, u);
                to_entry[system->offset[i] + u] = (npy_int64)e;
                to_balance[system->offset[i] + u] = (npy_int64)arap_balance_entry(system, i);
                number[e] = number[arap_twin_of(&system->shared, e)] = system->offset[i] + u;
            }
    }
    put(dict, "entry", entry);
    put(dict, "unknown", unknown);
    put(dict, "balance", balance);
}

static void put_system(PyObject *dict, const struct arap_test_state *in) {
    const arap_system *system = in->system;
    npy_intp unknowns = system->unknowns, stored = unknowns ? system->matrix.start[unknowns] : 0;
    npy_intp known = in->right_side ? (npy_intp)in->influences->start[in->mesh->count] : 0;
    put_unknowns(dict, system, in->influences);
    put_doubles(dict, "right_side", known, in->right_side);
    put_doubles(dict, "product", known, in->product);
    put_ints(dict, "column", unknowns + 1, system->matrix.start);
    put_ints(dict, "row", stored, system->matrix.row);
    put_doubles(dict, "value", stored, system->matrix.value);
    put_doubles(dict, "penalized", stored, system->penalized);
}

PyObject *arap_inside_dict(const arap_solver *solver) {
    struct arap_test_state in;
    arap_solver_inside(solver, &in);
    PyObject *dict = PyDict_New();
    if (!dict) return NULL;
    const arap_mesh *mesh = in.mesh;
    npy_intp n = mesh->count, edges = (npy_intp)mesh->ring[n], points[2] = {n, 3};
    npy_intp gram[4] = {in.poses->columns, in.poses->columns, 4, 4};
    npy_intp transforms[4] = {in.poses->count, in.poses->columns, 3, 4};
    npy_intp wires[2] = {(npy_intp)mesh->wire_count, 2}, owners[2] = {n, ARAP_MAX_SHARED};
    put(dict, "ring", arap_new_sizes(n + 1, mesh->ring));
    put_ints(dict, "weld", mesh->input_count, mesh->weld);
    put_ints(dict, "part", n, mesh->part);
    put(dict, "wires", arap_new_ints(2, wires, mesh->wires));
    put(dict, "points", arap_new_doubles(2, points, mesh->v));
    put(dict, "unit", PyFloat_FromDouble(mesh->unit));
    put(dict, "diagonal", PyFloat_FromDouble(mesh->diagonal));
    put_ints(dict, "neighbor", edges, mesh->neighbor);
    put_doubles(dict, "edge_weight", edges, mesh->edge_weight);
    put_doubles(dict, "area", n, mesh->area);
    put(dict, "transform", arap_new_doubles(4, transforms, in.poses->transform));
    put(dict, "gram", arap_new_doubles(4, gram, in.poses->gram));
    put(dict, "start", arap_new_sizes(n + 1, in.influences->start));
    put_ints(dict, "bone", (npy_intp)in.influences->start[n], in.influences->bone);
    put(dict, "visits", PyLong_FromLong(in.visits));
    put_system(dict, &in);
    if (in.poses->spines.count) put_spines(dict, mesh, in.poses);
    if (mesh->spring_start) put_springs(dict, mesh);
    if (in.clusters) put_ints(dict, "cluster", n, in.clusters);
    if (in.visibility) {
        put_bytes(dict, "visible", NPY_BOOL, n, in.visibility->visible);
        put_bytes(dict, "nearest_count", NPY_BYTE, n, in.visibility->nearest_count);
        put_doubles(dict, "distance", n, in.visibility->distance);
        put(dict, "nearest", arap_new_ints(2, owners, in.visibility->nearest));
    }
    if (in.symmetry->vertex) {
        put_ints(dict, "symmetry_vertex", n, in.symmetry->vertex);
        put_bytes(dict, "symmetric", NPY_BOOL, n, in.symmetry->symmetric);
    }
    if (PyErr_Occurred()) Py_CLEAR(dict);
    return dict;
}
