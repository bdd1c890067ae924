/* The priority queue for shortest paths between vertices (Dijkstra 1959). */
#ifndef ARAP_PATHS_H
#define ARAP_PATHS_H

#include "base/context.h"

typedef struct arap_visit {
    double distance;
    int vertex;
} arap_visit;

/* Pending visits, the nearest first. Among equal distances, the lower vertex comes first. An
 * all-zero queue is empty. A vertex whose distance decreases is inserted again. Its outdated visits
 * have larger distances. */
typedef struct arap_visits {
    arap_visit *visit; /* a binary heap */
    size_t count, room;
} arap_visits;

/* Insert a visit. Returns 0, or -1 if memory runs out. */
int arap_visits_add(arap_visits *visits, double distance, int vertex);

/* Remove and return the nearest visit. The queue must not be empty. */
arap_visit arap_visits_take(arap_visits *visits);

void arap_visits_clear(arap_visits *visits);

#endif
