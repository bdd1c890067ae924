/* A welded source and target with the matches between them. Every transfer begins with this
 * step. */
#ifndef ARAP_PAIR_H
#define ARAP_PAIR_H

#include "transfer/match.h"

typedef struct arap_pair {
    arap_mesh source, target;
    arap_match match;
} arap_pair;

/* Check the settings, weld and match. The results are stored in *out, whose arrays belong to the
 * caller. Initialize the pair to {0}, and release it with arap_pair_clear even after a failure. */
arap_status arap_pair_match(arap_context *context, const arap_geometry *source,
                            const arap_geometry *target, const arap_transfer_settings *settings,
                            const arap_matches *out, arap_pair *pair);

/* Connect the target, and mark in known (target vertices) the vertices that keep their values from
 * the source: matched ones, and all vertices of an island without a match. Returns ARAP_BAD_VALUE
 * if nothing matches. */
arap_status arap_pair_known(arap_context *context, arap_pair *pair,
                            const arap_transfer_settings *settings, char *known);

void arap_pair_clear(arap_pair *pair);

#endif
