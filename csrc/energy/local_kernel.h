/* The innermost loop of the local step, which processes one vertex in all poses. The loop consists
 * of parts, each of which is completed for all poses (of up to BLOCK vectors) before the next part
 * begins: cov, cofactors, lambda, R and, bone by bone, P_b, whose sums stay in registers. The
 * kernel takes 144 operations for each bone and pose, and about 330 for each R. local_kernels.c
 * includes this file once per instruction set and precision, with
 *   KERNEL    name of the function
 *   REAL      float or double
 *   INTEGER   a signed integer of the size of REAL
 *   WIDTH     poses in a vector
 *   NEWTON    Newton steps for the largest eigenvalue
 *   FLAT      a lane takes the exact path if z or 4 |cof B| (below) is less than this
 *   MINIMUM   tiny relative to a column of cov, but its square is above TINY
 *   SLIP      a lane takes the exact path if its last Newton step was above this share of z
 * and, where the instruction set has them,
 *   SUMS(a, b, c, d)       the sums over the lanes of four vectors, an arap_v4
 *   ABOUT_INVERSE(x)       1 / x to 14 bits, the same on every processor
 *   ABOUT_INVERSE_ROOT(x)  1 / sqrt(x) to as many bits
 *   MANY_REGISTERS         there are 32 vector registers, not 16
 *
 * For each pose   cov = sum_b T_b M_b            (3x3, M_b 4x3)
 *                 R   = argmax tr(R^T cov) over rotations
 *                 P_b += w T_b^T R               (4x3, summed over poses, w the pose's weight)
 *
 * Rotation (FOAM, Markley 1993), for B = cov / |cov|:
 *   lambda: largest root of (l^2 - 1)^2 - 8 l det B - 4 |cof B|^2, by Newton from
 *           sqrt(1 + 2 |cof B|), the root for det B = 0
 *   k = (lambda^2 - 1) / 2,  z = k lambda - det B
 *   R = ((k + 1) B + lambda cof B - B B^T B) / z
 * followed by one Newton-Schulz step R (3 - R^T R) / 2. With singular values s of B, z = (s1 +
 * s2)(s2 + s3)(s3 + s1), s3 signed by det B. If z is small, the best rotation is ill-determined,
 * and lambda is nearly a double root. Newton's method then converges slowly (rings turned inside
 * out) or diverges (|cof B| = 0). Such a lane uses arap_nearest_rotation of cov plus a trace of the
 * blended bone rotations, which decides what cov leaves undetermined (wires, slivers, collapsed
 * rings).
 *
 * With stretchable influences, U = I + sum_b w_ib (U_b - I) (stretch.h) is a symmetric matrix. R is
 * then the rotation nearest to cov U, and R U replaces R in P_b.
 *
 * If all edges of the ring are parallel, cov = x e^T with the unit vector e along them, and only R
 * e = x / |x| is needed. cov / |cov| = (x / |x|) e^T then replaces R, or |U e| times this matrix
 * with stretch.
 *
 * The ring of a wire is nearly of this kind if it has a spring or bends slightly. Without a special
 * case, all poses of such a ring would take the exact path. With the direction of the wire as the
 * first axis, the columns of cov = (X, Y, Z) are of very different length, and those of R = (p, q,
 * r) are found by rotating two of them at a time. First, p and q rotate by the angle that maximizes
 * p.X + q.Y, whose tangent is (q.X - p.Y) / (p.X + q.Y), and so on. Starting from p = X / |X|, each
 * sweep leaves a share of about (|Y| + |Z|) / |X| of the error. Rounding errors are relative to the
 * column in which they occur. */
typedef REAL TOKEN(KERNEL, vec) __attribute__((vector_size(WIDTH * sizeof(REAL))));
#define VEC TOKEN(KERNEL, vec)
typedef INTEGER TOKEN(KERNEL, mask) __attribute__((vector_size(WIDTH * sizeof(REAL))));
#define MASK TOKEN(KERNEL, mask)
#define BLOCK (80 / WIDTH) /* vectors at a time, at most: their arrays fit the cache */
#ifdef MANY_REGISTERS
#define GROUP 3 /* vectors whose chains of operations run side by side */
#define ROWS 4  /* number of rows of P_b kept in registers */
/* Keeps a value in a register instead of reading it from memory for each use. */
#define HOLD(x) __asm__("" : "+v"(x))
#else
#define GROUP (ARAP_LANES / WIDTH)
#define ROWS 2
#define HOLD(x)
#endif

