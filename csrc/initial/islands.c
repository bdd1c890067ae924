/* Islands and the bones visible from them: see heat.h.
 *
 * An island is a set of vertices joined by faces, wires and links. If no bone is visible from any
 * vertex of an island, all of its vertices are treated as if a bone were visible. If the nearest
 * bone is farther away than the size of the island, the whole island follows that bone. Takes
 * O(edges). Fails on out-of-memory only. */
#include "initial/heat.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/rings.h"

typedef struct island_facts {
    int first, size, seen;
    double mean[3], radius2; /* of its vertices */
    double nearest;          /* distance from a bone to its nearest vertex */
    int nearest_bone, rigid;
} island_facts;

static void gather_facts(const arap_mesh *mesh, const arap_visibility *visibility,
                         const int *island, int count, island_facts *facts) {
    for (int i = 0; i < mesh->count; i++) {
        island_facts *f = &facts[island[i]];
        const double *p = mesh->v + 3 * (size_t)i;
        if (!f->size || visibility->distance[i] < f->nearest) {
            f->nearest = visibility->distance[i];
            f->nearest_bone = visibility->nearest[(size_t)i * ARAP_MAX_SHARED];
        }
        if (!f->size) f->first = i;
        for (int c = 0; c < 3; c++) f->mean[c] += p[c];
        f->size++;
        f->seen += visibility->visible[i];
    }
    for (int k = 0; k < count; k++)
        for (int c = 0; c < 3; c++) facts[k].mean[c] /= facts[k].size;
    for (int i = 0; i < mesh->count; i++) {
        island_facts *f = &facts[island[i]];
        f->radius2 = fmax(f->radius2, arap_distance2(mesh->v + 3 * (size_t)i, f->mean));
    }
}

arap_status arap_judge_islands(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, char *shines, int *rigid_bone,
                               arap_islands_report *report) {
    arap_arena arena = {0};
    int n = mesh->count;
    int *island = ARAP_TAKE(&arena, n, int);
    island_facts *facts = NULL;
    arap_status status = arap_arena_status(&arena, &context->error, "the islands of the mesh");
    if (status) goto done;
    int count = arap_find_islands(mesh, island, rigid_bone);
    facts = ARAP_TAKE_ZERO(&arena, count, island_facts);
    report->unseen = ARAP_NEW(arap_island, count);
    status = report->unseen ? arap_arena_status(&arena, &context->error, "the islands of the mesh")
                            : arap_fail_memory(&context->error, "the islands of the mesh");
    if (status) goto done;
    gather_facts(mesh, visibility, island, count, facts);
    report->unseen_count = 0;
    for (int k = 0; k < count; k++) {
        island_facts *f = &facts[k];
        if (f->seen) continue;
        f->rigid = f->nearest > 2 * sqrt(f->radius2);
        report->unseen[report->unseen_count++] =
            (arap_island){mesh->first[f->first], f->size, f->rigid};
    }
    for (int i = 0; i < n; i++) {
        const island_facts *f = &facts[island[i]];
        shines[i] = visibility->visible[i] || !f->seen;
        rigid_bone[i] = f->rigid ? f->nearest_bone : -1;
    }

done:
    arap_arena_clear(&arena);
    if (status) arap_islands_report_clear(report);
    return status;
}

void arap_islands_report_clear(arap_islands_report *report) {
    arap_free(report->unseen);
    *report = (arap_islands_report){0};
}
