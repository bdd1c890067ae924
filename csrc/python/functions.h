/* Python functions that need no solver, documented in the stubs. */
#ifndef ARAP_PYFUNCTIONS_H
#define ARAP_PYFUNCTIONS_H

#include "python/array.h"

PyObject *arap_py_energy(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_sample_poses(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_forward_kinematics(PyObject *module, PyObject *args);
PyObject *arap_py_nearest_rotations(PyObject *module, PyObject *matrices);
PyObject *arap_py_embed(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_prune(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
