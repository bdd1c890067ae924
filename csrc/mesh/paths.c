/* Visits vertices in the order of shortest paths: see paths.h. Each visit takes O(log visits).
 * Fails only on out-of-memory. */
#include "mesh/paths.h"

#include "base/memory.h"

static int is_before(arap_visit a, arap_visit b) {
    return a.distance != b.distance ? a.distance < b.distance : a.vertex < b.vertex;
}

int arap_visits_add(arap_visits *visits, double distance, int vertex) {
    if (visits->count == visits->room) {
        size_t room = 2 * visits->room + 64;
        arap_visit *grown = arap_realloc(visits->visit, room, sizeof *grown);
        if (!grown) return -1;
        visits->visit = grown;
        visits->room = room;
    }
    arap_visit moving = {distance, vertex};
    size_t at = visits->count++;
    for (; at && is_before(moving, visits->visit[(at - 1) / 2]); at = (at - 1) / 2)
        visits->visit[at] = visits->visit[(at - 1) / 2];
    visits->visit[at] = moving;
    return 0;
}

arap_visit arap_visits_take(arap_visits *visits) {
    arap_visit first = visits->visit[0], moving = visits->visit[--visits->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < visits->count) {
        if (child + 1 < visits->count && is_before(visits->visit[child + 1], visits->visit[child]))
            child++;
        if (!is_before(visits->visit[child], moving)) break;
        visits->visit[at] = visits->visit[child];
        at = child;
    }
    visits->visit[at] = moving;
    return first;
}

void arap_visits_clear(arap_visits *visits) {
    arap_free(visits->visit);
    *visits = (arap_visits){0};
}
