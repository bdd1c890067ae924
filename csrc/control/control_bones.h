/* Detects control bones, which only steer the rig. Examples are roots, IK targets, pole targets and
 * weapon slots. Importers often mark such bones as deforming, so without this detection the bones
 * would pull on the skin. */
#ifndef ARAP_CONTROL_BONES_H
#define ARAP_CONTROL_BONES_H

#include "mesh/mesh.h"
#include "rig/skeleton.h"

/* Why a bone is a control bone. */
typedef enum arap_control {
    ARAP_CONTROL_NONE,    /* not a control bone: it moves skin, or does not deform */
    ARAP_CONTROL_ROOT,    /* the body hangs on it, but not at its tail, because it lies outside the
                           * body */
    ARAP_CONTROL_OUTSIDE, /* no skin surrounds it */
    ARAP_CONTROL_TWIN,    /* coincides with another bone */
    ARAP_CONTROL_SERVED   /* other bones move the skin around it equally well */
} arap_control;

/* control (bones.count): the arap_control of each bone, 0 for bones that do not deform. evidence
 * (bones.count) or NULL: additional evidence, such as names and constraints; positive for a control
 * bone, negative for a bone that moves skin; 1 is a single hint, 2 is near certainty. Evidence
 * alone is never sufficient. At least one deforming bone always remains. Errors are those of
 * arap_mesh_create and arap_skeleton_create. */
arap_status arap_control_bones(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const double *evidence, int *control);

#endif
