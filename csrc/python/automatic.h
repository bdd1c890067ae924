/* The Python functions automatic_weights and skin_owners, documented in the stubs. */
#ifndef ARAP_PYAUTOMATIC_H
#define ARAP_PYAUTOMATIC_H

#include "python/array.h"

PyObject *arap_py_automatic_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_skin_owners(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
