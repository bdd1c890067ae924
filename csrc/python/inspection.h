/* The functions of the module araplbs that inspect weights and surfaces, documented in the
 * stubs. */
#ifndef ARAP_PYINSPECTION_H
#define ARAP_PYINSPECTION_H

#include "python/array.h"

PyObject *arap_py_nearest_points(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_mesh_extent(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_inspect_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_part_doubts(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
