/* Shortest paths from vertex to vertex (Dijkstra 1959): the queue of vertices to visit. */
#ifndef ARAP_PATHS_H
#define ARAP_PATHS_H

#include "base/context.h"

typedef struct arap_visit {
    double distance;
    int vertex;
} arap_visit;

/* Visits to come, the nearest first, of equally far ones that of the lower vertex. Zero: none. A
 * vertex whose distance falls is put in again: its later visits are farther than that. */
typedef struct arap_visits {
    arap_visit *visit; /* a binary heap */
    size_t count, room;
} arap_visits;

/* 0, or -1 without memory. */
int arap_visits_add(arap_visits *visits, double distance, int vertex);

/* The nearest one; there is one. */
arap_visit arap_visits_take(arap_visits *visits);

void arap_visits_clear(arap_visits *visits);

#endif