static inline int TOKEN(KERNEL, any)(MASK mask) {
    INTEGER any = 0;
    for (int i = 0; i < WIDTH; i++) any |= mask[i];
    return any != 0;
}

static inline VEC TOKEN(KERNEL, sqrt)(VEC x) {
    VEC y;
    for (int i = 0; i < WIDTH; i++) y[i] = SQRT(x[i]);
    return y;
}

#ifdef ABOUT_INVERSE
/* Accurate to 14 bits; Newton's steps and the last step of R provide the remaining bits. */
static inline VEC TOKEN(KERNEL, inverse)(VEC x) { return ABOUT_INVERSE(x); }
static inline VEC TOKEN(KERNEL, root)(VEC x) { return x * ABOUT_INVERSE_ROOT(x + TINY); }
/* Accurate to the last bit or two. */
static inline VEC TOKEN(KERNEL, inverse_root)(VEC x) {
    VEC y = ABOUT_INVERSE_ROOT(x);
    return y * ((REAL)1.5 - (REAL)0.5 * x * y * y);
}
#else
static inline VEC TOKEN(KERNEL, inverse)(VEC x) { return (REAL)1 / x; }
static inline VEC TOKEN(KERNEL, root)(VEC x) { return TOKEN(KERNEL, sqrt)(x); }
static inline VEC TOKEN(KERNEL, inverse_root)(VEC x) { return (REAL)1 / TOKEN(KERNEL, sqrt)(x); }
#endif

/* Compute the rotations q of c in the lanes marked in `exact`, one by one. */
static inline void TOKEN(KERNEL, exactly)(const arap_kernel_input *in, int lane, MASK exact,
                                          const VEC *c, VEC *q) {
    const REAL *transform = in->transform;
    const size_t lanes = (size_t)in->lanes;
    double matrices[9 * WIDTH], rotations[9 * WIDTH];
    int lane_of[WIDTH];
    size_t count = 0;
    for (int i = 0; i < WIDTH && lane + i < in->poses; i++) {
        if (!exact[i]) continue;
        double *cov = matrices + 9 * count, prior[9] = {0};
        for (int j = 0; j < 9; j++) cov[j] = c[j][i];
        for (int b = 0; b < in->bones && in->shape != ARAP_RING_THIN; b++)
            for (int j = 0; in->weight[b] != 0 && j < 9; j++)
                prior[j] +=
                    in->weight[b] *
                    transform[((size_t)in->bone[b] * 12 + (size_t)(j / 3 * 4 + j % 3)) * lanes +
                              (size_t)(lane + i)];
        for (int j = 0; j < 9; j++) cov[j] += in->prior_share * prior[j];
        lane_of[count++] = i;
    }
    arap_nearest_rotations(count, matrices, rotations);
    for (size_t k = 0; k < count; k++)
        for (int j = 0; j < 9; j++) q[j][lane_of[k]] = (REAL)rotations[9 * k + j];
}

/* Values for a vector of poses: 1 / |cov|, the determinant of B, the sum of squares of its
 * cofactors, lambda and the last step toward it. */
typedef struct TOKEN(KERNEL, found) {
    VEC over, det, f2, l, slip;
} TOKEN(KERNEL, found);

