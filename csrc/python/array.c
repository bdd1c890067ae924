/* Checked access to NumPy arrays: see python/array.h. Arrays are copied in O(size). Fails with an
 * exception that names the array. All functions need the GIL. */
#include "python/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void arap_arrays_release(arap_arrays *arrays) {
    for (int i = 0; i < arrays->count; i++) Py_DECREF(arrays->held[i]);
    arrays->count = 0;
}

void *arap_hold(arap_arrays *arrays, PyObject *array) {
    if (!array) return NULL;
    if (arrays->count == ARAP_MAX_ARRAYS) {
        Py_DECREF(array);
        PyErr_SetString(PyExc_SystemError, "too many arrays for one call");
        return NULL;
    }
    arrays->held[arrays->count++] = array;
    return PyArray_DATA((PyArrayObject *)array);
}

static void print_shape(char *out, size_t room, int dimensions, const npy_intp *sizes) {
    size_t used = (size_t)snprintf(out, room, "(");
    const char *letter = "nkqrst"; /* each free size has its own name */
    for (int d = 0; d < dimensions && used < room; d++) {
        const char *comma = d ? ", " : "";
        used += (size_t)(sizes[d] < 0 ? snprintf(out + used, room - used, "%s%c", comma,
                                                 *letter ? *letter++ : 'n')
                                      : snprintf(out + used, room - used, "%s%lld", comma,
                                                 (long long)sizes[d]));
    }
    if (used < room) snprintf(out + used, room - used, dimensions == 1 ? ",)" : ")");
}

