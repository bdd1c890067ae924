/* Parses the arguments of a call by the tables of arguments and settings: see python/arguments.h.
 *
 * The names in a call are first looked up in its signature. Then settings are read in the order of
 * the signature, and after them all other arguments in the order of arguments.def, in which the
 * letters of shapes get their values. Arrays are copied. Fails with an exception that names the
 * argument. All functions need the GIL. */
#include "python/arguments.h"

#include <limits.h>
#include <string.h>

#define ROW(name, type, shape, default_value)                                                      \
    {#name, type, offsetof(arap_inputs, name), shape, default_value},
static const arap_argument arguments[] = {
#define DOUBLES(name, shape, ...) ROW(name, ARAP_DOUBLES, shape, 0)
#define INTS(name, shape, ...) ROW(name, ARAP_INTS, shape, 0)
#define BOOLS(name, shape, ...) ROW(name, ARAP_BOOLS, shape, 0)
#define TRANSFORMS(name, shape, ...) ROW(name, ARAP_TRANSFORMS, shape, 0)
#define ENDS(name, shape, ...) ROW(name, ARAP_ENDS, shape, 0)
#define OBJECT(name, ...) ROW(name, ARAP_OBJECT, NULL, 0)
#define INT(name, default_value, ...) ROW(name, ARAP_INT, NULL, default_value)
#define FLAG(name, default_value, ...) ROW(name, ARAP_FLAG, NULL, default_value)
#include "python/arguments.def"
};
#define ARGUMENTS (int)(sizeof arguments / sizeof *arguments)

static int is_name(const char *name, const char *text, Py_ssize_t length) {
    return strlen(name) == (size_t)length && !strncmp(name, text, (size_t)length);
}

/* Find the argument with the name of a parameter. */
static void look_up(const arap_signature *signature, arap_parameter *p) {
    for (int i = 0; i < ARGUMENTS; i++)
        if (is_name(arguments[i].name, p->name, p->length)) p->argument = arguments + i;
    for (int t = 0; t < ARAP_TABLES && signature->tables[t] && !p->setting; t++)
        for (int i = 0; i < signature->tables[t]->count; i++) {
            const arap_setting *setting = signature->tables[t]->settings + i;
            if (!is_name(setting->name, p->name, p->length)) continue;
            p->setting = setting;
            p->table = t;
        }
}

int arap_parameters(const arap_signature *signature, arap_parameter *out) {
    int count = 0, keyword = 0;
    const char *at = signature->names;
    for (; *at && count < ARAP_MAX_PARAMETERS; at += strspn(at, " ")) {
        Py_ssize_t length = (Py_ssize_t)strcspn(at, " "), all = length;
        const char *word = at;
        at += length;
        if (word[0] == '*') {
            keyword = 1;
            if (length == 1) continue;
            for (int t = 0; t < ARAP_TABLES && signature->tables[t]; t++)
                for (int i = 0; i < signature->tables[t]->count; i++) {
                    const arap_setting *setting = signature->tables[t]->settings + i;
                    int known = 0;
                    for (int k = 0; k < count; k++) known |= out[k].setting == setting;
                    if (!known && count < ARAP_MAX_PARAMETERS)
                        out[count++] = (arap_parameter){.name = setting->name,
                                                        .length = (Py_ssize_t)strlen(setting->name),
                                                        .keyword = 1,
                                                        .setting = setting,
                                                        .table = t};
                }
            continue;
        }
        if (word[all - 1] == '?' || word[all - 1] == '=') length--;
        out[count] = (arap_parameter){.name = word,
                                      .length = length,
                                      .keyword = keyword,
                                      .required = !keyword && word[all - 1] != '=',
                                      .is_set = !keyword && length == all};
        look_up(signature, out + count++);
    }
    return count;
}

void arap_inputs_init(arap_inputs *in) {
    *in = (arap_inputs){0};
    for (size_t i = 0; i < sizeof in->size / sizeof *in->size; i++) in->size[i] = -1;
    for (int i = 0; i < ARGUMENTS; i++)
        if (arguments[i].type == ARAP_INT || arguments[i].type == ARAP_FLAG)
            *(int *)((char *)in + arguments[i].offset) = arguments[i].default_value;
}

void arap_inputs_release(arap_inputs *in) { arap_arrays_release(&in->arrays); }

npy_intp arap_input_size(const arap_inputs *in, char letter) {
    npy_intp size = in->size[letter - 'a'];
    return size < 0 ? 0 : size;
}

/* Raise "name is value: must be what" instead of a TypeError. Returns -1. */
static int refuse_type(const char *name, PyObject *value, const char *what) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s is %R: must be %s", name, value, what);
    return -1;
}

