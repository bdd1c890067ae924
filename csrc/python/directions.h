/* The Python function bone_directions, documented in the stubs. */
#ifndef ARAP_PYDIRECTIONS_H
#define ARAP_PYDIRECTIONS_H

#include <Python.h>

PyObject *arap_py_bone_directions(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
