/* Converts weights, springs and times to Python objects: see python/report.h. Everything is copied.
 * Fails with a Python exception on out-of-memory. All functions need the GIL. */
#include "python/report.h"

PyObject *arap_dense_weights(const arap_influences *in, int bones) {
    npy_intp sizes[2] = {in->count, bones};
    PyObject *array = PyArray_ZEROS(2, sizes, NPY_DOUBLE, 0);
    if (!array) return NULL;
    double *out = PyArray_DATA((PyArrayObject *)array);
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            out[(size_t)i * (size_t)bones + (size_t)in->bone[e]] = in->weight[e];
    return array;
}

PyObject *arap_py_sparse_weights(const arap_influences *in) {
    npy_intp starts = in->count + 1, entries = (npy_intp)in->start[in->count];
    PyObject *start = PyArray_SimpleNew(1, &starts, NPY_INT64);
    if (!start) return NULL;
    npy_int64 *to = PyArray_DATA((PyArrayObject *)start);
    for (npy_intp i = 0; i < starts; i++) to[i] = (npy_int64)in->start[i];
    return Py_BuildValue("(NNN)", start, arap_new_ints(1, &entries, in->bone),
                         arap_new_doubles(1, &entries, in->weight));
}

static PyObject *entry_of(const arap_report_entry *entry, const void *report) {
    const void *member = (const char *)report + entry->offset;
    if (entry->make) return entry->make(report);
    if (entry->kind == ARAP_ENTRY_NUMBER) return PyFloat_FromDouble(*(const double *)member);
    if (entry->kind == ARAP_ENTRY_SIZE) return PyLong_FromSize_t(*(const size_t *)member);
    return PyLong_FromLong(*(const int *)member);
}

PyObject *arap_report_dict(size_t count, const arap_report_entry *entries, const void *report) {
    PyObject *dict = PyDict_New();
    for (size_t k = 0; dict && k < count; k++) {
        PyObject *value = entry_of(entries + k, report);
        if (!value || PyDict_SetItemString(dict, entries[k].name, value)) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *arap_stage_seconds(int count, const char *const *names, const double *seconds) {
    PyObject *dict = PyDict_New();
    for (int t = 0; dict && t < count; t++) {
        PyObject *value = PyFloat_FromDouble(seconds[t]);
        if (!value || PyDict_SetItemString(dict, names[t], value)) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *arap_spring_arrays(size_t count, const arap_spring_view *springs) {
    npy_intp size = (npy_intp)count;
    PyObject *vertex = PyArray_SimpleNew(1, &size, NPY_INT32),
             *bone = PyArray_SimpleNew(1, &size, NPY_INT32),
             *held = PyArray_SimpleNew(1, &size, NPY_DOUBLE),
             *released = PyArray_SimpleNew(1, &size, NPY_BOOL);
    for (size_t j = 0; vertex && bone && held && released && j < count; j++) {
        ((npy_int32 *)PyArray_DATA((PyArrayObject *)vertex))[j] = springs[j].vertex;
        ((npy_int32 *)PyArray_DATA((PyArrayObject *)bone))[j] = springs[j].bone;
        ((double *)PyArray_DATA((PyArrayObject *)held))[j] = springs[j].held;
        ((npy_bool *)PyArray_DATA((PyArrayObject *)released))[j] = springs[j].released != 0;
    }
    return Py_BuildValue("(NNNN)", vertex, bone, held, released);
}
