/* The Python type araplbs.Solver, documented in the stubs. */
#ifndef ARAP_PYSOLVER_H
#define ARAP_PYSOLVER_H

#include "python/arguments.h"
#include "python/error.h"

extern const arap_signature arap_solver_signature;

/* Create the type for the module; NULL with an exception on failure. */
PyObject *arap_make_solver_type(PyObject *module);

#endif