/* Compute all of them except lambda, and the cofactors f. */
static inline __attribute__((always_inline)) void
TOKEN(KERNEL, cofactors)(int count, VEC (*c)[9], TOKEN(KERNEL, found) * b, VEC (*f)[9]) {
    for (int n = 0; n < count; n++) {
        VEC norm2[3];
        for (int j = 0; j < 3; j++)
            norm2[j] = c[n][j] * c[n][j] + c[n][3 + j] * c[n][3 + j] + c[n][6 + j] * c[n][6 + j];
        b[n].over = norm2[0] + norm2[1] + norm2[2] + TINY;
    }
    for (int n = 0; n < count; n++) b[n].over = TOKEN(KERNEL, inverse_root)(b[n].over);
    for (int n = 0; n < count; n++) {
        VEC a[9], squares[3];
        for (int i = 0; i < 9; i++) a[i] = c[n][i] * b[n].over;
        for (int i = 0; i < 3; i++) {
            const VEC *y = a + (i + 1) % 3 * 3, *w = a + (i + 2) % 3 * 3;
            VEC row[3];
            row[0] = y[1] * w[2] - y[2] * w[1];
            row[1] = y[2] * w[0] - y[0] * w[2];
            row[2] = y[0] * w[1] - y[1] * w[0];
            squares[i] = row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
            if (i == 0) b[n].det = a[0] * row[0] + a[1] * row[1] + a[2] * row[2];
            for (int j = 0; j < 3; j++) f[n][3 * i + j] = row[j];
        }
        b[n].f2 = squares[0] + squares[1] + squares[2];
    }
}

/* Compute lambda: the first step starts from the root for det B = 0, where l^2 - 1 = 2 |cof B|. */
static inline __attribute__((always_inline)) void TOKEN(KERNEL, lambda)(int count,
                                                                        TOKEN(KERNEL, found) * b) {
    VEC minor[GROUP], l[GROUP], det8[GROUP], f4[GROUP], slip[GROUP];
    for (int n = 0; n < count; n++) minor[n] = TOKEN(KERNEL, root)(b[n].f2);
    for (int n = 0; n < count; n++) l[n] = TOKEN(KERNEL, root)((REAL)1 + (REAL)2 * minor[n]);
    for (int n = 0; n < count; n++) {
        slip[n] = -l[n] * b[n].det * TOKEN(KERNEL, inverse)(l[n] * minor[n] - b[n].det + TINY);
        l[n] -= slip[n];
        det8[n] = (REAL)8 * b[n].det, f4[n] = (REAL)4 * b[n].f2;
    }
    for (int step = 1; step < NEWTON; step++)
        for (int n = 0; n < count; n++) {
            VEC u = l[n] * l[n] - (REAL)1;
            VEC value = u * u - f4[n] - l[n] * det8[n];
            VEC slope = (REAL)4 * (l[n] * u) - det8[n];
            slip[n] = value * TOKEN(KERNEL, inverse)(slope + TINY);
            l[n] -= slip[n];
        }
    for (int n = 0; n < count; n++) b[n].l = l[n], b[n].slip = slip[n];
}

