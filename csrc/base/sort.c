/* Sorting: see sort.h. A counting sort takes O(count + groups). */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

void arap_group(int count, const int *group, const int *order, int groups, int *start, int *item) {
    memset(start, 0, ((size_t)groups + 1) * sizeof *start);
    for (int i = 0; i < count; i++)
        if (group[i] >= 0) start[group[i]]++;
    for (int g = 0; g < groups; g++) start[g + 1] += start[g];
    for (int k = count - 1; k >= 0; k--) {
        int i = order ? order[k] : k;
        if (group[i] >= 0) item[--start[group[i]]] = i;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void arap_sort_doubles(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
}
