/* Tests whether the tails of an armature are meaningful. */
#ifndef ARAP_BONE_TAILS_H
#define ARAP_BONE_TAILS_H

#include "arap.h"
#include "base/context.h"

typedef enum arap_tails {
    ARAP_TAILS_MEANT, /* somebody drew them, or they were made for the mesh */
    ARAP_TAILS_AXES,  /* their directions are right, their lengths mean nothing */
    ARAP_TAILS_ANY    /* an importer left them: joints alone mean something */
} arap_tails;

typedef struct arap_tail_study {
    arap_tails are;
    double off; /* how far a tail is from the nearest child, of the way there: the median */
} arap_tail_study;

/* The bones have been checked (arap_check_bones). Without tails they are ARAP_TAILS_ANY. Fails
 * on out-of-memory. */
arap_status arap_study_tails(arap_context *context, const arap_bones *bones, arap_tail_study *out);

#endif