/* Replace the cofactors by the rotations. Returns the lanes that must take the exact path. */
static inline __attribute__((always_inline)) MASK TOKEN(KERNEL,
                                                        rotation)(const TOKEN(KERNEL, found) * b,
                                                                  const VEC *c, VEC *f) {
    VEC a[9], l = b->l;
    for (int i = 0; i < 9; i++) a[i] = c[i] * b->over;
    VEC k = (REAL)0.5 * (l * l - (REAL)1), z = k * l - b->det;
    VEC s[6]; /* B B^T - (k + 1): 00 01 02 11 12 22 */
    s[0] = a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - (k + (REAL)1);
    s[1] = a[0] * a[3] + a[1] * a[4] + a[2] * a[5];
    s[2] = a[0] * a[6] + a[1] * a[7] + a[2] * a[8];
    s[3] = a[3] * a[3] + a[4] * a[4] + a[5] * a[5] - (k + (REAL)1);
    s[4] = a[3] * a[6] + a[4] * a[7] + a[5] * a[8];
    s[5] = a[6] * a[6] + a[7] * a[7] + a[8] * a[8] - (k + (REAL)1);
    VEC r[9]; /* z R */
    for (int j = 0; j < 3; j++) {
        VEC x = a[j], y = a[3 + j], w = a[6 + j];
        r[j] = l * f[j] - s[0] * x - s[1] * y - s[2] * w;
        r[3 + j] = l * f[3 + j] - s[1] * x - s[3] * y - s[4] * w;
        r[6 + j] = l * f[6 + j] - s[2] * x - s[4] * y - s[5] * w;
    }
    MASK ok = (z >= (REAL)FLAT) & (b->f2 >= (REAL)(FLAT / 4) * (REAL)(FLAT / 4)) &
              (b->slip * b->slip <= (REAL)(SLIP * SLIP) * z * z);
    VEC over = (VEC)((MASK)TOKEN(KERNEL, inverse)(z) & ok);
    VEC once = (REAL)1.5 * over, cube = (REAL)-0.5 * (over * over) * over;
    VEC g[6]; /* (3 - R^T R) / 2 / z */
    g[0] = once + cube * (r[0] * r[0] + r[3] * r[3] + r[6] * r[6]);
    g[1] = cube * (r[0] * r[1] + r[3] * r[4] + r[6] * r[7]);
    g[2] = cube * (r[0] * r[2] + r[3] * r[5] + r[6] * r[8]);
    g[3] = once + cube * (r[1] * r[1] + r[4] * r[4] + r[7] * r[7]);
    g[4] = cube * (r[1] * r[2] + r[4] * r[5] + r[7] * r[8]);
    g[5] = once + cube * (r[2] * r[2] + r[5] * r[5] + r[8] * r[8]);
    for (int i = 0; i < 9; i += 3) {
        VEC x = r[i], y = r[i + 1], w = r[i + 2];
        f[i] = x * g[0] + y * g[1] + w * g[2];
        f[i + 1] = x * g[1] + y * g[3] + w * g[4];
        f[i + 2] = x * g[2] + y * g[4] + w * g[5];
    }
    return ~ok; /* or NaN */
}

/* Compute the best rotations q for the matrices c of `count` vectors of poses from `lane` on. Up to
 * lambda, this is one long chain of operations. Each part is completed for all vectors before the
 * next, with GROUP vectors side by side to hide latency. */
static inline __attribute__((always_inline)) void
TOKEN(KERNEL, rotations)(const arap_kernel_input *in, int lane, int count, VEC (*c)[9],
                         VEC (*q)[9]) {
    TOKEN(KERNEL, found) b[BLOCK];
    MASK exact[BLOCK], any = {0};
    const int groups = count - count % GROUP;
    for (int n = 0; n < groups; n += GROUP) TOKEN(KERNEL, cofactors)(GROUP, c + n, b + n, q + n);
    for (int n = groups; n < count; n++) TOKEN(KERNEL, cofactors)(1, c + n, b + n, q + n);
    for (int n = 0; n < groups; n += GROUP) TOKEN(KERNEL, lambda)(GROUP, b + n);
    for (int n = groups; n < count; n++) TOKEN(KERNEL, lambda)(1, b + n);
    for (int n = 0; n < count; n++) any |= exact[n] = TOKEN(KERNEL, rotation)(&b[n], c[n], q[n]);
    if (!TOKEN(KERNEL, any)(any)) return;
    for (int n = 0; n < count; n++)
        if (TOKEN(KERNEL, any)(exact[n]))
            TOKEN(KERNEL, exactly)(in, lane + n * WIDTH, exact[n], c[n], q[n]);
}

/* Turn columns j and k of q in their plane such that they fit those of c best. Returns the square
 * of the sine. */
static inline VEC TOKEN(KERNEL, turn)(const VEC *c, int j, int k, VEC *q) {
    VEC cosine = (VEC){0} + (REAL)MINIMUM, sine = {0};
    for (int i = 0; i < 9; i += 3) {
        cosine += q[i + j] * c[i + j] + q[i + k] * c[i + k];
        sine += q[i + k] * c[i + j] - q[i + j] * c[i + k];
    }
    VEC scale = (REAL)1 / TOKEN(KERNEL, sqrt)(cosine * cosine + sine * sine + TINY);
    cosine *= scale;
    sine *= scale;
    for (int i = 0; i < 9; i += 3) {
        VEC x = q[i + j], y = q[i + k];
        q[i + j] = cosine * x + sine * y;
        q[i + k] = cosine * y - sine * x;
    }
    return sine * sine;
}

