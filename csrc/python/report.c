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
    npy_intp entries = (npy_intp)in->start[in->count];
    return Py_BuildValue("(NNN)", arap_new_sizes(in->count + 1, in->start),
                         arap_new_ints(1, &entries, in->bone),
                         arap_new_doubles(1, &entries, in->weight));
}

static PyObject *entry_of(const arap_report_entry *entry, const void *report, PyObject *made) {
    const void *member = (const char *)report + entry->offset;
    if (entry->kind == ARAP_ENTRY_MADE) {
        PyObject *value = PyDict_GetItemString(made, entry->name);
        return Py_XNewRef(value);
    }
    if (entry->kind == ARAP_ENTRY_NUMBER) return PyFloat_FromDouble(*(const double *)member);
    if (entry->kind == ARAP_ENTRY_SIZE) return PyLong_FromSize_t(*(const size_t *)member);
    return PyLong_FromLong(*(const int *)member);
}

PyObject *arap_report_dict(size_t count, const arap_report_entry *entries, const void *report,
                           PyObject *made) {
    PyObject *dict = made ? PyDict_New() : NULL;
    for (size_t k = 0; dict && k < count; k++) {
        PyObject *value = entry_of(entries + k, report, made);
        if (!value || PyDict_SetItemString(dict, entries[k].name, value)) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    Py_XDECREF(made);
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
    size_t stride = sizeof *springs;
    PyObject *released = PyArray_SimpleNew(1, &size, NPY_BOOL);
    for (size_t j = 0; released && j < count; j++)
        ((npy_bool *)PyArray_DATA((PyArrayObject *)released))[j] = springs[j].released != 0;
    return Py_BuildValue("(NNNN)", arap_new_members(NPY_INT, size, 1, &springs->vertex, stride),
                         arap_new_members(NPY_INT, size, 1, &springs->bone, stride),
                         arap_new_members(NPY_DOUBLE, size, 1, &springs->held, stride), released);
}
