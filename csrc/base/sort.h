/* Sorts items by small numbers, and sorts doubles. */
#ifndef ARAP_SORT_H
#define ARAP_SORT_H

/* List the items 0 to count - 1 by group: those of group g are item[start[g]] to
 * item[start[g + 1] - 1]. group: (count), negative: in no group. order: (count) the order of the
 * items within each group; NULL: ascending. start: (groups + 1). item: (count). */
void arap_group(int count, const int *group, const int *order, int groups, int *start, int *item);

/* Sort in ascending order. */
void arap_sort_doubles(double *values, int count);

#endif
