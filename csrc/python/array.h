/* Checked access to NumPy arrays with consistent error messages. */
#ifndef ARAP_PYARRAY_H
#define ARAP_PYARRAY_H

/* python/module.c defines ARAP_IMPORT_ARRAY before it includes this header, because only that file
 * imports NumPy's API. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define PY_ARRAY_UNIQUE_SYMBOL araplbs_array_api
#ifndef ARAP_IMPORT_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

/* Contiguous arrays that are kept for the duration of one call and released together. */
#define ARAP_MAX_ARRAYS 40
typedef struct arap_arrays {
    int count;
    PyObject *held[ARAP_MAX_ARRAYS];
} arap_arrays;

void arap_arrays_release(arap_arrays *arrays);

/* Take ownership of a new array and return its data; NULL with an exception if there is no array or
 * no room for it. */
void *arap_hold(arap_arrays *arrays, PyObject *array);

/* The dimensions of an argument; -1 accepts any size and is replaced by the actual one. */
typedef struct arap_shape {
    int dimensions;
    npy_intp size[4];
} arap_shape;

/* Return copied data of a numeric / integer / boolean argument in the given shape, or NULL with a
 * Python exception that names the argument. None gives NULL without an exception. */
const double *arap_doubles(arap_arrays *arrays, PyObject *argument, const char *name,
                           arap_shape *shape);
/* Raise ValueError and return -1 if any of `count` numbers is not finite. */
int arap_check_finite(const double *data, npy_intp count, const char *name);
/* Raise ValueError and return -1 if any index in `count` rows of `corners` is negative, or not
 * below `vertices`. */
int arap_check_indices(const int *indices, npy_intp count, int corners, npy_intp vertices,
                       const char *name);
const int *arap_ints(arap_arrays *arrays, PyObject *argument, const char *name, arap_shape *shape);
const long long *arap_longs(arap_arrays *arrays, PyObject *argument, const char *name,
                            arap_shape *shape);
const char *arap_bools(arap_arrays *arrays, PyObject *argument, const char *name,
                       arap_shape *shape);

/* Convert transforms (count, items, 3 or 4, 4) to (count, items, 3, 4); NULL with an exception on
 * failure. shape: count and items, replaced by the actual values. */
const double *arap_transforms(arap_arrays *arrays, PyObject *argument, const char *name,
                              const char *item, arap_shape *shape);

/* Create new arrays that hold a copy, or no values if `data` is NULL; NULL with an exception when
 * out of memory. */
PyObject *arap_new_array(int type, int dimensions, const npy_intp *sizes, const void *data);
PyObject *arap_new_doubles(int dimensions, const npy_intp *sizes, const double *data);
PyObject *arap_new_ints(int dimensions, const npy_intp *sizes, const int *data);
/* int64 */
PyObject *arap_new_sizes(npy_intp count, const size_t *data);
/* A member of `count` structs of `size` bytes: (count) values or, for arrays, (count, items). */
PyObject *arap_new_members(int type, npy_intp count, int items, const void *first, size_t size);

#endif