int arap_read_int(PyObject *object, const char *name, int *out) {
    int overflow;
    long value = PyLong_AsLongAndOverflow(object, &overflow);
    if (value == -1 && PyErr_Occurred()) return refuse_type(name, object, "an integer");
    if (overflow || value < INT_MIN || value > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is %S: out of range", name, object);
        return -1;
    }
    *out = (int)value;
    return 0;
}

static int read_seed(PyObject *object, const char *name, uint64_t *out) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return refuse_type(name, object, "an integer");
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    int failed = value == (unsigned long long)-1 && PyErr_Occurred();
    if (failed)
        PyErr_Format(PyExc_ValueError, "%s is %S: must be from 0 to 2**64 - 1", name, number);
    Py_DECREF(number);
    *out = value;
    return failed ? -1 : 0;
}

static int read_choice(PyObject *object, const arap_setting *setting, int *out) {
    char among[200];
    size_t used = 0;
    for (int i = 0; setting->choices[i]; i++) {
        const char *between = !i ? "" : setting->choices[i + 1] ? ", " : " or ";
        used += (size_t)PyOS_snprintf(among + used, sizeof among - used, "%s'%s'", between,
                                      setting->choices[i]);
    }
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s is %R: must be a str, %s", setting->name, object, among);
        return -1;
    }
    for (int i = 0; setting->choices[i]; i++)
        if (!PyUnicode_CompareWithASCIIString(object, setting->choices[i])) {
            *out = i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "%s is %R: must be %s", setting->name, object, among);
    return -1;
}

static int read_setting(PyObject *object, const arap_setting *setting, void *settings);

static int read_tuple(PyObject *object, const arap_setting *setting, void *settings) {
    const arap_setting_table *parts = setting->parts;
    char expected[200] = "(";
    int failed = !PyTuple_Check(object) || PyTuple_Size(object) != parts->count;
    for (int i = 0; i < parts->count && !failed; i++)
        failed = read_setting(PyTuple_GetItem(object, i), parts->settings + i, settings);
    if (!failed) return 0;
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    for (int i = 0; i < parts->count; i++) {
        size_t used = strlen(expected);
        PyOS_snprintf(expected + used, sizeof expected - used, "%s%s", i ? ", " : "",
                      parts->settings[i].name);
    }
    PyErr_Format(PyExc_TypeError, "%s is %R, expected %s)", setting->name, object, expected);
    return -1;
}

static int read_setting(PyObject *object, const arap_setting *setting, void *settings) {
    void *to = (char *)settings + setting->offset;
    switch (setting->type) {
    case ARAP_SETTING_INTEGER:
        return arap_read_int(object, setting->name, to);
    case ARAP_SETTING_REAL:
        *(double *)to = PyFloat_AsDouble(object);
        return PyErr_Occurred() ? refuse_type(setting->name, object, "a real number") : 0;
    case ARAP_SETTING_FLAG:
        *(int *)to = PyObject_IsTrue(object);
        return *(int *)to < 0 ? -1 : 0;
    case ARAP_SETTING_SEED:
        return read_seed(object, setting->name, to);
    case ARAP_SETTING_CHOICE:
        return read_choice(object, setting, to);
    case ARAP_SETTING_TUPLE:
        return object == Py_None ? 0 : read_tuple(object, setting, to);
    }
    return -1;
}

/* The shape required by the currently known sizes. */
static arap_shape shape_of(const arap_inputs *in, const char *letters) {
    arap_shape shape = {0};
    for (const char *c = letters; *c; c++) {
        if (*c == ' ') continue;
        int is_letter = *c >= 'a' && *c <= 'z';
        shape.size[shape.dimensions++] = is_letter ? in->size[*c - 'a'] : *c - '0';
    }
    return shape;
}

/* Set sizes that are not yet known from the array. Empty transforms do not determine the number of
 * bones. */
static void take_sizes(arap_inputs *in, const arap_argument *a, const arap_shape *shape) {
    int d = 0;
    for (const char *c = a->shape; *c; c++) {
        if (*c == ' ') continue;
        if (*c >= 'a' && *c <= 'z' && in->size[*c - 'a'] < 0) in->size[*c - 'a'] = shape->size[d];
        if (a->type == ARAP_TRANSFORMS && !shape->size[0]) break;
        d++;
    }
}

