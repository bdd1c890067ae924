/* The Python functions for inverse kinematics and for the chains that reach for targets, documented
 * in the stubs. */
#ifndef ARAP_PYREACH_H
#define ARAP_PYREACH_H

#include "python/array.h"

PyObject *arap_py_inverse_kinematics(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_reach_chains(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
