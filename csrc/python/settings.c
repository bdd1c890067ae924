/* Creates an entry of araplbs.SETTINGS from the tables of the parser. The cost is negligible. Fails
 * only on out-of-memory, with a Python exception. */
#include "python/arguments.h"

/* A new object: the default of a setting or an end of its range, or None if a setting has no such
 * value. */
enum which { DEFAULT_VALUE, MINIMUM, MAXIMUM };
static PyObject *value_of(const arap_setting *s, enum which which) {
    double value = which == DEFAULT_VALUE ? s->default_value : which == MINIMUM ? s->min : s->max;
    if (s->type == ARAP_SETTING_TUPLE) {
        PyObject *parts = PyTuple_New(s->parts->count);
        for (int i = 0; parts && i < s->parts->count; i++) {
            PyObject *part = value_of(s->parts->settings + i, which);
            if (!part || PyTuple_SetItem(parts, i, part)) Py_CLEAR(parts);
        }
        return parts;
    }
    if (s->type == ARAP_SETTING_CHOICE && which == DEFAULT_VALUE)
        return PyUnicode_FromString(s->choices[(int)value]);
    if (s->type == ARAP_SETTING_FLAG && which == DEFAULT_VALUE) return PyBool_FromLong(value != 0);
    if (s->type == ARAP_SETTING_CHOICE || s->type == ARAP_SETTING_FLAG) return Py_NewRef(Py_None);
    if (s->type == ARAP_SETTING_REAL) return PyFloat_FromDouble(value);
    if (s->type == ARAP_SETTING_SEED && which == MAXIMUM)
        return PyLong_FromUnsignedLongLong(UINT64_MAX);
    return PyLong_FromLongLong((long long)value);
}

static PyObject *choices_of(const arap_setting *s) {
    int count = 0;
    if (s->type != ARAP_SETTING_CHOICE) return Py_NewRef(Py_None);
    while (s->choices[count]) count++;
    PyObject *choices = PyTuple_New(count);
    for (int i = 0; choices && i < count; i++) {
        PyObject *choice = PyUnicode_FromString(s->choices[i]);
        if (!choice || PyTuple_SetItem(choices, i, choice)) Py_CLEAR(choices);
    }
    return choices;
}

static PyObject *type_of(const arap_setting *s) {
    switch (s->type) {
    case ARAP_SETTING_REAL:
        return (PyObject *)&PyFloat_Type;
    case ARAP_SETTING_FLAG:
        return (PyObject *)&PyBool_Type;
    case ARAP_SETTING_CHOICE:
        return (PyObject *)&PyUnicode_Type;
    case ARAP_SETTING_TUPLE:
        return (PyObject *)&PyTuple_Type;
    default:
        return (PyObject *)&PyLong_Type;
    }
}

static PyObject *read_only(PyObject *dict) {
    PyObject *proxy = dict ? PyDictProxy_New(dict) : NULL;
    Py_XDECREF(dict);
    return proxy;
}

PyObject *arap_signature_settings(const arap_signature *signature) {
    arap_parameter parameters[ARAP_MAX_PARAMETERS];
    int count = arap_parameters(signature, parameters);
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < count; i++) {
        const arap_setting *s = parameters[i].setting;
        if (!s) continue;
        PyObject *entry = read_only(
            Py_BuildValue("{s:O,s:N,s:N,s:N,s:N,s:s}", "type", type_of(s), "default",
                          value_of(s, DEFAULT_VALUE), "min", value_of(s, MINIMUM), "max",
                          value_of(s, MAXIMUM), "choices", choices_of(s), "about", s->description));
        if (!entry || PyDict_SetItemString(all, s->name, entry)) Py_CLEAR(all);
        Py_XDECREF(entry);
    }
    return read_only(all);
}
