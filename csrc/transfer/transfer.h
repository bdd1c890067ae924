/* Weights and shapes of one mesh for another: clothes, hair cards, levels of detail. */
#ifndef ARAP_TRANSFER_H
#define ARAP_TRANSFER_H

#include "arap.h"
#include "base/settings.h"

typedef struct arap_transfer_settings {
#define ARAP_SETTINGS_MATCH
#define ARAP_SETTINGS_TRANSFER
#define ARAP_SETTINGS_SHAPES
#include "settings.def"
} arap_transfer_settings;

extern const arap_setting_table arap_match_settings_table;    /* of arap_transfer_settings */
extern const arap_setting_table arap_transfer_settings_table; /* of the same: of weights */
extern const arap_setting_table arap_shape_settings_table;    /* and of shapes */

void arap_transfer_settings_default(arap_transfer_settings *settings);

/* The points of the source nearest to the vertices of the target, arrays of the caller with an
 * entry for each vertex of the target. */
typedef struct arap_matches {
    char *matched;    /* within the limits */
    double *distance; /* caller's units */
    double *angle;    /* radians, 0 to pi, or to pi / 2 if two-sided; 0 where there is no normal */
} arap_matches;

/* ARAP_BAD_VALUE without a triangle in the source and for settings out of range. */
arap_status arap_match_surfaces(arap_context *context, const arap_geometry *source,
                                const arap_geometry *target, const arap_transfer_settings *settings,
                                const arap_matches *out);

/* Weights of the target: rows of its vertices, >= 0 with sum 1, bones ascending; release with
 * arap_influences_clear. rows: of the source, checked, any sums; triangles with a corner of no
 * weights do not count. ARAP_BAD_VALUE, in addition to the above, if nothing matches. */
arap_status arap_transfer_weights(arap_context *context, const arap_geometry *source,
                                  const arap_sparse_weights *rows, int bones,
                                  const arap_geometry *target,
                                  const arap_transfer_settings *settings, const arap_matches *out,
                                  arap_influences *weights);

/* Shapes of a source, where its vertices are in each: (count, vertices, 3), finite. */
typedef struct arap_shapes {
    int count;
    const double *vertices;
} arap_shapes;

/* The resulting shapes of the target, arrays of the caller. */
typedef struct arap_moved_shapes {
    double *vertices; /* (count, target vertices, 3) */
    int *lifted; /* (count) vertices that were lifted from below the surface, or from close by */
    int *below;  /* (count) vertices above the surface at rest that are below it in the shape */
} arap_moved_shapes;

/* ARAP_BAD_VALUE, in addition to that of arap_match_surfaces, if nothing matches, and for a shape
 * that moves a vertex of a face beyond what numbers can hold. */
arap_status arap_transfer_shapes(arap_context *context, const arap_geometry *source,
                                 const arap_shapes *shapes, const arap_geometry *target,
                                 const arap_transfer_settings *settings, const arap_matches *out,
                                 const arap_moved_shapes *moved);

#endif
