/* Anderson acceleration of a fixed point w = g(w). */
#ifndef ARAP_ANDERSON_H
#define ARAP_ANDERSON_H

#include <stddef.h>

#include "base/context.h"

typedef struct arap_anderson arap_anderson;

/* Create work space for vectors of `size` numbers. Up to `window` (1..ARAP_MAX_WINDOW) past steps
 * are mixed. */
arap_status arap_anderson_create(arap_context *context, size_t size, int window,
                                 arap_anderson **out);
void arap_anderson_free(arap_anderson *anderson);

/* Discard the past steps because g has changed. */
void arap_anderson_restart(arap_anderson *anderson);

/* Add the step from w to g(w) to the past steps, and set `mixed` to the fixed point that they
 * predict. Steps are compared in the norm sum metric x^2. Numbers whose metric is 0 are not mixed.
 * Without past steps, mixed = g. Returns the number of past steps mixed in. */
int arap_anderson_mix(arap_anderson *anderson, const double *w, const double *g,
                      const double *metric, double *mixed);

#endif
