/* One parser for the arguments of all functions and types of the module. */
#ifndef ARAP_PYARGUMENTS_H
#define ARAP_PYARGUMENTS_H

#include "base/settings.h"
#include "python/array.h"
#include "python/error.h"

/* Arguments of a call, converted: arrays of the types and shapes in arguments.def, NULL for None
 * and for arguments that were not given. Objects are borrowed. */
typedef struct arap_inputs {
#define DOUBLES(name, ...) const double *name;
#define INTS(name, ...) const int *name;
#define BOOLS(name, ...) const char *name;
#define TRANSFORMS(name, ...) const double *name; /* (..., 3, 4) */
#define ENDS(name, ...) const double *name;
#define OBJECT(name, ...) PyObject *name;
#define INT(name, ...) int name;
#define FLAG(name, ...) int name;
#include "python/arguments.def"
    arap_arrays arrays;
    npy_intp size['z' - 'a' + 1]; /* of the letters of shapes; -1: no argument has said */
} arap_inputs;

/* The number that a letter stands for, 0 where nothing has said. */
npy_intp arap_input_size(const arap_inputs *in, char letter);

/* A function or type as its caller sees it.
 *
 * names: those of arguments.def, and of single settings, in their order, "*" before those that are
 * keywords only, "**" for all settings at the end. Before "*" a plain name is required and not
 * None, "name?" is required, "name=" is optional. */
typedef struct arap_signature {
    const char *function, *names, *description;
    const arap_setting_table *tables[3]; /* the rest NULL */
} arap_signature;

/* Before the first parse: nothing was given. Sizes may then be set that arrays must have. */
void arap_inputs_init(arap_inputs *in);
void arap_inputs_release(arap_inputs *in);

/* Parse a call. settings: the structs for the tables of the signature, with their defaults. 0, or
 * -1 with an exception that names the argument. */
int arap_parse(const arap_signature *signature, PyObject *args, PyObject *kwargs, arap_inputs *in,
               void *const *settings);

/* Parse a call of a function and begin it, with its `progress` and `threads`. The inputs are to be
 * released in any case. */
int arap_open(const arap_signature *signature, PyObject *args, PyObject *kwargs,
              void *const *settings, arap_inputs *in, arap_py_context *run);

/* Its text for help(): arguments, settings, defaults and ranges. A new str. */
PyObject *arap_signature_doc(const arap_signature *signature);

/* The type, with that text as its documentation. */
PyObject *arap_make_type(PyObject *module, PyType_Spec *spec, const arap_signature *signature);

/* {name: {"type", "default", "min", "max", "choices"}} of all settings of a signature, read-only:
 * the entry of araplbs.SETTINGS. */
PyObject *arap_signature_settings(const arap_signature *signature);

/* An int; otherwise -1 with an exception that names it. */
int arap_read_int(PyObject *object, const char *name, int *out);

/* For documentation.c: arguments.def as a table, and a signature as its parameters. */
typedef enum arap_argument_type {
    ARAP_DOUBLES,
    ARAP_INTS,
    ARAP_BOOLS,
    ARAP_TRANSFORMS,
    ARAP_ENDS,
    ARAP_OBJECT,
    ARAP_INT,
    ARAP_FLAG
} arap_argument_type;
typedef struct arap_argument {
    const char *name;
    arap_argument_type type;
    size_t offset;     /* in arap_inputs */
    const char *shape; /* OBJECT: a description in words */
    int default_value;
    const char *description;
} arap_argument;

typedef struct arap_parameter {
    const char *name;
    Py_ssize_t length;             /* of the name */
    int keyword, required, is_set; /* is_set: None is an error */
    const arap_argument *argument; /* or NULL; both: an ARAP_ENDS */
    const arap_setting *setting;   /* or NULL */
    int table;                     /* of the signature, that of the setting */
} arap_parameter;
#define ARAP_MAX_PARAMETERS 80
/* Their number; there must be no more. */
int arap_parameters(const arap_signature *signature, arap_parameter *out);

#endif
