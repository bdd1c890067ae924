/* The Python function bake, documented in the stubs. */
#ifndef ARAP_PYBAKE_H
#define ARAP_PYBAKE_H

#include "python/array.h"

PyObject *arap_py_bake(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
