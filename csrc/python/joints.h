/* The Python type araplbs.JointSolver and what is made of it. */
#ifndef ARAP_PYJOINTS_H
#define ARAP_PYJOINTS_H

#include "python/arguments.h"
#include "python/error.h"

extern const arap_signature arap_joint_solver_signature;

/* The type, for the module; NULL with an exception. */
PyObject *arap_make_joint_solver_type(PyObject *module);

/* optimize_joints: a JointSolver run to its end. */
PyObject *arap_py_optimize_joints(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
