/* The numbers of a supernode. Included by supernodes.c once per precision with
 *   REAL        float or double
 *   OF(name)    name of a function here, and of the dense ones of blas.h */
static void OF(begin_supernode)(const factorization *f, int s, int *map) {
    const arap_supernodes *l = f->l;
    int first = l->first[s], rows = rows_of(l, s);
    const int *row = l->row + l->row_start[s];
    REAL *value = (REAL *)f->value + l->start[s];
    memset(value, 0, (size_t)rows * (size_t)columns_of(l, s) * sizeof *value);
    for (int k = 0; k < rows; k++) map[row[k]] = k;
    for (int k = first; k < l->first[s + 1]; k++) {
        int j = l->order[k]; /* what is below the diagonal there is so here: postorder */
        REAL *column = value + (size_t)rows * (size_t)(k - first);
        double scale = f->scale ? f->scale[j] : 1;
        for (int e = f->matrix->start[j]; e < f->matrix->start[j + 1]; e++) {
            int i = f->matrix->row[e];
            double other = f->scale ? f->scale[i] : 1;
            column[map[f->plan->place[i]]] = (REAL)(f->matrix->value[e] * scale * other);
        }
    }
}

/* Returns its flops. */
static double OF(subtract_update)(const factorization *f, int s, const update *u, const int *map,
                                  int *relative, REAL *block) {
    const arap_supernodes *l = f->l;
    int columns = columns_of(l, u->from), below = rows_of(l, u->from);
    int wide = shared_rows(l, u->from, u->place, s), high = below - u->place;
    const int *row = l->row + l->row_start[u->from] + u->place;
    const REAL *of_update = (const REAL *)f->value + l->start[u->from] + u->place;
    size_t rows = (size_t)rows_of(l, s);
    REAL *value = (REAL *)f->value + l->start[s];
    OF(arap_lower_product)(high, wide, columns, of_update, below, block);
    for (int i = 0; i < high; i++) relative[i] = map[row[i]];
    for (int j = 0; j < wide; j++) {
        REAL *column = value + (size_t)relative[j] * rows;
        const REAL *from = block + (size_t)j * (size_t)high;
        for (int i = j; i < high; i++) column[relative[i]] -= from[i];
    }
    return 2.0 * columns * wide * high + OVERHEAD;
}

/* 0, or the number of the first column that shows that it is not positive definite, or -1 where it
 * has stopped. */
static int OF(factorize_supernode)(factorization *f, int s, int worker, int *map, int *relative,
                                   void *block) {
    const arap_supernodes *l = f->l;
    const arap_supernode_plan *p = f->plan;
    REAL *value = (REAL *)f->value + l->start[s];
    int columns = columns_of(l, s), rows = rows_of(l, s);
    OF(begin_supernode)(f, s, map);
    for (size_t k = p->update_start[s]; k < p->update_start[s + 1]; k++) {
        double flops = OF(subtract_update)(f, s, &p->updates[k], map, relative, block);
        if (must_stop(f, worker, flops)) return -1;
    }
    if (must_stop(f, worker, (double)columns * columns * rows + OVERHEAD)) return -1;
    int info = OF(arap_lower_cholesky)(columns, value, rows);
    if (!info && rows > columns) OF(arap_solve_below)(rows - columns, columns, value, rows);
    return info;
}