/* Compute the best rotations for thin rings. */
static inline void TOKEN(KERNEL, thin)(const arap_kernel_input *in, int lane, const VEC *c,
                                       VEC *q) {
    VEC over = (REAL)1 / TOKEN(KERNEL, sqrt)(c[0] * c[0] + c[3] * c[3] + c[6] * c[6] + TINY);
    VEC x = c[0] * over, y = c[3] * over, z = c[6] * over, last = {0};
    /* Compute two vectors perpendicular to it (Duff et al. 2017). */
    MASK down = z < (REAL)0;
    VEC sign = (VEC)((down & (MASK)((VEC){0} - (REAL)1)) | (~down & (MASK)((VEC){0} + (REAL)1)));
    VEC a = (REAL)-1 / (sign + z), b = x * y * a;
    q[0] = x, q[3] = y, q[6] = z;
    q[1] = (REAL)1 + sign * x * x * a, q[4] = sign * b, q[7] = -sign * x;
    q[2] = b, q[5] = sign + y * y * a, q[8] = -y;
    TOKEN(KERNEL, turn)(c, 1, 2, q);
    for (int sweep = 0; sweep < NEWTON - 2; sweep++) {
        last = TOKEN(KERNEL, turn)(c, 0, 1, q);
        last += TOKEN(KERNEL, turn)(c, 0, 2, q);
        TOKEN(KERNEL, turn)(c, 1, 2, q);
    }
    MASK exact = ~(last <= (REAL)(SLIP / 10)); /* or NaN */
    if (TOKEN(KERNEL, any)(exact)) TOKEN(KERNEL, exactly)(in, lane, exact, c, q);
}

/* Compute U of the poses from `lane` on, and its contribution to the excess. */
static inline VEC TOKEN(KERNEL, stretch)(const arap_kernel_input *in, int lane, VEC *u) {
    const REAL *all = in->stretch;
    for (int i = 0; i < 6; i++) u[i] = (VEC){0} + (REAL)(i == 0 || i == 3 || i == 5);
    for (int b = 0; b < in->stretches; b++)
        for (int i = 0; i < 6; i++)
            u[i] +=
                *(const VEC *)(all +
                               ((size_t)in->stretch_place[b] * 6 + (size_t)i) * (size_t)in->lanes +
                               lane) *
                (REAL)in->stretch_weight[b];
    const double *q = in->ring; /* scaled to a trace of 1 */
    return (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) * (REAL)q[0] +
           (u[1] * u[1] + u[3] * u[3] + u[4] * u[4]) * (REAL)q[3] +
           (u[2] * u[2] + u[4] * u[4] + u[5] * u[5]) * (REAL)q[5] - (REAL)1 +
           (u[0] * u[1] + u[1] * u[3] + u[2] * u[4]) * (REAL)(2 * q[1]) +
           (u[0] * u[2] + u[1] * u[4] + u[2] * u[5]) * (REAL)(2 * q[2]) +
           (u[1] * u[2] + u[3] * u[4] + u[4] * u[5]) * (REAL)(2 * q[4]);
}

/* Replace m by m U, and compute the sum of squares of the result. */
static inline VEC TOKEN(KERNEL, apply)(const VEC *u, VEC *m) {
    VEC sum = (VEC){0};
    for (int r = 0; r < 9; r += 3) {
        VEC x = m[r], y = m[r + 1], w = m[r + 2];
        m[r] = x * u[0] + y * u[1] + w * u[2];
        m[r + 1] = x * u[1] + y * u[3] + w * u[4];
        m[r + 2] = x * u[2] + y * u[4] + w * u[5];
        sum += m[r] * m[r] + m[r + 1] * m[r + 1] + m[r + 2] * m[r + 2];
    }
    return sum;
}

