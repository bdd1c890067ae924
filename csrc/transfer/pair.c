/* Source and target of a transfer: see pair.h.
 *
 * Performs welding, and one search in the hierarchy of faces for each vertex of the target. Known
 * vertices are found island by island in O(edges). Fails on out-of-memory, for meshes that
 * arap_mesh_create refuses, for settings out of range, and if nothing matches. */
#include "transfer/pair.h"

#include <math.h>

#include "base/memory.h"
#include "mesh/rings.h"

#define TABLE(rows) {sizeof rows / sizeof *rows, rows}

static const arap_setting match_rows[] = {
#define ARAP_SETTINGS_OF arap_transfer_settings
#define ARAP_SETTINGS_MATCH
#include "settings.def"
};
static const arap_setting weight_rows[] = {
#define ARAP_SETTINGS_OF arap_transfer_settings
#define ARAP_SETTINGS_MATCH
#define ARAP_SETTINGS_TRANSFER
#include "settings.def"
};
static const arap_setting shape_rows[] = {
#define ARAP_SETTINGS_OF arap_transfer_settings
#define ARAP_SETTINGS_MATCH
#define ARAP_SETTINGS_SHAPES
#include "settings.def"
};
static const arap_setting all_rows[] = {
#define ARAP_SETTINGS_OF arap_transfer_settings
#define ARAP_SETTINGS_MATCH
#define ARAP_SETTINGS_TRANSFER
#define ARAP_SETTINGS_SHAPES
#include "settings.def"
};
const arap_setting_table arap_match_settings_table = TABLE(match_rows);
const arap_setting_table arap_transfer_settings_table = TABLE(weight_rows);
const arap_setting_table arap_shape_settings_table = TABLE(shape_rows);
static const arap_setting_table all_settings = TABLE(all_rows);

arap_status arap_pair_match(arap_context *context, const arap_geometry *source,
                            const arap_geometry *target, const arap_transfer_settings *settings,
                            const arap_matches *out, arap_pair *pair) {
    arap_status status = arap_settings_check(&context->error, &all_settings, settings);
    if (!status) status = arap_progress(context, "matching", 0);
    if (!status)
        status = arap_mesh_create(context, source, NULL, ARAP_WELD_TOLERANCE, &pair->source);
    if (!status && !pair->source.triangle_count)
        status = arap_fail(&context->error, ARAP_BAD_VALUE, "the source has no faces");
    if (!status)
        status = arap_mesh_create(context, target, NULL, ARAP_WELD_TOLERANCE, &pair->target);
    if (!status)
        status = arap_match_find(context, &pair->source, &pair->target, settings, &pair->match);
    for (int i = 0; i < pair->target.input_count && !status; i++) {
        int v = pair->target.weld[i];
        out->matched[i] = pair->match.matched[v];
        out->distance[i] = pair->match.distance[v];
        out->angle[i] = pair->match.angle[v];
    }
    return status;
}

/* Fail if nothing matches, and name the limit that all vertices exceed. */
static arap_status check_matches(arap_context *context, const arap_pair *pair,
                                 const arap_transfer_settings *settings) {
    const arap_match *match = &pair->match;
    double diagonal = pair->source.diagonal, degree = acos(-1) / 180;
    double nearest = INFINITY, min = INFINITY; /* distance, and angle of vertices that are near
                                                  enough */
    for (int i = 0; i < pair->target.count; i++) {
        if (match->matched[i]) return ARAP_OK;
        nearest = fmin(nearest, match->distance[i]);
        if (match->distance[i] <= settings->distance * diagonal) min = fmin(min, match->angle[i]);
    }
    if (isfinite(min))
        return arap_fail(
            &context->error, ARAP_BAD_VALUE,
            "no vertex of the target faces the same way as the source: within the distance of %.3g "
            "of its size, the smallest angle is %.3g degrees and the limit is %.3g",
            settings->distance, min / degree, settings->angle / degree);
    return arap_fail(&context->error, ARAP_BAD_VALUE,
                     "no vertex of the target is within reach of the source: the nearest is %.3g "
                     "of its size away, and the limit is %.3g",
                     nearest / diagonal, settings->distance);
}

arap_status arap_pair_known(arap_context *context, arap_pair *pair,
                            const arap_transfer_settings *settings, char *known) {
    arap_arena arena = {0};
    int n = pair->target.count, islands;
    int *island = NULL, *stack = NULL;
    char *some = NULL;
    arap_status status = check_matches(context, pair, settings);
    if (!status) status = arap_mesh_connect(context, &pair->target, NULL, 0);
    if (status) return status;
    island = ARAP_TAKE(&arena, n, int);
    stack = ARAP_TAKE(&arena, n, int);
    status = arap_arena_status(&arena, &context->error, "the islands of the target");
    if (status) goto done;
    islands = arap_find_islands(&pair->target, island, stack);
    some = ARAP_TAKE_ZERO(&arena, islands, char);
    status = arap_arena_status(&arena, &context->error, "the islands of the target");
    if (status) goto done;
    for (int i = 0; i < n; i++) some[island[i]] |= pair->match.matched[i];
    for (int i = 0; i < n; i++) known[i] = pair->match.matched[i] || !some[island[i]];

done:
    arap_arena_clear(&arena);
    return status;
}

void arap_pair_clear(arap_pair *pair) {
    arap_match_clear(&pair->match);
    arap_mesh_clear(&pair->source);
    arap_mesh_clear(&pair->target);
}
