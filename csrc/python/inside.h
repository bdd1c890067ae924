/* Returns the internal state of a solver as a dict of arrays. The function is not public. Only
 * tests use it. */
#ifndef ARAP_PYINSIDE_H
#define ARAP_PYINSIDE_H

#include "arap.h"
#include "python/array.h"

PyObject *arap_inside_dict(const arap_solver *solver);

#endif