static int read_argument(PyObject *object, const arap_argument *a, arap_inputs *in) {
    void *to = (char *)in + a->offset;
    if (a->type == ARAP_INT) return arap_read_int(object, a->name, to);
    if (a->type == ARAP_FLAG) {
        *(int *)to = PyObject_IsTrue(object);
        return *(int *)to < 0 ? -1 : 0;
    }
    if (object == Py_None) return 0;
    if (a->type == ARAP_OBJECT) {
        *(PyObject **)to = object;
        return 0;
    }
    arap_shape shape = shape_of(in, a->shape);
    const void *data = NULL;
    if (a->type == ARAP_INTS)
        data = arap_ints(&in->arrays, object, a->name, &shape);
    else if (a->type == ARAP_BOOLS)
        data = arap_bools(&in->arrays, object, a->name, &shape);
    else if (a->type == ARAP_TRANSFORMS)
        data = arap_transforms(&in->arrays, object, a->name, "bone", &shape);
    else
        data = arap_doubles(&in->arrays, object, a->name, &shape);
    if (!data) return -1;
    for (int d = 0; d < shape.dimensions; d++)
        if (shape.size[d] > INT_MAX) {
            PyErr_Format(PyExc_ValueError, "%s has %zd entries: too many", a->name, shape.size[d]);
            return -1;
        }
    take_sizes(in, a, &shape);
    *(const void **)to = data;
    return 0;
}

/* Whether the value is one number for all ends instead of an array. */
static int is_number(PyObject *object) {
    if (PyArray_Check(object)) return !PyArray_NDIM((PyArrayObject *)object);
    return PyNumber_Check(object);
}

/* The index of the parameter with this name, or `count`. */
static int place_of(const arap_parameter *parameters, int count, const char *name,
                    Py_ssize_t length) {
    int i = 0;
    while (i < count &&
           (parameters[i].length != length || memcmp(parameters[i].name, name, (size_t)length)))
        i++;
    return i;
}

/* Assign the arguments of the call to parameters. Values (count) are borrowed. */
static int assign(const arap_signature *signature, const arap_parameter *parameters, int count,
                  PyObject *args, PyObject *kwargs, PyObject **values) {
    const char *function = signature->function;
    Py_ssize_t given = PyTuple_Size(args), at = 0;
    int positional = 0;
    PyObject *key, *value;
    while (positional < count && !parameters[positional].keyword) positional++;
    if (given > positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments, but %zd were given",
                     function, positional, given);
        return -1;
    }
    for (Py_ssize_t i = 0; i < given; i++) values[i] = PyTuple_GetItem(args, i);
    while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
        Py_ssize_t length;
        const char *name = PyUnicode_AsUTF8AndSize(key, &length);
        if (!name) return -1;
        int i = place_of(parameters, count, name, length);
        if (i == count || values[i]) {
            PyErr_Format(PyExc_TypeError,
                         i == count ? "%s() got an unexpected keyword argument '%U'"
                                    : "%s() got the argument '%U' twice",
                         function, key);
            return -1;
        }
        values[i] = value;
    }
    for (int i = 0; i < positional; i++) {
        if (values[i] || !parameters[i].required) continue;
        PyObject *name = PyUnicode_FromStringAndSize(parameters[i].name, parameters[i].length);
        if (name)
            PyErr_Format(PyExc_TypeError, "%s() is missing the argument '%U'", function, name);
        Py_XDECREF(name);
        return -1;
    }
    return 0;
}

int arap_parse(const arap_signature *signature, PyObject *args, PyObject *kwargs, arap_inputs *in,
               void *const *settings) {
    arap_parameter parameters[ARAP_MAX_PARAMETERS];
    PyObject *values[ARAP_MAX_PARAMETERS] = {NULL};
    int count = arap_parameters(signature, parameters);
    if (assign(signature, parameters, count, args, kwargs, values)) return -1;
    for (int i = 0; i < count; i++) {
        const arap_parameter *p = parameters + i;
        if (!values[i] || !p->setting) continue;
        if (p->argument && values[i] != Py_None && !is_number(values[i])) continue; /* an array */
        if (read_setting(values[i], p->setting, settings[p->table])) return -1;
        values[i] = NULL;
    }
    for (const arap_argument *a = arguments; a < arguments + ARGUMENTS; a++)
        for (int i = 0; i < count; i++) {
            if (parameters[i].argument != a) continue;
            int is_given = values[i] && values[i] != Py_None;
            if (a->type == ARAP_TRANSFORMS && !is_given && in->size['p' - 'a'] < 0)
                in->size['p' - 'a'] = 0;
            if (!values[i]) break;
            if (parameters[i].is_set && values[i] == Py_None && a->type != ARAP_INT) {
                PyErr_Format(PyExc_TypeError, "%s must be an array, not None", a->name);
                return -1;
            }
            if (read_argument(values[i], a, in)) return -1;
            break;
        }
    return 0;
}
