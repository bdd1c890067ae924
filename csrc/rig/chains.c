/* The chains of a skeleton: see chains.h.
 *
 * Chains grow upward from every leaf, whose tail is the effector. If several chains meet in a bone,
 * the longest chain continues through this bone if the second longest is shorter than COMPARABLE
 * times the length of the longest. A twist bone therefore does not end an upper arm, and fins do
 * not end a tail. Otherwise, all of these chains end below that bone, as fingers do at the hand and
 * legs at the hips. A new chain then starts with the head of the bone as effector, so an arm
 * reaches with its wrist. If all chains that meet in a bone are short (below MIN_LENGTH of the
 * skeleton), like those of eyes and ears, the bone counts as a leaf. Short chains and chains of a
 * single bone are dropped.
 *
 * Lengths are measured along paths from joint to joint. Takes O(bones). Fails on out-of-memory. */
#include "rig/chains.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define COMPARABLE 0.5  /* share of the longer chain */
#define MIN_LENGTH 0.03 /* share of the diagonal of the skeleton */

/* For each deforming bone, the part of a chain that reaches up to it. */
typedef struct study {
    const arap_skeleton *s;
    int *longest;   /* the child with the longest chain, -1: none */
    double *first;  /* length of that chain from the head of the bone */
    double *second; /* the same for the second-longest chain */
    double *length; /* of the chain that continues from the head of the bone */
    char *meeting;  /* chains end below this bone */
} study;

static double size_of(const arap_skeleton *s) {
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int d = 0; d < s->deform_count; d++)
        for (int c = 0; c < 3; c++) {
            double head = s->heads[3 * s->deform_bone[d] + c];
            double tail = s->tails[3 * s->deform_bone[d] + c];
            lo[c] = fmin(lo[c], fmin(head, tail));
            hi[c] = fmax(hi[c], fmax(head, tail));
        }
    return sqrt(arap_distance2(lo, hi));
}

static const double *head_of(const arap_skeleton *s, int d) {
    return s->heads + 3 * s->deform_bone[d];
}

static void find_meetings(study *t, double min) {
    const arap_skeleton *s = t->s;
    for (int d = 0; d < s->deform_count; d++) {
        t->longest[d] = -1;
        t->first[d] = t->second[d] = 0;
    }
    for (int i = s->deform_count - 1; i >= 0; i--) {
        int d = s->order[i], up = s->deform_parent[d], b = s->deform_bone[d];
        t->meeting[d] = t->second[d] > 0 && t->second[d] >= COMPARABLE * t->first[d];
        t->length[d] = t->meeting[d] ? 0 : t->first[d];
        if (t->meeting[d] && t->first[d] < min) t->meeting[d] = 0, t->longest[d] = -1;
        if (t->longest[d] < 0)
            t->length[d] = sqrt(arap_distance2(s->heads + 3 * b, s->tails + 3 * b));
        if (up < 0) continue;
        double way = t->length[d] + sqrt(arap_distance2(head_of(s, up), head_of(s, d)));
        if (t->longest[up] < 0 || way > t->first[up]) {
            t->second[up] = t->first[up];
            t->first[up] = way;
            t->longest[up] = d;
        } else {
            t->second[up] = fmax(t->second[up], way);
        }
    }
}

/* Add the chain that begins with bone d, unless it is rejected. */
static void add_chain(const study *t, int d, double min, arap_chains *chains) {
    const arap_skeleton *s = t->s;
    int at = chains->start[chains->count], count = 0;
    if (t->meeting[d] || t->length[d] < min) return;
    const double *effector = NULL;
    for (; !effector; d = t->longest[d]) {
        if (t->meeting[d]) {
            effector = head_of(s, d);
            break;
        }
        chains->bone[at + count++] = s->deform_bone[d];
        if (t->longest[d] < 0) effector = s->tails + 3 * s->deform_bone[d];
    }
    if (count < 2) return;
    memcpy(chains->effector + 3 * chains->count, effector, 3 * sizeof(double));
    chains->start[++chains->count] = at + count;
}

arap_status arap_chains_find(arap_context *context, const arap_skeleton *skeleton,
                             arap_chains *chains) {
    arap_arena arena = {0};
    size_t n = (size_t)skeleton->deform_count;
    study t = {.s = skeleton,
               .longest = ARAP_TAKE(&arena, n, int),
               .first = ARAP_TAKE(&arena, n, double),
               .second = ARAP_TAKE(&arena, n, double),
               .length = ARAP_TAKE(&arena, n, double),
               .meeting = ARAP_TAKE(&arena, n, char)};
    *chains = (arap_chains){0};
    chains->start = ARAP_TAKE_ZERO(&chains->arena, n + 1, int);
    chains->bone = ARAP_TAKE(&chains->arena, n, int);
    chains->effector = ARAP_TAKE(&chains->arena, 3 * n, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the chains of bones");
    if (!status) status = arap_arena_status(&chains->arena, &context->error, "the chains of bones");
    if (status) goto done;
    double min = MIN_LENGTH * size_of(skeleton);
    find_meetings(&t, min);
    for (int i = 0; i < skeleton->deform_count; i++) {
        int d = skeleton->order[i], up = skeleton->deform_parent[d];
        if (up < 0 || t.meeting[up] || t.longest[up] != d) add_chain(&t, d, min, chains);
    }

done:
    arap_arena_clear(&arena);
    if (status) arap_chains_clear(chains);
    return status;
}

void arap_chains_clear(arap_chains *chains) {
    arap_arena_clear(&chains->arena);
    *chains = (arap_chains){0};
}
