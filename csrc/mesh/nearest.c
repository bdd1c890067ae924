/* Nearest points: see nearest.h.
 *
 * The nearest point of a triangle is found as in Ericson 2004, section 5.1.5, from the signs of
 * products of edges, without square roots. For a tet, let v_i be the volumes of the tets that p
 * forms with the four faces, and v their sum. The barycentric coordinates of p are v_i / v. Inside
 * the tet, all coordinates are >= 0. If v consists mostly of rounding errors, so do the v_i, which
 * then do not determine the position of p. In this case, and outside the tet, the nearest point of
 * the nearest face is used. The cost is constant, and the functions cannot fail. */
#include "mesh/nearest.h"

#include "base/vec3.h"
#include "mesh/tets.h"

/* A face extends this far beyond its edges in barycentric coordinates, so no ray slips between two
 * faces. */
#define EDGE 1e-9

/* maximum distance of p from the point with its coordinates in a tet, as a share of the longest
 * edge */
#define OFF 1e-9

double arap_nearest_on_triangle(const double *p, const double *a, const double *b, const double *c,
                                double *bary) {
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    arap_sub(b, a, ab);
    arap_sub(c, a, ac);
    arap_sub(p, a, ap);
    arap_sub(p, b, bp);
    arap_sub(p, c, cp);
    double d1 = arap_dot(ab, ap), d2 = arap_dot(ac, ap), d3 = arap_dot(ab, bp),
           d4 = arap_dot(ac, bp), d5 = arap_dot(ab, cp), d6 = arap_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v = 0, w = 0;
    if (d1 <= 0 && d2 <= 0) {
        v = w = 0;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / (d4 - d3 + d5 - d6);
        v = 1 - w;
    } else if (va + vb + vc > 0) {
        v = vb / (va + vb + vc);
        w = vc / (va + vb + vc);
    }
    bary[0] = 1 - v - w, bary[1] = v, bary[2] = w;
    double at[3];
    for (int k = 0; k < 3; k++) at[k] = a[k] + v * ab[k] + w * ac[k];
    return arap_distance2(p, at);
}

/* Whether the coordinates reproduce p. */
static int leads_to(const double *p, const double *const corner[4], const double *bary) {
    double at[3], longest2 = 0;
    for (int k = 0; k < 3; k++)
        at[k] = bary[0] * corner[0][k] + bary[1] * corner[1][k] + bary[2] * corner[2][k] +
                bary[3] * corner[3][k];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) longest2 = fmax(longest2, arap_distance2(corner[i], corner[j]));
    return arap_distance2(p, at) <= OFF * OFF * longest2;
}

double arap_nearest_in_tet(const double *p, const double *const corner[4], double *bary) {
    double volume = arap_tet_volume(corner[0], corner[1], corner[2], corner[3]);
    int outside = volume == 0;
    for (int i = 0; i < 4 && !outside; i++) {
        const double *with[4] = {corner[0], corner[1], corner[2], corner[3]};
        with[i] = p;
        bary[i] = arap_tet_volume(with[0], with[1], with[2], with[3]) / volume;
        outside = !(bary[i] >= 0);
    }
    if (!outside) {
        double sum = bary[0] + bary[1] + bary[2] + bary[3]; /* 1 up to rounding */
        for (int i = 0; i < 4; i++) bary[i] /= sum;
        if (leads_to(p, corner, bary)) return 0;
    }
    double best = INFINITY;
    for (int i = 0; i < 4; i++) {
        int face[3], count = 0;
        double at[3];
        for (int c = 0; c < 4; c++)
            if (c != i) face[count++] = c;
        double d2 =
            arap_nearest_on_triangle(p, corner[face[0]], corner[face[1]], corner[face[2]], at);
        if (!(d2 < best)) continue;
        best = d2;
        bary[i] = 0;
        for (int c = 0; c < 3; c++) bary[face[c]] = fmax(at[c], 0); /* against rounding */
    }
    return best;
}

/* Moeller & Trumbore 1997, without culling. */
double arap_cross_triangle(const double *p, const double *q, const double *a, const double *b,
                           const double *c) {
    double d[3], e1[3], e2[3], h[3], from[3], k[3];
    arap_sub(q, p, d);
    arap_sub(b, a, e1);
    arap_sub(c, a, e2);
    arap_cross(d, e2, h);
    double det = arap_dot(e1, h);
    if (det == 0) return NAN;
    arap_sub(p, a, from);
    double u = arap_dot(from, h) / det;
    if (!(u >= -EDGE && u <= 1 + EDGE)) return NAN;
    arap_cross(from, e1, k);
    double v = arap_dot(d, k) / det;
    if (!(v >= -EDGE && u + v <= 1 + EDGE)) return NAN;
    return arap_dot(e2, k) / det;
}
