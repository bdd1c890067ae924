/* Lines of sight through the faces of a mesh: see sight.h.
 *
 * A face that contains the vertex touches the line only at the end of the line, so rounding decides
 * where they meet. Such faces never count. The caller handles faces that touch the other end: with
 * a margin m, only crossings strictly between m and 1 - m of the line count. Each face takes O(1).
 * The test cannot fail. */
#include "mesh/sight.h"

#include "mesh/nearest.h"

double arap_cross_face(const arap_mesh *mesh, int t, const double *p, const double *q) {
    const int *tri = mesh->triangles + 3 * (size_t)t;
    return arap_cross_triangle(p, q, mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                               mesh->v + 3 * (size_t)tri[2]);
}

int arap_face_between(const void *sight, int t, const double *a, const double *b) {
    const arap_sight *s = sight;
    const int *tri = s->mesh->triangles + 3 * (size_t)t;
    if (tri[0] == s->vertex || tri[1] == s->vertex || tri[2] == s->vertex) return 0;
    double at = arap_cross_face(s->mesh, t, a, b);
    return at > s->margin && at < 1 - s->margin;
}
