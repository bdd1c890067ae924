/* Visits vertices in the order of shortest paths: see paths.h. Each visit takes O(log visits).
 * Fails only on out-of-memory. */
#include "mesh/paths.h"

#include "base/memory.h"

static int is_before(arap_visit a, arap_visit b) {
    return a.distance != b.distance ? a.distance < b.distance : a.vertex < b.vertex;
}

int arap_visits_add(arap_visits *v, double distance, int vertex) {
    if (v->count == v->room) {
        size_t room = 2 * v->room + 64;
        arap_visit *grown = arap_realloc(v->visit, room, sizeof *grown);
        if (!grown) return -1;
        v->visit = grown;
        v->room = room;
    }
    arap_visit moving = {distance, vertex};
    size_t at = v->count++;
    for (; at && is_before(moving, v->visit[(at - 1) / 2]); at = (at - 1) / 2)
        v->visit[at] = v->visit[(at - 1) / 2];
    v->visit[at] = moving;
    return 0;
}

arap_visit arap_visits_take(arap_visits *v) {
    arap_visit first = v->visit[0], moving = v->visit[--v->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < v->count) {
        if (child + 1 < v->count && is_before(v->visit[child + 1], v->visit[child])) child++;
        if (!is_before(v->visit[child], moving)) break;
        v->visit[at] = v->visit[child];
        at = child;
    }
    v->visit[at] = moving;
    return first;
}

void arap_visits_clear(arap_visits *v) {
    arap_free(v->visit);
    *v = (arap_visits){0};
}
