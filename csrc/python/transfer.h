/* The functions of the module araplbs that transfer weights from one mesh to another. */
#ifndef ARAP_PYTRANSFER_H
#define ARAP_PYTRANSFER_H

#include "python/array.h"

PyObject *arap_py_match_surfaces(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_transfer_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_transfer_shapes(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
