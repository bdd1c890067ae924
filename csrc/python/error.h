/* Converts statuses to Python exceptions, and progress reports to Python calls. No other file does
 * so. */
#ifndef ARAP_PYERROR_H
#define ARAP_PYERROR_H

#include "base/context.h"
#include "python/array.h"
#include "python/ending.h"

/* Exceptions of the module, stored in the module state (no globals). */
typedef struct arap_module_state {
    PyObject *input_error;  /* araplbs.InputError(ValueError) */
    PyObject *solver_error; /* araplbs.SolverError(ArithmeticError) */
    PyObject *cancelled;    /* araplbs.Cancelled(Exception) */
    PyObject *joint_solver_type;
} arap_module_state;

/* Raise the exception for the context's error. A pending exception (raised by a progress callback)
 * is kept. */
void arap_raise(const arap_module_state *state, const arap_context *context);

/* Create a context that reports to the callable `progress` (None: only Ctrl-C cancels). threads 0:
 * one thread per processor. Returns -1 with an exception for a bad thread count. */
typedef struct arap_py_context {
    arap_context context;
    PyObject *progress; /* borrowed */
} arap_py_context;
int arap_py_context_init(arap_py_context *self, PyObject *progress, int threads);

#endif
