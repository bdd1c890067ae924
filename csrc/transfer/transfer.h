/* Transfers weights and shapes from one mesh to another, such as clothes, hair cards and levels of
 * detail. */
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
extern const arap_setting_table arap_transfer_settings_table; /* of the same, for weights */
extern const arap_setting_table arap_shape_settings_table;    /* and of shapes */

/* The points of the source nearest to the vertices of the target, in caller-owned arrays with one
 * entry for each vertex of the target. */
typedef struct arap_matches {
    char *matched;    /* within the limits */
    double *distance; /* caller's units */
    double *angle;    /* radians, 0 to pi, or 0 to pi / 2 if two-sided; 0 where there is no
                         normal */
} arap_matches;

/* Returns ARAP_BAD_VALUE if the source has no triangles or a setting is out of range. */
arap_status arap_match_surfaces(arap_context *context, const arap_geometry *source,
                                const arap_geometry *target, const arap_transfer_settings *settings,
                                const arap_matches *out);

/* Compute the weights of the target: rows of its vertices, >= 0 with sum 1 and bones in ascending
 * order; release them with arap_influences_clear. rows: of the source, already checked, with any
 * sums; triangles with a corner without weights are ignored. In addition to the errors above,
 * returns ARAP_BAD_VALUE if nothing matches. */
arap_status arap_transfer_weights(arap_context *context, const arap_geometry *source,
                                  const arap_sparse_weights *rows, int bones,
                                  const arap_geometry *target,
                                  const arap_transfer_settings *settings, const arap_matches *out,
                                  arap_influences *weights);

/* Shapes of a source, given as its vertex positions in each shape: (count, vertices, 3), finite. */
typedef struct arap_shapes {
    int count;
    const double *vertices;
} arap_shapes;

/* The resulting shapes of the target, in caller-owned arrays. */
typedef struct arap_moved_shapes {
    double *vertices; /* (count, target vertices, 3) */
    int *lifted;      /* (count) number of vertices lifted from below or close to the surface */
    int *below; /* (count) number of vertices above the surface at rest that are below it in the
                   shape */
} arap_moved_shapes;

/* In addition to the errors of arap_match_surfaces, returns ARAP_BAD_VALUE if nothing matches, or
 * if a shape moves a vertex of a face so far that numbers overflow. */
arap_status arap_transfer_shapes(arap_context *context, const arap_geometry *source,
                                 const arap_shapes *shapes, const arap_geometry *target,
                                 const arap_transfer_settings *settings, const arap_matches *out,
                                 const arap_moved_shapes *moved);

#endif
