/* The Python function automatic_weights, documented in the stubs. */
#ifndef ARAP_PYAUTOMATIC_H
#define ARAP_PYAUTOMATIC_H

#include "python/array.h"

PyObject *arap_py_automatic_weights(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
