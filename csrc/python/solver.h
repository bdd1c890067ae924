/* The Python type araplbs.Solver. */
#ifndef ARAP_PYSOLVER_H
#define ARAP_PYSOLVER_H

#include "python/error.h"

/* The type, for the module; NULL with an exception. */
PyObject *arap_make_solver_type(PyObject *module);

#endif
