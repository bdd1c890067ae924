/* Numeric operations on a supernode. supernodes.c includes this file once per precision, with
 *   REAL        float or double
 *   OF(name)    name of a function here, and of the dense ones of blas.h
 *
 * BLAS calls cannot be interrupted. A product of more than LONG flops is therefore divided into
 * pieces of PIECE flops, with a poll for cancellation between pieces. The pieces do not slow the
 * product down. A long Cholesky factorization works on panels of columns. The products of the
 * columns before a panel are subtracted from it. The divisions depend only on sizes, so the results
 * are bit-identical on any number of threads. */

/* Rows per piece of a product with this many numbers per row. */
static int OF(rows_of_piece)(int wide, int inner) {
    double rows = PIECE / (2.0 * wide * inner);
    return rows < TILE ? TILE : rows > INT_MAX / 2 ? INT_MAX / 2 : (int)rows / TILE * TILE;
}

/* For A (high, inner) and its first `wide` rows B, compute out = keep out + scale A B' on and below
 * the diagonal. Returns whether it was cancelled. */
static int OF(long_product)(factorization *f, int worker, int high, int wide, int inner, REAL scale,
                            const REAL *a, int lda, REAL keep, REAL *out, int ldo) {
    for (int j = 0; j < wide; j += PANEL) {
        int width = wide - j < PANEL ? wide - j : PANEL, step = OF(rows_of_piece)(width, inner);
        for (int i = j; i < high; i += step) {
            int rows = high - i < step ? high - i : step;
            OF(arap_scaled_product)(rows, width, inner, scale, a + i, a + j, lda, keep,
                                    out + (size_t)j * (size_t)ldo + i, ldo);
            if (has_stopped(f, worker, 2.0 * rows * width * inner)) return 1;
        }
    }
    return 0;
}

/* Factorize this part (rows, columns) in place, one panel of columns after another. Return values
 * are those of factorize_supernode. */
static int OF(long_cholesky)(factorization *f, int worker, int columns, int rows, REAL *value) {
    for (int k = 0; k < columns; k += PANEL) {
        int width = columns - k < PANEL ? columns - k : PANEL, below = rows - k - width;
        int step = OF(rows_of_piece)(width, width);
        REAL *own = value + (size_t)k * (size_t)rows + k;
        if (k && OF(long_product)(f, worker, rows - k, width, k, -1, value + k, rows, 1, own, rows))
            return -1;
        int info = OF(arap_lower_cholesky)(width, own, rows);
        if (info) return k + info;
        for (int i = 0; i < below; i += step) {
            int some = below - i < step ? below - i : step;
            OF(arap_solve_below)(some, width, own, own + width + i, rows);
            if (has_stopped(f, worker, (double)some * width * width)) return -1;
        }
    }
    return 0;
}

/* Returns whether it has stopped. */
static int OF(begin_supernode)(factorization *f, int s, int worker, int *map) {
    const arap_supernodes *l = f->l;
    int first = l->first[s], rows = rows_of(l, s);
    const int *row = l->row + l->row_start[s];
    REAL *value = (REAL *)f->value + l->start[s];
    int is_long = (double)rows * columns_of(l, s) > MINIMUM;
    if (!is_long) memset(value, 0, (size_t)rows * (size_t)columns_of(l, s) * sizeof *value);
    for (int k = 0; k < rows; k++) map[row[k]] = k;
    for (int k = first; k < l->first[s + 1]; k++) {
        int j = l->order[k]; /* rows below the diagonal there are also below it here, because of the
                                postorder */
        REAL *column = value + (size_t)rows * (size_t)(k - first);
        if (is_long) memset(column, 0, (size_t)rows * sizeof *column);
        double scale = f->scale ? f->scale[j] : 1;
        for (int e = f->matrix->start[j]; e < f->matrix->start[j + 1]; e++) {
            int i = f->matrix->row[e];
            double other = f->scale ? f->scale[i] : 1;
            column[map[f->plan->place[i]]] = (REAL)(f->matrix->value[e] * scale * other);
        }
        if (is_long && has_stopped(f, worker, rows)) return 1;
    }
    return 0;
}

/* Returns whether it has stopped. */
static int OF(subtract_update)(factorization *f, int s, int worker, const update *u, const int *map,
                               int *relative, REAL *block) {
    const arap_supernodes *l = f->l;
    int columns = columns_of(l, u->from), below = rows_of(l, u->from);
    int wide = shared_rows(l, u->from, u->place, s), high = below - u->place;
    const int *row = l->row + l->row_start[u->from] + u->place;
    const REAL *of_update = (const REAL *)f->value + l->start[u->from] + u->place;
    size_t rows = (size_t)rows_of(l, s);
    REAL *value = (REAL *)f->value + l->start[s];
    double flops = 2.0 * columns * wide * high;
    if (flops <= LONG)
        OF(arap_lower_product)(high, wide, columns, of_update, below, block);
    else if (OF(long_product)(f, worker, high, wide, columns, 1, of_update, below, 0, block, high))
        return 1;
    for (int i = 0; i < high; i++) relative[i] = map[row[i]];
    for (int j = 0; j < wide; j++) {
        REAL *column = value + (size_t)relative[j] * rows;
        const REAL *from = block + (size_t)j * (size_t)high;
        for (int i = j; i < high; i++) column[relative[i]] -= from[i];
        if (flops > LONG && has_stopped(f, worker, high)) return 1;
    }
    return has_stopped(f, worker, flops + OVERHEAD);
}

/* Returns 0, the number of the first column that shows that the matrix is not positive definite, or
 * -1 if it was cancelled. */
static int OF(factorize_supernode)(factorization *f, int s, int worker, int *map, int *relative,
                                   void *block) {
    const arap_supernodes *l = f->l;
    const arap_supernode_plan *p = f->plan;
    REAL *value = (REAL *)f->value + l->start[s];
    int columns = columns_of(l, s), rows = rows_of(l, s);
    if (OF(begin_supernode)(f, s, worker, map)) return -1;
    for (size_t k = p->update_start[s]; k < p->update_start[s + 1]; k++)
        if (OF(subtract_update)(f, s, worker, &p->updates[k], map, relative, block)) return -1;
    double flops = (double)columns * columns * rows;
    if (has_stopped(f, worker, flops + OVERHEAD)) return -1;
    if (flops > LONG) return OF(long_cholesky)(f, worker, columns, rows, value);
    int info = OF(arap_lower_cholesky)(columns, value, rows);
    if (!info && rows > columns)
        OF(arap_solve_below)(rows - columns, columns, value, value + columns, rows);
    return info;
}
