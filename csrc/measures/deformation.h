/* Measures the visible deformation of a mesh over any number of poses: surface strain, drift of
 * limbs from their bones, and change of volume. These measures do not depend on the energy that the
 * weights minimize. */
#ifndef ARAP_DEFORMATION_H
#define ARAP_DEFORMATION_H

#include "base/memory.h"
#include "measures/enclosure.h"
#include "measures/limbs.h"
#include "measures/skinning.h"
#include "measures/surface_strain.h"

typedef struct arap_deformation {
    int count;        /* vertices */
    double *vertices; /* (count, 3) at rest, in the caller's units */
    arap_bones bones; /* count, heads, tails, kinds and segments: the copies below */
    double *heads, *tails;
    char *kinds;
    int *segments;
    arap_surface surface;
    arap_limbs limbs;
    arap_enclosure enclosure;
    int poses;        /* poses added so far */
    double *strain2;  /* (surface.count) squared strain, summed over the poses */
    double *drift2;   /* (limbs.count) squared drift, in radii */
    double volume;    /* changes of the enclosed volume */
    arap_arena arena; /* of the arrays */
} arap_deformation;

/* Check and copy the input. bones: heads, tails and, unless NULL, deform, kinds and segments; with
 * a count of 0 there are no limbs. Errors name the value that is not finite or out of range. */
arap_status arap_deformation_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, arap_deformation *deformation);
void arap_deformation_clear(arap_deformation *deformation);

/* Add the poses of `skinning`, which is created from the vertices and bones of the deformation. The
 * points are `posed` (poses, count, 3), obtained by any means, or follow from the weights in
 * `rows`. Errors name the first point that is not finite. A failed call adds nothing. */
arap_status arap_deformation_add(arap_context *context, arap_deformation *deformation,
                                 const arap_skinning *skinning, const arap_sparse_weights *rows,
                                 const double *posed);

/* Discard all poses. */
void arap_deformation_restart(arap_deformation *deformation);

/* The measures over all poses; NaN if there is nothing to measure. */
typedef struct arap_measures {
    arap_surface_summary strain; /* shares: 0.1 is 10 % */
    double drift, worst_drift;   /* mean and maximum over the limbs, in radii */
    double volume;               /* mean change, as a share of the rest volume: -0.1 is 10 % less */
} arap_measures;
arap_status arap_deformation_measures(arap_context *context, const arap_deformation *deformation,
                                      arap_measures *out);

/* Drift of each bone (bones): root mean square over the poses, in radii; NaN for bones without a
 * limb. */
void arap_bone_drift(const arap_deformation *deformation, double *out);

#endif