/* Compute cov of the poses from `lane` on. */
static inline __attribute__((always_inline)) void
TOKEN(KERNEL, covariance)(const arap_kernel_input *in, int lane, VEC *c) {
    const REAL *transform = in->transform, *m = in->moments;
    const size_t lanes = (size_t)in->lanes;
    VEC sum[9] = {{0}}; /* in registers */
    for (int b = 0; b < in->bones; b++) {
        const REAL *t = transform + ((size_t)in->bone[b] * 12) * lanes + lane;
        const REAL *mb = m + 12 * b;
        UNROLL for (int k = 0; k < 4; k++) {
            UNROLL for (int r = 0; r < 3; r++) {
                VEC row = *(const VEC *)(t + (size_t)(4 * r + k) * lanes);
                HOLD(row);
                UNROLL for (int j = 0; j < 3; j++) sum[3 * r + j] += row * mb[3 * k + j];
            }
        }
    }
    for (int i = 0; i < 9; i++) c[i] = sum[i];
}

/* Compute the substitute for R if the edges of the ring are parallel or nearly parallel. */
static inline void TOKEN(KERNEL, wire)(const arap_kernel_input *in, int lane, int is_thin,
                                       const VEC *c, VEC *q) {
    if (is_thin) {
        TOKEN(KERNEL, thin)(in, lane, c, q);
        return;
    }
    VEC norm2 = c[0] * c[0];
    for (int i = 1; i < 9; i++) norm2 += c[i] * c[i];
    VEC inverse = (REAL)1 / TOKEN(KERNEL, sqrt)(norm2 + TINY);
    for (int i = 0; i < 9; i++) q[i] = c[i] * inverse;
}

/* Replace q by q U. For a line, also multiply by |q U|. */
static inline void TOKEN(KERNEL, lengthen)(const VEC *u, int line, VEC *q) {
    VEC a[9];
    for (int i = 0; i < 9; i++) a[i] = q[i];
    VEC length = TOKEN(KERNEL, sqrt)(TOKEN(KERNEL, apply)(u, a));
    for (int i = 0; i < 9; i++) q[i] = line ? q[i] * length : a[i];
}

/* Add R m_b of the poses from `lane` on to `pull`. */
static inline void TOKEN(KERNEL, pull)(const arap_kernel_input *in, int lane, const VEC *q) {
    const REAL *m = in->moments;
    const size_t lanes = (size_t)in->lanes;
    for (int b = 0; b < in->bones; b++) {
        REAL *p = (REAL *)in->pull + (size_t)in->bone[b] * 3 * lanes + lane;
        REAL mb[3];
        for (int j = 0; j < 3; j++) mb[j] = (REAL)in->pull_scale * m[12 * b + 9 + j];
        for (int r = 0; r < 3; r++)
            *(VEC *)(p + (size_t)r * lanes) +=
                q[3 * r] * mb[0] + q[3 * r + 1] * mb[1] + q[3 * r + 2] * mb[2];
    }
}

/* The sums over lanes of a, b, c and d. */
static inline __attribute__((always_inline)) arap_v4 TOKEN(KERNEL, sums)(VEC a, VEC b, VEC c,
                                                                         VEC d) {
#ifdef SUMS
    return SUMS(a, b, c, d);
#else
    arap_v4 sum = {0};
    for (int i = 0; i < WIDTH; i++) sum += (arap_v4){a[i], b[i], c[i], d[i]};
    return sum;
#endif
}

/* Add T_b^T q of `count` vectors of poses from `lane` on to the previous sums in `sum` (bones, 4,
 * 3) and, after the last vector, store them in out. */
