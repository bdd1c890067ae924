/* Finds whether skin surrounds a point: see control_study.h.
 *
 * The winding number of a body with a second layer that is turned inside out is 0, because the
 * layers cancel each other. This file therefore counts the rays that meet a face. A Fibonacci
 * lattice spreads the directions of the rays evenly over the sphere (Gonzalez 2010):
 *
 *   z_k = 1 - (2 k + 1) / n,   angle_k = pi (3 - sqrt 5) k
 *
 * Inside a closed body, all rays meet a face. Outside a convex body, at most half of them do. The
 * sum of the unsigned solid angles of all faces bounds from above the share of rays that can meet a
 * face. If this bound is too small, no ray is traced. The rays take O(rays log triangles) and end
 * once the others cannot change the answer. The function cannot fail.
 * */
#include "control/control_study.h"

#include "base/vec3.h"
#include "mesh/sight.h"

#define RAYS 64
#define REACH 4 /* length of a ray, in mesh sizes */
#define GOLDEN_ANGLE 2.39996322972865332
#define PI 3.14159265358979323846

static int meets(const void *data, int index, const double *a, const double *b) {
    const arap_mesh *mesh = data;
    if ((size_t)index >= mesh->triangle_count) return 0;
    double at = arap_cross_face(mesh, index, a, b);
    return at > 0 && at < 1;
}

int arap_is_surrounded(const arap_mesh *mesh, const arap_bvh *surface, const double *p,
                       double angle, double min) {
    int met = 0;
    if (angle < 4 * PI * min) return 0;
    for (int k = 0; k < RAYS; k++) {
        double z = 1 - (2 * k + 1.0) / RAYS, across = sqrt(1 - z * z), turn = GOLDEN_ANGLE * k;
        double length = REACH * mesh->size;
        double end[3] = {p[0] + length * across * cos(turn), p[1] + length * across * sin(turn),
                         p[2] + length * z};
        met += arap_bvh_crossed(surface, p, end, meets, mesh);
        if (met / (double)RAYS >= min) return 1;
        if ((met + RAYS - 1 - k) / (double)RAYS < min) return 0;
    }
    return 0;
}
