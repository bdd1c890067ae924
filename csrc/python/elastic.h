/* The Python function elastic_poses; documented in the stubs. */
#ifndef ARAP_PYELASTIC_H
#define ARAP_PYELASTIC_H

#include "python/array.h"

PyObject *arap_py_elastic_poses(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
