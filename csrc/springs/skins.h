/* Determines the loose parts that can be the skin of each bone. */
#ifndef ARAP_SKINS_H
#define ARAP_SKINS_H

#include "springs/containment.h"

typedef struct arap_skins {
    int *start; /* (bones + 1); NULL: nothing is known */
    int *part;  /* parts around each bone, in ascending order */
} arap_skins;

/* containments: as far as known. bones: number of deforming bones. */
arap_status arap_skins_find(arap_context *context, const arap_containments *containments, int bones,
                            arap_skins *out);
void arap_skins_clear(arap_skins *skins);

/* Whether the part can be skin of the bone. */
int arap_is_skin(const arap_skins *skins, int bone, int part);

/* Whether the bone is known to be inside this part. */
int arap_surrounds(const arap_skins *skins, int bone, int part);

#endif
