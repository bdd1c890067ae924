/* Rigid plates that lie on each other: see rigid_shells.h.
 *
 * The two plates of a pauldron, one over the other, fit the collarbone as well as the upper arm, so
 * chance may assign them to different bones. One plate then passes through the other as soon as the
 * arm moves. In this file, a plate is a rigid part that surrounds no bone and follows a single
 * bone. A plate covers another if it is the nearest of all plates on the share COVERED of the
 * other's area, and lies within CLOSE times the other's radius. If two plates cover each other, and
 * the bone of one descends from that of the other, both plates follow the lower bone, because its
 * limb would penetrate a plate that stays behind. Plates that overlap only at their edges, as on an
 * armored finger, move separately, and so does a ball in a socket, which covers less of the socket.
 *
 * Takes O(vertices of plates x log of their faces). Fails on out-of-memory or when cancelled. */
#include "solver/rigid_shells.h"

#include "base/memory.h"
#include "mesh/touching.h"

#define COVERED 0.8
#define CLOSE 0.35

static int is_plate(const arap_rigid_search *s, int p) {
    const arap_candidate *c = &s->parts[p];
    return s->may[p] && c->open && !c->around && !c->blends && !c->hangs && c->size > ARAP_BOX &&
           s->rod[p] < 0;
}

/* Give plates p and q the lower of their bones. Returns whether anything changes. */
static int join(arap_rigid_search *s, int p, int q) {
    const arap_skeleton *skeleton = &s->solver->skeleton;
    int a = s->parts[p].bone, b = s->parts[q].bone;
    int upper = arap_is_below(skeleton, b, a) ? p : arap_is_below(skeleton, a, b) ? q : -1;
    if (upper < 0) return 0;
    int bone = upper == p ? b : a;
    if (arap_candidate_is_own_image(s, &s->parts[upper]) && s->solver->symmetry.bone[bone] != bone)
        return 0;
    return arap_candidate_follow(s, upper, bone) && arap_candidate_follow(s, p + q - upper, bone);
}

arap_status arap_hold_shells(arap_context *context, arap_rigid_search *s, int *nearest,
                             int *changes) {
    const arap_mesh *mesh = &s->solver->mesh;
    arap_touching touching = {0};
    arap_status status = ARAP_OK;
    int plates = 0;
    char *chosen = ARAP_NEW(char, mesh->part_count);
    int *over = ARAP_NEW(int, mesh->part_count); /* the plate that covers each */
    if (!chosen || !over) {
        status = arap_fail_memory(&context->error, "plates on each other");
        goto done;
    }
    for (int p = 0; p < mesh->part_count; p++) plates += chosen[p] = (char)is_plate(s, p);
    if (plates > 1) status = arap_touching_create(context, mesh, chosen, &touching);
    for (int p = 0; p < mesh->part_count && plates > 1 && !status; p++) {
        const arap_candidate *c = &s->parts[p];
        over[p] = -1;
        if (!chosen[p]) continue;
        for (int k = 0; k < c->size; k++) {
            int i = s->vertices[c->first + k];
            double near2 = CLOSE * CLOSE * c->radius2 / c->area;
            nearest[i] = arap_touching_nearest(&touching, i, p, &near2);
        }
        over[p] = arap_candidate_majority(s, c, nearest, NULL, COVERED);
        status = arap_progress(context, "rigid parts", 0);
    }
    for (int p = 0; p < mesh->part_count && plates > 1 && !status; p++) {
        int q = over[p];
        if (q <= p || over[q] != p || s->parts[p].bone == s->parts[q].bone) continue;
        *changes |= join(s, p, q);
    }

done:
    arap_touching_clear(&touching);
    arap_free(chosen);
    arap_free(over);
    return status;
}
