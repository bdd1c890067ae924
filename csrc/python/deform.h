/* Python functions that compute posed points, parameters and bones, documented in the stubs. */
#ifndef ARAP_PYDEFORM_H
#define ARAP_PYDEFORM_H

#include "python/array.h"

PyObject *arap_py_posed_energy(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_linear_skinning(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_dual_quaternion_skinning(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_rotation_centers(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_center_of_rotation_skinning(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_diffuse_parameters(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_control_bones(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