/* Prefix NumPy's ValueError or TypeError about an argument with its name. */
static void name_exception(const char *name) {
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_TypeError))
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(type, "%s: %S", name, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Whether all unsigned integers are below 2^63. Larger ones are negative in the signed copy. */
static int fits_signed(PyObject *copy, const char *name) {
    const long long *data = PyArray_DATA((PyArrayObject *)copy);
    npy_intp count = PyArray_SIZE((PyArrayObject *)copy), i = 0;
    while (i < count && data[i] >= 0) i++;
    if (i < count)
        PyErr_Format(PyExc_ValueError, "%s contains %llu: too large", name,
                     (unsigned long long)data[i]);
    return i == count;
}

/* Create a new contiguous array of `type`, or return NULL. `kinds`: the accepted dtype kinds. The
 * array is copied even if it already has the right type and order, because the caller may modify
 * the original while the GIL is released and in progress functions. */
static PyObject *convert(PyObject *argument, const char *name, int type, const char *kinds,
                         const char *expected, arap_shape *shape) {
    PyObject *any = PyArray_FROM_O(argument);
    if (!any) {
        name_exception(name);
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)any;
    char kind = PyArray_DESCR(array)->kind;
    int empty = PyArray_SIZE(array) == 0; /* an empty list has dtype float64 */
    if (!strchr(kinds, kind) && !empty) {
        PyErr_Format(PyExc_TypeError, "%s must contain %s, not %R", name, expected,
                     (PyObject *)PyArray_DESCR(array));
        Py_DECREF(any);
        return NULL;
    }
    int fits = PyArray_NDIM(array) == shape->dimensions;
    for (int d = 0; fits && d < shape->dimensions; d++)
        fits = shape->size[d] < 0 || shape->size[d] == PyArray_DIM(array, d);
    if (!fits && empty && shape->size[0] <= 0) { /* nothing at all, in any shape */
        for (int d = 0; d < shape->dimensions; d++)
            if (d == 0 || shape->size[d] < 0) shape->size[d] = 0;
        Py_DECREF(any);
        return PyArray_SimpleNew(shape->dimensions, shape->size, type);
    }
    if (!fits) {
        char found[96], wanted[96];
        print_shape(found, sizeof found, PyArray_NDIM(array), PyArray_DIMS(array));
        print_shape(wanted, sizeof wanted, shape->dimensions, shape->size);
        PyErr_Format(PyExc_ValueError, "%s has shape %s, expected %s", name, found, wanted);
        Py_DECREF(any);
        return NULL;
    }
    PyObject *result = PyArray_FROMANY(any, type, shape->dimensions, shape->dimensions,
                                       NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST |
                                           NPY_ARRAY_ENSURECOPY | NPY_ARRAY_ENSUREARRAY);
    Py_DECREF(any);
    if (!result) return NULL;
    for (int d = 0; d < shape->dimensions; d++)
        shape->size[d] = PyArray_DIM((PyArrayObject *)result, d);
    if (type == NPY_LONGLONG && kind == 'u' && !fits_signed(result, name)) Py_CLEAR(result);
    return result;
}

const double *arap_doubles(arap_arrays *arrays, PyObject *argument, const char *name,
                           arap_shape *shape) {
    if (!argument || argument == Py_None) return NULL;
    return arap_hold(arrays, convert(argument, name, NPY_DOUBLE, "fiu", "numbers", shape));
}

int arap_check_finite(const double *data, npy_intp count, const char *name) {
    for (npy_intp i = 0; i < count; i++) {
        if (isfinite(data[i])) continue;
        char text[32];
        snprintf(text, sizeof text, "%g", data[i]);
        PyErr_Format(PyExc_ValueError, "%s contains %s: not finite", name, text);
        return -1;
    }
    return 0;
}

int arap_check_indices(const int *indices, npy_intp count, int corners, npy_intp vertices,
                       const char *name) {
    for (npy_intp i = 0; i < count * corners; i++) {
        if (indices[i] >= 0 && indices[i] < vertices) continue;
        PyErr_Format(PyExc_ValueError, "%s[%zd, %zd] is %d, but there are %zd vertices", name,
                     i / corners, i % corners, indices[i], vertices);
        return -1;
    }
    return 0;
}

const long long *arap_longs(arap_arrays *arrays, PyObject *argument, const char *name,
                            arap_shape *shape) {
    if (!argument || argument == Py_None) return NULL;
    return arap_hold(arrays, convert(argument, name, NPY_LONGLONG, "iu", "integers", shape));
}

const int *arap_ints(arap_arrays *arrays, PyObject *argument, const char *name, arap_shape *shape) {
    if (!argument || argument == Py_None) return NULL;
    PyObject *wide = convert(argument, name, NPY_LONGLONG, "iu", "integers", shape);
    if (!wide) return NULL;
    PyObject *array = PyArray_SimpleNew(shape->dimensions, shape->size, NPY_INT);
    if (array) {
        const long long *from = PyArray_DATA((PyArrayObject *)wide);
        int *to = PyArray_DATA((PyArrayObject *)array);
        npy_intp count = PyArray_SIZE((PyArrayObject *)wide);
        for (npy_intp i = 0; i < count; i++) {
            to[i] = (int)from[i];
            if (to[i] == from[i]) continue;
            PyErr_Format(PyExc_ValueError, "%s contains %lld: too large", name, from[i]);
            Py_CLEAR(array);
            break;
        }
    }
    Py_DECREF(wide);
    return arap_hold(arrays, array);
}

/* Whether an array, or an array-like value, holds integers. Only 0 and 1 are accepted as False and
 * True, because other codes and their complements would all count as true. */
static int holds_integers(PyObject *argument) {
    PyObject *any = PyArray_FROM_O(argument);
    char kind = any ? PyArray_DESCR((PyArrayObject *)any)->kind : 0;
    if (!any) PyErr_Clear(); /* convert() raises it again, with the name */
    Py_XDECREF(any);
    return kind == 'i' || kind == 'u';
}

const char *arap_bools(arap_arrays *arrays, PyObject *argument, const char *name,
                       arap_shape *shape) {
    if (!argument || argument == Py_None) return NULL;
    if (!holds_integers(argument))
        return arap_hold(arrays, convert(argument, name, NPY_BOOL, "biu", "booleans", shape));
    PyObject *wide = convert(argument, name, NPY_LONGLONG, "biu", "booleans", shape);
    if (!wide) return NULL;
    PyObject *array = PyArray_SimpleNew(shape->dimensions, shape->size, NPY_BOOL);
    if (array) {
        const long long *from = PyArray_DATA((PyArrayObject *)wide);
        npy_bool *to = PyArray_DATA((PyArrayObject *)array);
        npy_intp count = PyArray_SIZE((PyArrayObject *)wide), i = 0;
        for (; i < count && (from[i] == 0 || from[i] == 1); i++) to[i] = from[i] == 1;
        if (i < count) {
            PyErr_Format(PyExc_ValueError, "%s contains %lld: must be True or False", name,
                         from[i]);
            Py_CLEAR(array);
        }
    }
    Py_DECREF(wide);
    return arap_hold(arrays, array);
}

const double *arap_transforms(arap_arrays *arrays, PyObject *argument, const char *name,
                              const char *item, arap_shape *shape) {
    shape->dimensions = 4;
    shape->size[2] = -1;
    shape->size[3] = 4;
    const double *data = arap_doubles(arrays, argument, name, shape);
    if (!data) return NULL;
    npy_intp rows = shape->size[2], count = shape->size[0], items = shape->size[1];
    if (count && rows != 3 && rows != 4) {
        PyErr_Format(PyExc_ValueError, "%s has %zd rows per transform, expected 3 or 4", name,
                     rows);
        return NULL;
    }
    if (rows != 4) return data;
    npy_intp sizes[4] = {count, items, 3, 4}; /* drop the last rows */
    double *to = arap_hold(arrays, PyArray_SimpleNew(4, sizes, NPY_DOUBLE));
    for (npy_intp i = 0; to && i < count * items; i++) {
        const double *last = data + 16 * i + 12;
        double off = fabs(last[0]) + fabs(last[1]) + fabs(last[2]) + fabs(last[3] - 1);
        if (!(off <= 1e-5)) { /* rounding of a matrix product does not count as perspective */
            PyErr_Format(PyExc_ValueError,
                         "%s[%zd] of %s %zd has a last row other than (0, 0, 0, 1)", name,
                         i / items, item, i % items);
            return NULL;
        }
        memcpy(to + 12 * i, data + 16 * i, 12 * sizeof(double));
    }
    return to;
}

PyObject *arap_new_array(int type, int dimensions, const npy_intp *sizes, const void *data) {
    PyObject *array = PyArray_SimpleNew(dimensions, sizes, type);
    if (array && data)
        memcpy(PyArray_DATA((PyArrayObject *)array), data,
               (size_t)PyArray_NBYTES((PyArrayObject *)array));
    return array;
}

PyObject *arap_new_doubles(int dimensions, const npy_intp *sizes, const double *data) {
    return arap_new_array(NPY_DOUBLE, dimensions, sizes, data);
}

PyObject *arap_new_ints(int dimensions, const npy_intp *sizes, const int *data) {
    return arap_new_array(NPY_INT, dimensions, sizes, data);
}

PyObject *arap_new_sizes(npy_intp count, const size_t *data) {
    PyObject *array = PyArray_SimpleNew(1, &count, NPY_INT64);
    npy_int64 *to = array ? PyArray_DATA((PyArrayObject *)array) : NULL;
    for (npy_intp i = 0; array && i < count; i++) to[i] = (npy_int64)data[i];
    return array;
}

PyObject *arap_new_members(int type, npy_intp count, int items, const void *first, size_t size) {
    npy_intp sizes[2] = {count, items};
    PyObject *array = PyArray_SimpleNew(items > 1 ? 2 : 1, sizes, type);
    if (!array) return NULL;
    char *to = PyArray_DATA((PyArrayObject *)array);
    size_t bytes = (size_t)items * (size_t)PyArray_ITEMSIZE((PyArrayObject *)array);
    for (npy_intp i = 0; i < count; i++)
        memcpy(to + bytes * (size_t)i, (const char *)first + size * (size_t)i, bytes);
    return array;
}
