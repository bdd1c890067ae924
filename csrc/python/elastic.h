/* The Python functions elastic_poses and mixed_elasticity, documented in the stubs. */
#ifndef ARAP_PYELASTIC_H
#define ARAP_PYELASTIC_H

#include "python/array.h"

PyObject *arap_py_elastic_poses(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_mixed_elasticity(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
