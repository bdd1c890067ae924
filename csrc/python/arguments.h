/* One parser for the arguments of all functions and types of the module. */
#ifndef ARAP_PYARGUMENTS_H
#define ARAP_PYARGUMENTS_H

#include "base/settings.h"
#include "python/array.h"

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
    npy_intp size['z' - 'a' + 1]; /* sizes for the letters of shapes; -1: not yet determined by an
                                     argument */
} arap_inputs;

/* The size that a letter stands for, or 0 if no argument has determined it. */
npy_intp arap_input_size(const arap_inputs *in, char letter);

enum { ARAP_READ_BONES = 1, ARAP_READ_POSES = 2, ARAP_READ_WEIGHTS = 4 };
#define ARAP_TABLES 3

/* The signature of a function or type.
 *
 * names: those of arguments.def and of single settings, in order, with "*" before keyword-only
 * arguments and "**" for all settings at the end. Before "*" a plain name is required and not None,
 * "name?" is required, "name=" is optional. */
typedef struct arap_signature {
    const char *function, *names;
    const arap_setting_table *tables[ARAP_TABLES]; /* the remaining ones NULL */
    int reads; /* what arap_open reads besides the geometry (python/call.h) */
} arap_signature;

/* Initialize the inputs before the first parse, with no arguments given. Required array sizes may
 * then be set. */
void arap_inputs_init(arap_inputs *in);
void arap_inputs_release(arap_inputs *in);

/* Parse a call. settings: the structs for the tables of the signature, with their defaults. 0, or
 * -1 with an exception that names the argument. */
int arap_parse(const arap_signature *signature, PyObject *args, PyObject *kwargs, arap_inputs *in,
               void *const *settings);

/* {name: {"type", "default", "min", "max", "choices"}} of all settings of a signature, read-only:
 * the entry of araplbs.SETTINGS. */
PyObject *arap_signature_settings(const arap_signature *signature);

/* Convert to an int. On failure, returns -1 with an exception that names the argument. */
int arap_read_int(PyObject *object, const char *name, int *out);

/* For settings.c: arguments.def as a table, and the parameters of a signature. */
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
    const char *shape; /* NULL: not an array */
    int default_value;
} arap_argument;

typedef struct arap_parameter {
    const char *name;
    Py_ssize_t length;             /* of the name */
    int keyword, required, is_set; /* is_set: None is not allowed */
    const arap_argument *argument; /* or NULL; both: an ARAP_ENDS */
    const arap_setting *setting;   /* or NULL */
    int table;                     /* of the signature, and that of the setting */
} arap_parameter;
#define ARAP_MAX_PARAMETERS 80
/* The number of parameters, which is also their maximum. */
int arap_parameters(const arap_signature *signature, arap_parameter *out);

#endif
