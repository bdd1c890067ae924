/* The loose parts that can be the skin of each bone. */
#ifndef ARAP_SKINS_H
#define ARAP_SKINS_H

#include "springs/containment.h"

typedef struct arap_skins {
    int *start; /* (bones + 1), NULL: nothing is known */
    int *part;  /* around each bone, ascending */
} arap_skins;

/* containments: as far as known. bones: how many deform. */
arap_status arap_skins_find(arap_context *context, const arap_containments *containments, int bones,
                            arap_skins *out);
void arap_skins_clear(arap_skins *skins);

/* Can the part be skin of the bone? */
int arap_is_skin(const arap_skins *skins, int bone, int part);

/* Is the bone in this part, as far as is known? */
int arap_surrounds(const arap_skins *skins, int bone, int part);

#endif
