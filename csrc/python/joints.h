/* The Python type araplbs.JointSolver and the function optimize_joints based on it. */
#ifndef ARAP_PYJOINTS_H
#define ARAP_PYJOINTS_H

#include "python/arguments.h"
#include "python/error.h"

extern const arap_signature arap_joint_solver_signature;

/* Create the type for the module; NULL with an exception on failure. */
PyObject *arap_make_joint_solver_type(PyObject *module);

/* optimize_joints: runs a JointSolver to completion. */
PyObject *arap_py_optimize_joints(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
