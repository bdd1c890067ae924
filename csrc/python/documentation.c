/* Creates the text of help() for users and the entry of araplbs.SETTINGS for programs, both from
 * the tables of the parser. The cost is negligible. Fails only on out-of-memory, with a Python
 * exception. */
#include "python/arguments.h"

#include <string.h>

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

/* Wrap the line into rows of at most WIDTH characters, all but the first indented; takes the
 * reference. */
#define WIDTH 100
#define FURTHER "        "
static PyObject *wrapped(PyObject *line) {
    Py_ssize_t length, begin = 0;
    const char *text = line ? PyUnicode_AsUTF8AndSize(line, &length) : NULL;
    PyObject *result = text ? PyUnicode_FromString("") : NULL;
    while (result && begin < length) {
        Py_ssize_t room = WIDTH - (begin ? (Py_ssize_t)strlen(FURTHER) : 0), end = length;
        if (length - begin > room + 1) { /* 1: the line's end */
            end = begin + room;
            while (end > begin && text[end] != ' ') end--;
            if (end == begin) end = length;
        }
        PyObject *row = PyUnicode_FromStringAndSize(text + begin, end - begin), *all = NULL;
        if (row)
            all = PyUnicode_FromFormat("%U%s%U%s", result, begin ? FURTHER : "", row,
                                       end < length ? "\n" : "");
        Py_XDECREF(row);
        Py_DECREF(result);
        result = all;
        begin = end + (end < length);
    }
    Py_XDECREF(line);
    return result;
}

/* Append to a list of str; takes the reference. Returns -1 with an exception. */
static int add(PyObject *list, PyObject *text) {
    int failed = !text || PyList_Append(list, text);
    Py_XDECREF(text);
    return failed ? -1 : 0;
}

/* "vertices, triangles, *, edges=None, bone_spring_stiffness=12.0" */
static PyObject *header(const arap_parameter *parameters, int count) {
    PyObject *list = PyList_New(0), *comma = PyUnicode_FromString(", "), *result = NULL;
    int failed = !list || !comma, keyword = 0;
    for (int i = 0; i < count && !failed; i++) {
        const arap_parameter *p = parameters + i;
        if (p->keyword && !keyword) failed = add(list, PyUnicode_FromString("*"));
        keyword = p->keyword;
        if (failed) break;
        PyObject *name = PyUnicode_FromStringAndSize(p->name, p->length), *value = NULL;
        if (p->setting)
            value = value_of(p->setting, DEFAULT_VALUE);
        else if (p->argument->type == ARAP_FLAG)
            value = PyBool_FromLong(p->argument->default_value);
        else if (p->argument->type == ARAP_INT)
            value = PyLong_FromLong(p->argument->default_value);
        else
            value = Py_NewRef(Py_None);
        failed =
            !name || !value ||
            add(list, p->required ? Py_NewRef(name) : PyUnicode_FromFormat("%U=%R", name, value));
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    if (!failed) result = PyUnicode_Join(comma, list);
    Py_XDECREF(list);
    Py_XDECREF(comma);
    return result;
}

static PyObject *argument_line(const arap_argument *a) {
    static const char *const types[] = {"float", "int", "bool", "float", "float"};
    const char *colon = a->description[0] ? ": " : "";
    if (a->type == ARAP_OBJECT)
        return PyUnicode_FromFormat("    %s, %s%s%s\n", a->name, a->shape, colon, a->description);
    if (!a->shape) return PyUnicode_FromFormat("    %s%s%s\n", a->name, colon, a->description);
    char shape[40];
    size_t used = 0;
    for (const char *c = a->shape; *c && used + 3 < sizeof shape; c++) {
        if (*c == ' ') shape[used++] = ',';
        shape[used++] = *c;
    }
    shape[used] = 0;
    return PyUnicode_FromFormat("    %s, %s (%s%s)%s%s\n", a->name, types[a->type], shape,
                                a->type == ARAP_TRANSFORMS ? ", 3 or 4, 4" : "", colon,
                                a->description);
}

static PyObject *setting_line(const arap_setting *s) {
    PyObject *min = value_of(s, MINIMUM), *max = value_of(s, MAXIMUM), *choices = choices_of(s),
             *line = NULL;
    if (!min || !max || !choices) goto done;
    if (s->type == ARAP_SETTING_CHOICE)
        line = PyUnicode_FromFormat("    %s, one of %R: %s\n", s->name, choices, s->description);
    else if (s->type == ARAP_SETTING_FLAG)
        line = PyUnicode_FromFormat("    %s, bool: %s\n", s->name, s->description);
    else
        line = PyUnicode_FromFormat("    %s, %R to %R: %s\n", s->name, min, max, s->description);

done:
    Py_XDECREF(min);
    Py_XDECREF(max);
    Py_XDECREF(choices);
    return line;
}

PyObject *arap_signature_doc(const arap_signature *signature) {
    arap_parameter parameters[ARAP_MAX_PARAMETERS];
    int count = arap_parameters(signature, parameters);
    PyObject *lines = PyList_New(0), *names = header(parameters, count), *result = NULL,
             *nothing = PyUnicode_FromString("");
    int failed =
        !lines || !names || !nothing ||
        add(lines, PyUnicode_FromFormat("%s(%U)\n--\n\n%s\n\nArguments\n", signature->function,
                                        names, signature->description));
    for (int i = 0; i < count && !failed; i++)
        if (parameters[i].argument && !parameters[i].setting)
            failed = add(lines, wrapped(argument_line(parameters[i].argument)));
    failed = failed || add(lines, PyUnicode_FromString("\nSettings\n"));
    for (int i = 0; i < count && !failed; i++)
        if (parameters[i].setting)
            failed = add(lines, wrapped(setting_line(parameters[i].setting)));
    if (!failed) result = PyUnicode_Join(nothing, lines);
    Py_XDECREF(lines);
    Py_XDECREF(names);
    Py_XDECREF(nothing);
    return result;
}

PyObject *arap_make_type(PyObject *module, PyType_Spec *spec, const arap_signature *signature) {
    PyType_Slot slots[16] = {{0, NULL}};
    PyType_Spec documented = *spec;
    int count = 0;
    while (spec->slots[count].slot) count++;
    PyObject *doc = arap_signature_doc(signature);
    const char *text = doc ? PyUnicode_AsUTF8AndSize(doc, NULL) : NULL;
    PyObject *type = NULL;
    if (text) {
        for (int i = 0; i < count; i++) slots[i] = spec->slots[i];
        slots[count] = (PyType_Slot){Py_tp_doc, (void *)text}; /* which is copied */
        documented.slots = slots;
        type = PyType_FromModuleAndSpec(module, &documented, NULL);
    }
    Py_XDECREF(doc);
    return type;
}
