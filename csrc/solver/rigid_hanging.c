/* Handles hair cards, feathers and lashes: see rigid_candidates.h and hanging.c.
 *
 * A card is stiff compared with its links, so it would follow the skin near most of its area, and
 * its root would leave the skin. Therefore, a card that touches the skin with one end follows the
 * mean row of the skin below this end, weighted by the areas of the touching vertices. The whole
 * card follows this row, however far the row moves the card.
 *
 * If both ends touch, the root is the end whose skin follows the bone farther from the trunk. Hair
 * grows on the head and lies on the chest, and the head descends from the chest. If neither bone
 * descends from the other, the card is unchanged.
 *
 * Cards with their own bones stay soft. If no part surrounds a bone that moves a card, the bone
 * belongs to the card. Takes O(cards x bones). Fails only on out-of-memory or when cancelled. */
#include "solver/rigid_candidates.h"

#include "mesh/loose_parts.h"

#define OWN 0.1 /* mean weight of a bone that moves the card */

/* The bone with the most weight beneath one end; -1: the end touches nothing. */
static int bone_beneath(const arap_rigid_search *s, arap_candidate *c, int end) {
    c->hanging_end = end;
    arap_candidate_mean(s, c);
    c->hanging_end = 0;
    return arap_candidate_bone(s, 0);
}

/* The end that is the root of the card, or 0. */
static int choose_root(const arap_rigid_search *s, arap_candidate *c) {
    int low = bone_beneath(s, c, 1), high = bone_beneath(s, c, 2);
    if (low < 0 || high < 0) return low >= 0 ? 1 : high >= 0 ? 2 : 0;
    if (low == high) return 0;
    if (arap_is_below(&s->solver->skeleton, high, low)) return 2;
    return arap_is_below(&s->solver->skeleton, low, high) ? 1 : 0;
}

/* Whether the card is moved by a bone inside no part, and not only by the bones of the surface on
 * which it sits. */
static int has_own_bones(const arap_rigid_search *s, arap_candidate *c, int root) {
    int own = 0, bones = s->solver->skeleton.deform_count, sits = bone_beneath(s, c, root);
    arap_candidate_mean(s, c);
    for (int b = 0; b < bones; b++) own |= s->mean[b] > OWN && b != sits && !s->is_surrounded[b];
    return own;
}

arap_status arap_hold_hanging(arap_context *context, arap_rigid_search *search, int *changes) {
    const arap_mesh *mesh = &search->solver->mesh;
    arap_status status = arap_find_hanging(context, mesh, search->is_candidate, search->card_end,
                                           search->face_beneath);
    *changes = 0;
    for (int p = 0; p < mesh->part_count && !status; p++) {
        arap_candidate *c = &search->parts[p];
        if (!search->is_candidate[p] || c->bone_count > 0) continue;
        int root = choose_root(search, c);
        if (!root || has_own_bones(search, c, root)) continue;
        c->hanging_end = root;
        c->is_rigid = c->blends = 1;
        *changes = 1;
    }
    return status;
}
