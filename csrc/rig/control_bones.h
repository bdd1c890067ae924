/* Bones that are none: roots, IK targets, pole targets, weapon slots, which importers mark as
 * deforming and which would pull at the skin. */
#ifndef ARAP_CONTROL_BONES_H
#define ARAP_CONTROL_BONES_H

#include "mesh/mesh.h"
#include "rig/skeleton.h"

/* Why a bone is a control bone. */
typedef enum arap_control {
    ARAP_CONTROL_NONE,    /* it deforms, or is not asked about */
    ARAP_CONTROL_ROOT,    /* the body hangs on it, but not at its tail: it lies beside the body */
    ARAP_CONTROL_OUTSIDE, /* no skin around it */
    ARAP_CONTROL_TWIN,    /* another bone already lies there */
    ARAP_CONTROL_SERVED   /* other bones serve the skin around it as well */
} arap_control;

/* `control` (bones.count) of the bones that deform; 0 for the others. named (bones.count) or NULL:
 * the name is one that rigs give to controls; no bone is found by that alone. At least one bone is
 * always left. Errors: those of arap_mesh_create and arap_skeleton_create. */
arap_status arap_control_bones(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const char *named, int *control);

#endif
