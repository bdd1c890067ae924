/* Cards: see loose_parts.h.
 *
 * A card is a loose part that has a boundary, encloses no volume and is a strip: with the length P
 * of its boundary and its area A,
 *     P^2 >= STRIP A.
 * P^2 / A is 4 (1 + k)^2 / k for a rectangle k times as long as wide, 4 pi for a disc, and 0 for a
 * closed surface. A strip bent into a sock or a sleeve has a short boundary for its area, so it is
 * not a card. A narrow band around a limb is a card.
 *
 * An edge is on the boundary if all its triangles have the same third vertex, because both sides of
 * a card may be modeled, one on top of the other. A is the area of one side, which is the total
 * area divided by the number of triangles at the boundary. Collapsed triangles do not count.
 *
 * Takes O(triangles x log neighbors). Fails on out-of-memory only. */
#include "mesh/loose_parts.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"

#define STRIP 20 /* a rectangle slightly less than three times as long as wide */

enum { NONE = -1, SEVERAL = -2 };

static double length(const arap_mesh *mesh, int a, int b) {
    return sqrt(arap_distance2(mesh->v + 3 * (size_t)a, mesh->v + 3 * (size_t)b));
}

/* The directed edge from the lower of two vertices. */
static size_t edge_of(const arap_mesh *mesh, int a, int b) {
    return arap_mesh_find_edge(mesh, a < b ? a : b, a < b ? b : a);
}

/* The third vertices of the triangles of each edge, at its directed edge from the lower end. */
static void note_thirds(const arap_mesh *mesh, int *third) {
    for (size_t t = mesh->surface_count; t < mesh->triangle_count; t++) {
        const int *corner = mesh->triangles + 3 * t;
        for (int c = 0; c < 3; c++) {
            int a = corner[c], b = corner[(c + 1) % 3], other = corner[(c + 2) % 3];
            int *at = &third[edge_of(mesh, a, b)];
            *at = *at == NONE || *at == other ? other : SEVERAL;
        }
    }
}

arap_status arap_find_cards(arap_context *context, const arap_mesh *mesh, arap_card *cards) {
    arap_arena arena = {0};
    size_t edges = mesh->ring[mesh->count];
    int *third = ARAP_TAKE(&arena, edges, int);
    double *walked = ARAP_TAKE_ZERO(&arena, mesh->part_count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the cards among the parts");
    if (status) goto done;
    for (size_t e = 0; e < edges; e++) third[e] = NONE;
    note_thirds(mesh, third);
    for (int p = 0; p < mesh->part_count; p++) cards[p] = (arap_card){0};
    for (int i = 0; i < mesh->count; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
            if (third[e] >= 0) cards[mesh->part[i]].boundary += length(mesh, i, mesh->neighbor[e]);
    for (size_t t = mesh->surface_count; t < mesh->triangle_count; t++) {
        const int *corner = mesh->triangles + 3 * t;
        arap_card *card = &cards[mesh->part[corner[0]]];
        card->area +=
            arap_triangle_area(mesh->v + 3 * (size_t)corner[0], mesh->v + 3 * (size_t)corner[1],
                               mesh->v + 3 * (size_t)corner[2]);
        for (int c = 0; c < 3; c++)
            if (third[edge_of(mesh, corner[c], corner[(c + 1) % 3])] >= 0)
                walked[mesh->part[corner[0]]] += length(mesh, corner[c], corner[(c + 1) % 3]);
    }
    for (int p = 0; p < mesh->part_count; p++) {
        arap_card *c = &cards[p];
        if (walked[p] > 0) c->area *= c->boundary / walked[p];
        c->is_card = c->area > 0 && c->boundary * c->boundary >= STRIP * c->area;
    }

done:
    arap_arena_clear(&arena);
    return status;
}
