/* Support for argument names used before version 0.3. */
#ifndef ARAP_PYOLD_NAMES_H
#define ARAP_PYOLD_NAMES_H

#include "python/object.h"

/* The current name of an argument, or NULL if `name` is not an old one. */
const char *arap_new_name(const char *name);

/* Issue a DeprecationWarning. Returns -1 if warnings are turned into errors. */
int arap_warn_old_name(const char *owner, const char *old, const char *now);

#endif
