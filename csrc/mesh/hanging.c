/* Hanging cards: see loose_parts.h.
 *
 * A card (cards.c) has two ends: the area around the vertex farthest from its center, and the area
 * around the vertex farthest from the first one. The radius of both areas is AROUND times the
 * distance between these two vertices. A vertex touches another part, which must not be a card, if
 * a face of this part is near enough. The limit is the width w = 2 A / P of the card, or 1 / REACH
 * of the card's length P / 2. Other cards do not count, because cards lie on top of each other in
 * layers. A card hangs if one end touches and the share of the card's area that touches is at most
 * LYING. The other end may also touch, like long hair at a shoulder. All touching vertices that are
 * connected with an end through touching vertices belong to that end.
 *
 * Takes O(vertices of cards x log triangles). Fails only on out-of-memory or when cancelled. */
#include "mesh/loose_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"

#define AROUND 0.15
#define REACH 30
#define LYING 0.7

typedef struct strip {
    double center[3], area, touching, farthest;
    int low, high; /* vertices at its ends */
} strip;

typedef struct finder {
    const arap_mesh *mesh;
    strip *strips;    /* (parts) */
    arap_card *cards; /* (parts) */
    const char *may;
    char *touches; /* (count) */
    int *stack;    /* (count) */
} finder;

static const double *place(const finder *f, int i) { return f->mesh->v + 3 * (size_t)i; }

static int part_of(const finder *f, int i) {
    int part = f->mesh->part[i];
    return f->cards[part].is_card && f->may[part] ? part : -1;
}

/* The vertex of each card farthest from a given point of it; among values equal up to rounding, the
 * first one. */
static void find_farthest(const finder *f, int is_high) {
    for (int p = 0; p < f->mesh->part_count; p++) f->strips[p].farthest = -1;
    for (int i = 0; i < f->mesh->count; i++) {
        int part = part_of(f, i);
        if (part < 0) continue;
        strip *s = &f->strips[part];
        double d = arap_distance2(place(f, i), is_high ? place(f, s->low) : s->center);
        if (d <= s->farthest * (1 + 1e-9)) continue;
        s->farthest = d;
        *(is_high ? &s->high : &s->low) = i;
    }
}

static void find_ends(const finder *f) {
    const arap_mesh *mesh = f->mesh;
    for (int i = 0; i < mesh->count; i++) {
        strip *s = &f->strips[mesh->part[i]];
        s->area += mesh->area[i];
        for (int c = 0; c < 3; c++) s->center[c] += mesh->area[i] * place(f, i)[c];
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int c = 0; c < 3; c++) f->strips[p].center[c] /= f->strips[p].area;
    find_farthest(f, 0);
    find_farthest(f, 1);
}

static arap_status find_touching(arap_context *context, const finder *f, const arap_bvh *faces,
                                 int *beneath) {
    const arap_mesh *mesh = f->mesh;
    arap_status status = ARAP_OK;
    for (int i = 0; i < mesh->count && !status; i++) {
        int part = part_of(f, i);
        if (part < 0) continue;
        const arap_card *card = &f->cards[part];
        double reach = fmax(2 * card->area / card->boundary, card->boundary / (2 * REACH));
        double found = reach * reach;
        beneath[i] = arap_bvh_nearest(faces, place(f, i), 1, arap_face_distance, mesh, &found);
        f->touches[i] = beneath[i] >= 0;
        if (f->touches[i]) f->strips[part].touching += mesh->area[i];
        if (i % 1024 == 0) status = arap_progress(context, "rigid parts", 0);
    }
    return status;
}

/* Whether vertex i is near that end of its card. */
static int is_at(const finder *f, int i, int end) {
    const strip *s = &f->strips[f->mesh->part[i]];
    double max = AROUND * AROUND * s->farthest;
    return arap_distance2(place(f, i), place(f, end)) <= max;
}

/* The touching vertices connected to this one through touching vertices. */
static void spread(const finder *f, int from, char number, char *end) {
    const arap_mesh *mesh = f->mesh;
    int depth = 0;
    end[from] = number;
    f->stack[depth++] = from;
    while (depth) {
        int i = f->stack[--depth];
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            int k = mesh->neighbor[e];
            if (mesh->part[k] != mesh->part[i] || !f->touches[k] || end[k]) continue;
            end[k] = number;
            f->stack[depth++] = k;
        }
    }
}

arap_status arap_find_hanging(arap_context *context, const arap_mesh *mesh, const char *may,
                              char *end, int *beneath) {
    size_t parts = (size_t)mesh->part_count, n = (size_t)mesh->count;
    arap_arena arena = {0};
    finder f = {.mesh = mesh,
                .strips = ARAP_TAKE_ZERO(&arena, parts, strip),
                .cards = ARAP_TAKE(&arena, parts, arap_card),
                .may = may,
                .touches = ARAP_TAKE_ZERO(&arena, n, char),
                .stack = ARAP_TAKE(&arena, n, int)};
    int *tags = ARAP_TAKE(&arena, parts, int), any = 0;
    arap_bvh *faces = NULL;
    arap_status status = arap_arena_status(&arena, &context->error, "the cards that hang");
    memset(end, 0, n);
    if (status) goto done;
    status = arap_find_cards(context, mesh, f.cards);
    for (size_t p = 0; p < parts && !status; p++) {
        tags[p] = f.cards[p].is_card;
        any |= f.cards[p].is_card && may[p];
    }
    if (status || !any) goto done;
    find_ends(&f);
    status = arap_face_bvh(context, mesh, tags, &faces);
    if (!status) status = find_touching(context, &f, faces, beneath);
    for (int i = 0; i < mesh->count && !status; i++) {
        int part = part_of(&f, i);
        const strip *s = &f.strips[mesh->part[i]];
        if (part < 0 || !f.touches[i] || end[i] || s->touching > LYING * s->area) continue;
        if (is_at(&f, i, s->low))
            spread(&f, i, 1, end);
        else if (is_at(&f, i, s->high))
            spread(&f, i, 2, end);
    }

done:
    arap_bvh_free(faces);
    arap_arena_clear(&arena);
    return status;
}
