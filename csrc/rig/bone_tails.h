/* Tests whether the bone tails of an armature are meaningful. */
#ifndef ARAP_BONE_TAILS_H
#define ARAP_BONE_TAILS_H

#include "arap.h"
#include "base/context.h"

typedef enum arap_tails {
    ARAP_TAILS_MEANT, /* drawn by an artist, or created for the mesh */
    ARAP_TAILS_AXES,  /* directions are correct, but lengths are meaningless */
    ARAP_TAILS_ANY    /* placed by an importer; only the joints are meaningful */
} arap_tails;

typedef struct arap_tail_study {
    arap_tails are;
    double off; /* median distance of a tail from the nearest child, relative to the distance
                   between the joints */
} arap_tail_study;

/* The bones must already be checked (arap_check_bones). Without tails, the result is
 * ARAP_TAILS_ANY. Fails on out-of-memory. */
arap_status arap_study_tails(arap_context *context, const arap_bones *bones, arap_tail_study *out);

#endif
