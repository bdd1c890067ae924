/* Visible measures of a deforming mesh, over any number of poses: the strain of its surface, the
 * drift of limbs from their bones, and the change of its volume. They do not depend on the
 * energy that weights minimize. */
#ifndef ARAP_DEFORMATION_H
#define ARAP_DEFORMATION_H

#include "measures/enclosure.h"
#include "measures/limbs.h"
#include "measures/skinning.h"
#include "measures/surface_strain.h"

typedef struct arap_deformation {
    int count;        /* vertices */
    double *vertices; /* (count, 3) at rest, units of the caller */
    arap_bones bones; /* count, heads, tails, kinds and segments: the copies below */
    double *heads, *tails;
    char *kinds;
    int *segments;
    arap_surface surface;
    arap_limbs limbs;
    arap_enclosure enclosure;
    int poses;       /* added so far */
    double *strain2; /* (surface.count) sums over poses of the squared strain */
    double *drift2;  /* (limbs.count) of the squared drift, in radii */
    double volume;   /* of the enclosed volume */
} arap_deformation;

/* Checks and copies. bones: heads, tails and, unless NULL, deform, kinds and segments; with a count
 * of 0 there are no limbs. Errors name what is not finite or out of range. */
arap_status arap_deformation_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, arap_deformation *deformation);
void arap_deformation_clear(arap_deformation *deformation);

/* Add poses of `skinning`, made of the vertices and bones of the deformation: points posed (poses,
 * count, 3) by any means, or where rows take them. Errors name the first point that is not finite.
 * A call that fails adds nothing. */
arap_status arap_deformation_add(arap_context *context, arap_deformation *deformation,
                                 const arap_skinning *skinning, const arap_sparse_weights *rows,
                                 const double *posed);

/* Forget all poses. */
void arap_deformation_restart(arap_deformation *deformation);

/* The measures over all poses; NaN where there is nothing to measure. */
typedef struct arap_measures {
    arap_surface_summary strain; /* shares: 0.1 is 10 % */
    double drift, worst_drift;   /* mean and most of the limbs, in radii */
    double volume;               /* mean change, as a share of that at rest: -0.1 is 10 % less */
} arap_measures;
arap_status arap_deformation_measures(arap_context *context, const arap_deformation *deformation,
                                      arap_measures *out);

/* Drift of each bone (bones): root mean square over the poses, in radii; NaN without limb. */
void arap_bone_drift(const arap_deformation *deformation, double *out);

#endif