static inline __attribute__((always_inline)) void
TOKEN(KERNEL, product)(const arap_kernel_input *in, int lane, int count, VEC (*q)[9], VEC *sum,
                       double *out) {
    const REAL *transform = in->transform;
    const size_t lanes = (size_t)in->lanes;
    const int begins = lane == 0, ends = lane + count * WIDTH == in->lanes;
    for (int b = 0; b < in->bones; b++, sum += 12) {
        const REAL *t = transform + ((size_t)in->bone[b] * 12) * lanes + lane;
        VEC all[12];
        for (int first = 0; first < 4; first += ROWS) {
            VEC p[3 * ROWS];
            UNROLL for (int i = 0; i < 3 * ROWS; i++) p[i] = begins ? (VEC){0} : sum[3 * first + i];
            for (int v = 0; v < count; v++) {
                const REAL *at = t + v * WIDTH + (size_t)first * lanes;
                UNROLL for (int j = 0; j < ROWS; j++) {
                    VEC x = *(const VEC *)(at + (size_t)j * lanes);
                    VEC y = *(const VEC *)(at + (size_t)(4 + j) * lanes);
                    VEC w = *(const VEC *)(at + (size_t)(8 + j) * lanes);
                    HOLD(x);
                    HOLD(y);
                    HOLD(w);
                    UNROLL for (int n = 0; n < 3; n++) p[3 * j + n] =
                        p[3 * j + n] + x * q[v][n] + y * q[v][3 + n] + w * q[v][6 + n];
                }
            }
            UNROLL for (int i = 0; i < 3 * ROWS; i++) all[3 * first + i] = p[i];
        }
        if (ends)
            for (int n = 0; n < 3; n++)
                *(arap_v4_at *)(out + 12 * b + 4 * n) =
                    TOKEN(KERNEL, sums)(all[n], all[3 + n], all[6 + n], all[9 + n]);
        else
            for (int i = 0; i < 12; i++) sum[i] = all[i];
    }
}

static inline __attribute__((always_inline)) void TOKEN(KERNEL, run)(const arap_kernel_input *in,
                                                                     int shape, double *out) {
    const REAL *pose_weight = in->pose_weight;
    const int line = shape == ARAP_RING_LINE;
    VEC excess = {0}, alignment = {0};
    int count;
    for (int lane = 0; lane < in->lanes; lane += count * WIDTH) {
        VEC c[BLOCK][9], q[BLOCK][9], u[BLOCK][6];
        count = (in->lanes - lane) / WIDTH;
        if (count > BLOCK) count = BLOCK;
        for (int n = 0; n < count; n++) TOKEN(KERNEL, covariance)(in, lane + n * WIDTH, c[n]);
        for (int n = 0; n < count && in->stretches; n++) {
            VEC more = TOKEN(KERNEL, stretch)(in, lane + n * WIDTH, u[n]);
            if (pose_weight) more *= *(const VEC *)(pose_weight + lane + n * WIDTH);
            excess += more;
            if (!line) TOKEN(KERNEL, apply)(u[n], c[n]);
        }
        if (shape == ARAP_RING_SOLID)
            TOKEN(KERNEL, rotations)(in, lane, count, c, q);
        else
            for (int n = 0; n < count; n++)
                TOKEN(KERNEL, wire)(in, lane + n * WIDTH, !line, c[n], q[n]);
        for (int n = 0; n < count && in->stretches; n++) TOKEN(KERNEL, lengthen)(u[n], line, q[n]);
        for (int n = 0; n < count && in->pull; n++) TOKEN(KERNEL, pull)(in, lane + n * WIDTH, q[n]);
        for (int n = 0; n < count && pose_weight; n++)
            for (int i = 0; i < 9; i++) q[n][i] *= *(const VEC *)(pose_weight + lane + n * WIDTH);
        for (int n = 0; n < count && in->pull; n++)
            for (int i = 0; i < 9; i++) alignment += c[n][i] * q[n][i];
        if (!in->pull) TOKEN(KERNEL, product)(in, lane, count, q, in->scratch, out);
    }
    if (in->stretches) *in->excess = 0;
    for (int j = 0; j < WIDTH && in->stretches; j++) *in->excess += excess[j];
    if (in->pull) out[0] = 0;
    for (int j = 0; j < WIDTH && in->pull; j++) out[0] += alignment[j];
}

/* A separate loop for each shape, because nearly all rings are solid. */
static void KERNEL(const arap_kernel_input *in, double *out) {
    if (in->shape == ARAP_RING_THIN)
        TOKEN(KERNEL, run)(in, ARAP_RING_THIN, out);
    else if (in->shape == ARAP_RING_LINE)
        TOKEN(KERNEL, run)(in, ARAP_RING_LINE, out);
    else
        TOKEN(KERNEL, run)(in, ARAP_RING_SOLID, out);
}
#undef VEC
#undef MASK
#undef BLOCK
#undef GROUP
#undef ROWS
#undef HOLD
#undef KERNEL
