/* The internal state of a solver as a dict of arrays. It is used only by tests and is not public.
 * */
#ifndef ARAP_PYINSIDE_H
#define ARAP_PYINSIDE_H

#include "arap.h"
#include "python/array.h"

PyObject *arap_inside_dict(const arap_solver *solver);

#endif
