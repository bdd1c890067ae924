/* Small vectors: points and directions are `double[3]`. */
#ifndef ARAP_VEC3_H
#define ARAP_VEC3_H

#include <math.h>

static inline double arap_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void arap_sub(const double *a, const double *b, double *out) {
    for (int c = 0; c < 3; c++) out[c] = a[c] - b[c];
}

static inline void arap_cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double arap_distance2(const double *a, const double *b) {
    double d[3];
    arap_sub(a, b, d);
    return arap_dot(d, d);
}

/* Area of the triangle with the given corners; never NaN. */
static inline double arap_triangle_area(const double *a, const double *b, const double *c) {
    double u[3], v[3], n[3];
    arap_sub(b, a, u);
    arap_sub(c, a, v);
    arap_cross(u, v, n);
    return 0.5 * sqrt(arap_dot(n, n));
}

/* Store in `out` the point of the segment [a, b] nearest to p. Returns the squared distance. A
 * segment of length zero is treated as the point a. */
static inline double arap_nearest_on_segment(const double *p, const double *a, const double *b,
                                             double *out) {
    double ab[3], ap[3];
    arap_sub(b, a, ab);
    arap_sub(p, a, ap);
    double length2 = arap_dot(ab, ab);
    double t = length2 > 0 ? arap_dot(ap, ab) / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int c = 0; c < 3; c++) out[c] = t == 1 ? b[c] : a[c] + t * ab[c];
    return arap_distance2(p, out);
}

#endif
