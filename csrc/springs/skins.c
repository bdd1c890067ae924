/* Finds the loose parts that can be the skin of a bone: see containment.h.
 *
 * The initial weights of a part without bones inside have little meaning, because bone heat reaches
 * it from other parts, or not at all. A plate next to a limb can have most of the weight of a bone
 * that should move another part. The skin of a bone therefore consists of the parts around it,
 * which are the parts met by at least SURROUNDING of the rays from the bone (containment.h). If no
 * part surrounds a bone, as in a flat sheet, its skin may be any part.
 *
 * Takes O(surrounded pairs). Fails on out-of-memory. */
#include "springs/containment.h"

#include <string.h>

#include "base/memory.h"

#define SURROUNDING 0.4

typedef struct collector {
    int *start, *part; /* part: NULL while parts are being counted */
} collector;

static void collect(void *data, int line, int bone, int part, double share, double off) {
    const collector *c = data;
    (void)line, (void)off;
    if (share < SURROUNDING) return;
    if (c->part) c->part[c->start[bone]] = part;
    c->start[bone]++;
}

arap_status arap_skins_find(arap_context *context, const arap_containments *containments, int bones,
                            arap_skins *out) {
    *out = (arap_skins){0};
    if (!containments->known) return ARAP_OK;
    collector c = {ARAP_NEW_ZERO(int, (size_t)bones + 1), NULL};
    int all = 0;
    out->start = c.start;
    if (!c.start) goto no_memory;
    arap_visit_kept(containments, collect, &c);
    for (int b = 0; b <= bones; b++) { /* counts become places */
        int count = c.start[b];
        c.start[b] = all;
        all += count;
    }
    out->part = c.part = ARAP_NEW(int, all);
    if (!c.part) goto no_memory;
    arap_visit_kept(containments, collect, &c);
    memmove(c.start + 1, c.start, (size_t)bones * sizeof *c.start);
    c.start[0] = 0;
    return ARAP_OK;

no_memory:
    arap_skins_clear(out);
    return arap_fail_memory(&context->error, "the skin of bones");
}

void arap_skins_clear(arap_skins *skins) {
    arap_free(skins->start);
    arap_free(skins->part);
    *skins = (arap_skins){0};
}

int arap_is_skin(const arap_skins *skins, int bone, int part) {
    if (!skins->start || skins->start[bone] == skins->start[bone + 1]) return 1;
    return arap_surrounds(skins, bone, part);
}

int arap_surrounds(const arap_skins *skins, int bone, int part) {
    if (!skins->start) return 0;
    for (int k = skins->start[bone]; k < skins->start[bone + 1]; k++)
        if (skins->part[k] == part) return 1;
    return 0;
}
