/* Anderson acceleration of a fixed point w = g(w). */
#ifndef ARAP_ANDERSON_H
#define ARAP_ANDERSON_H

#include <stddef.h>

#include "base/context.h"

typedef struct arap_anderson arap_anderson;

/* For vectors of `size` numbers; `window` (1..ARAP_MAX_WINDOW) past steps are mixed. */
arap_status arap_anderson_create(arap_context *context, size_t size, int window,
                                 arap_anderson **out);
void arap_anderson_free(arap_anderson *anderson);

/* Forget the past: g has changed. */
void arap_anderson_restart(arap_anderson *anderson);

/* The step from w to g(w) joins the past, and `mixed` becomes the vector at which the past steps
 * let one expect a fixed point. Steps are compared in the norm sum metric x^2. Without a past,
 * mixed = g. Returns the number of past steps mixed in. */
int arap_anderson_mix(arap_anderson *anderson, const double *w, const double *g,
                      const double *metric, double *mixed);

#endif
