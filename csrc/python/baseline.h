/* The Python functions baseline_weights and skin_owners, documented in the stubs. */
#ifndef ARAP_PYBASELINE_H
#define ARAP_PYBASELINE_H

#include "python/array.h"

PyObject *arap_py_baseline_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_skin_owners(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
