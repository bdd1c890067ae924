/* A source and a target, welded, with the matches between them: the start of every transfer. */
#ifndef ARAP_PAIR_H
#define ARAP_PAIR_H

#include "transfer/match.h"

typedef struct arap_pair {
    arap_mesh source, target;
    arap_match match;
} arap_pair;

/* Check the settings, weld and match; *out, arrays of the caller, gets what was found. Release with
 * arap_pair_clear, also after a failure of a pair that began as {0}. */
arap_status arap_pair_match(arap_context *context, const arap_geometry *source,
                            const arap_geometry *target, const arap_transfer_settings *settings,
                            const arap_matches *out, arap_pair *pair);

/* Connect the target, and mark in known (target vertices) those that keep what they get from the
 * source: matched ones, and all of an island in which none is matched. ARAP_BAD_VALUE if nothing
 * matches. */
arap_status arap_pair_known(arap_context *context, arap_pair *pair,
                            const arap_transfer_settings *settings, char *known);

void arap_pair_clear(arap_pair *pair);

#endif
