/* The Python functions and the type that measure deformations, documented in the stubs. */
#ifndef ARAP_PYDEFORMATION_H
#define ARAP_PYDEFORMATION_H

#include "python/array.h"

PyObject *arap_py_surface_strain(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_deformation(PyObject *module, PyObject *args, PyObject *kwargs);

/* The type araplbs.Deformation, a new reference. */
PyObject *arap_make_deformation_type(PyObject *module);

#endif
