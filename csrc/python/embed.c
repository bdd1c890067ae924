/* The function embed of the module: see the stubs. */
#include <limits.h>

#include "mesh/embed.h"
#include "python/error.h"
#include "python/functions.h"
#include "python/input.h"

/* 0, or -1 with an exception that names the first index out of range. */
static int check_tets(const int *tets, npy_intp count, npy_intp vertices) {
    for (npy_intp i = 0; i < 4 * count; i++) {
        if (tets[i] >= 0 && tets[i] < vertices) continue;
        PyErr_Format(PyExc_ValueError, "tets[%zd, %zd] is %d: no vertex of the %zd there are",
                     i / 4, i % 4, tets[i], vertices);
        return -1;
    }
    return 0;
}

PyObject *arap_py_embed(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices", "tets", "points", "threads", NULL};
    PyObject *vertices, *tets, *points, *tet = NULL, *bary = NULL, *distance = NULL;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_py_job run;
    arap_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|$O&:embed", names, &vertices, &tets,
                                     &points, arap_read_int, &threads) ||
        arap_py_job_init(&run, NULL, threads.value))
        return NULL;
    arap_shape corners = {2, {-1, 3}}, cells = {2, {-1, 4}}, wanted = {2, {-1, 3}};
    const double *v = arap_doubles(&arrays, vertices, "vertices", &corners), *p = NULL;
    const int *t = NULL;
    if (!PyErr_Occurred()) t = arap_ints(&arrays, tets, "tets", &cells);
    if (!PyErr_Occurred()) p = arap_doubles(&arrays, points, "points", &wanted);
    if (PyErr_Occurred()) goto done;
    if (!v || !t || !p) {
        PyErr_SetString(PyExc_TypeError, "vertices, tets and points must be arrays, not None");
        goto done;
    }
    if (!cells.size[0] || cells.size[0] > INT_MAX || wanted.size[0] > INT_MAX) {
        PyErr_SetString(PyExc_ValueError, cells.size[0] ? "there are too many tets or points"
                                                        : "there are no tets to embed points in");
        goto done;
    }
    if (arap_check_finite(v, 3 * corners.size[0], "vertices") ||
        arap_check_finite(p, 3 * wanted.size[0], "points") ||
        check_tets(t, cells.size[0], corners.size[0]))
        goto done;
    npy_intp count = wanted.size[0], sizes[2] = {count, 4};
    tet = arap_new_ints(1, &count, NULL);
    bary = tet ? arap_new_doubles(2, sizes, NULL) : NULL;
    distance = bary ? arap_new_doubles(1, &count, NULL) : NULL;
    if (!distance) goto done;
    int *to_tet = PyArray_DATA((PyArrayObject *)tet);
    double *to_bary = PyArray_DATA((PyArrayObject *)bary),
           *to_distance = PyArray_DATA((PyArrayObject *)distance);
    Py_BEGIN_ALLOW_THREADS status =
        arap_embed(&run.job, (size_t)corners.size[0], v, t, (size_t)cells.size[0], (int)count, p,
                   to_tet, to_bary, to_distance);
    Py_END_ALLOW_THREADS if (status) arap_raise(PyModule_GetState(module), &run.job);

done:
    arap_arrays_release(&arrays);
    if (!PyErr_Occurred()) return Py_BuildValue("(NNN)", tet, bary, distance);
    Py_XDECREF(tet);
    Py_XDECREF(bary);
    Py_XDECREF(distance);
    return NULL;
}
