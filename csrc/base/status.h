/* Status codes and error texts.
 *
 * Every function that can fail returns an arap_status and calls arap_fail() to store one sentence
 * in the caller's arap_error. The sentence names the offending item and its value. python/error.c
 * is the only place that turns a status into a Python exception. */
#ifndef ARAP_STATUS_H
#define ARAP_STATUS_H

#include "arap.h"

/* Record `status` with a printf-style sentence and return it. The first error is kept. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
arap_status arap_fail(arap_error *error, arap_status status, const char *format, ...);

/* Shorthand for the one failure that needs no details. */
arap_status arap_fail_memory(arap_error *error, const char *what);

#endif
