/* The internal state of a solver as a dict of arrays. Only tests use it, and it is not public. */
#ifndef ARAP_PYINSIDE_H
#define ARAP_PYINSIDE_H

#include "arap.h"
#include "python/array.h"

PyObject *arap_inside_dict(const arap_solver *solver);

#endif
