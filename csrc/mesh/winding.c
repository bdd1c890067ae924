/* A winding number is the sum of the solid angles of all triangles over 4 pi (Jacobson, Kavan and
 * Sorkine 2013; the angle of a triangle by Van Oosterom and Strackee 1983). The winding number does
 * not require a closed mesh. Each point takes O(triangles). On the surface itself, the value can be
 * anywhere between the values on its two sides. It cannot fail. */
#include "mesh/winding.h"

#include "base/vec3.h"

#define PI 3.14159265358979323846

/* Half the solid angle of a triangle, with the sign of its orientation. */
static double half_angle(const arap_mesh *mesh, size_t k, const double *p) {
    double e[3][3], length[3], normal[3];
    for (int j = 0; j < 3; j++) {
        arap_sub(mesh->v + 3 * (size_t)mesh->triangles[3 * k + (size_t)j], p, e[j]);
        length[j] = sqrt(arap_dot(e[j], e[j]));
    }
    arap_cross(e[1], e[2], normal);
    double below = length[0] * length[1] * length[2] + arap_dot(e[0], e[1]) * length[2] +
                   arap_dot(e[1], e[2]) * length[0] + arap_dot(e[2], e[0]) * length[1];
    return atan2(arap_dot(e[0], normal), below);
}

double arap_winding_number(const arap_mesh *mesh, const double *p, double *angle) {
    double sum = 0, all = 0;
    for (size_t k = 0; k < mesh->triangle_count; k++) {
        double half = half_angle(mesh, k, p);
        sum += half;
        all += fabs(half);
    }
    if (angle) *angle = 2 * all;
    return sum / (2 * PI);
}
