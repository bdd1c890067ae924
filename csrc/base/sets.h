/* Disjoint sets of numbers. Following `parent` from any member leads to the root of its set, which
 * is the lowest member and its own parent. Begin with parent[i] = i. */
#ifndef ARAP_SETS_H
#define ARAP_SETS_H

static inline int arap_find_root(int *parent, int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static inline void arap_unite(int *parent, int i, int j) {
    i = arap_find_root(parent, i);
    j = arap_find_root(parent, j);
    parent[i > j ? i : j] = i > j ? j : i;
}

#endif
