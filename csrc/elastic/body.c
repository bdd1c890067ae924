/* Elements of an elastic body: see body.h.
 *
 * Element ARAP. With the deformation gradient F of each element and the rotation R nearest to F,
 * the energy is
 *
 *     E = sum_triangles A |F - R|^2 + sum_tets V/h |F - R|^2
 *       + sum_i (sum_{k in N(i)} c_ik |(x_k - x_i) - R_i (v_k - v_i)|^2
 *                + f_i |(x_i - y_i) - R_i (v_i - s_i)|^2).
 *
 * For a triangle F is (3, 2) and R has orthonormal columns, so that the first term is the integral
 * of (s1 - 1)^2 + (s2 - 1)^2, the squared surface strain of measures/surface_strain.c. A body of
 * tets has the thickness h = volume / surface (tets.c).
 *
 * A membrane has no bending stiffness and crumples if crumpling reduces strain. The last term
 * consists of cells, which are one-rings that share a rotation. The weights c_ik = a_ik / l^2 are
 * areas (docs/energy.md 1) over squared lengths, times `bending`. The weights of wires and links
 * are not multiplied by `bending`, because no other term resists their deformation. The cells
 * resist bending at the scale of the edges. The anchor s_i is the point on the bone that is nearest
 * to the vertex. The bone moves this point to y_i. Like a spring of springs/bone_springs.c, the
 * term of the anchor preserves the distance and the angle between surface and bone, in any
 * rotation. Without anchors, limbs flatten at bends.
 *
 * The polar factor of (a, b), with the unit normal n = a x b / s, is
 *     (a + b x n, b + n x a) / t,   s = |a x b|,   t = sqrt(a.a + b.b + 2 s) = s1 + s2;
 * if a x b = 0, n can be any unit vector perpendicular to a and b. linalg/rotation.h computes the
 * rotations of tets and cells.
 *
 * Takes O(elements) time: about 30 ns for a triangle and 0.4 us for a vertex with a cell. Each
 * triangle needs 90 bytes of memory. Fails for invalid geometry and on out-of-memory. */
#include "elastic/body.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/rotation.h"
#include "measures/surface_strain.h"
#include "mesh/links.h"
#include "mesh/rings.h"
#include "mesh/tets.h"

#define RELATIVE_ERRORS 2 /* the edge power with which edges count by relative errors */
#define FLATTEST 1e-4     /* height of a tet over its longest edge */
#define FLAT 1e-14        /* a x b that has no direction */

/* The measured triangles, in units of the mesh. */
static arap_status take_triangles(arap_context *context, const arap_geometry *geometry,
                                  arap_body *body) {
    const arap_mesh *mesh = &body->mesh;
    arap_surface surface;
    arap_status status = arap_surface_create(context, geometry->vertices, geometry->triangles,
                                             geometry->triangle_count, &surface);
    if (status) return status;
    body->triangle = ARAP_TAKE(&body->arena, surface.count, arap_membrane);
    status = arap_arena_status(&body->arena, &context->error, "the elastic body");
    for (size_t t = 0; t < surface.count && !status; t++) {
        arap_membrane *to = body->triangle + body->triangle_count;
        double unit = mesh->diagonal, by_length = unit / surface.length[t],
               by_height = unit / surface.height[t];
        for (int k = 0; k < 3; k++) to->corner[k] = mesh->weld[surface.corner[3 * t + (size_t)k]];
        if (to->corner[0] == to->corner[1] || to->corner[1] == to->corner[2] ||
            to->corner[2] == to->corner[0])
            continue;
        to->size = surface.area[t] / (unit * unit);
        to->slope[1][0] = by_length;
        to->slope[1][1] = -surface.along[t] / surface.length[t] * by_height;
        to->slope[2][0] = 0;
        to->slope[2][1] = by_height;
        for (int c = 0; c < 2; c++) to->slope[0][c] = -to->slope[1][c] - to->slope[2][c];
        body->triangle_count++;
    }
    arap_surface_clear(&surface);
    return status;
}

static arap_status take_tets(arap_context *context, arap_body *body) {
    const arap_mesh *mesh = &body->mesh;
    body->tet = ARAP_TAKE(&body->arena, mesh->tet_count, arap_solid);
    for (size_t t = 0; t < mesh->tet_count && body->tet; t++) {
        arap_solid *to = body->tet + body->tet_count;
        double volume = arap_mesh_tet_volume(mesh, t), longest2 = 0, largest2 = 0, edge[3][3];
        const double *v[4];
        for (int k = 0; k < 4; k++) {
            to->corner[k] = mesh->tets[4 * t + (size_t)k];
            v[k] = mesh->v + 3 * (size_t)to->corner[k];
        }
        for (int k = 0; k < 3; k++) arap_sub(v[k + 1], v[0], edge[k]);
        for (int k = 1; k < 4; k++)
            for (int l = 0; l < k; l++) longest2 = fmax(longest2, arap_distance2(v[k], v[l]));
        if (volume == 0) continue;
        for (int c = 0; c < 3; c++) to->slope[0][c] = 0;
        for (int k = 0; k < 3; k++) {
            arap_cross(edge[(k + 1) % 3], edge[(k + 2) % 3], to->slope[k + 1]);
            for (int c = 0; c < 3; c++) {
                to->slope[k + 1][c] /= 6 * volume;
                to->slope[0][c] -= to->slope[k + 1][c];
            }
        }
        for (int k = 0; k < 4; k++) largest2 = fmax(largest2, arap_dot(to->slope[k], to->slope[k]));
        if (!(largest2 * longest2 < 1 / (FLATTEST * FLATTEST))) continue;
        to->size = fabs(volume) / mesh->thickness;
        body->tet_count++;
    }
    return arap_arena_status(&body->arena, &context->error, "the elastic body");
}

static arap_status take_cells(arap_context *context, double bending, arap_body *body) {
    const arap_mesh *mesh = &body->mesh;
    double unit2 = mesh->unit * mesh->unit * mesh->thickness;
    body->cell = ARAP_TAKE(&body->arena, mesh->ring[mesh->count], double);
    body->size = ARAP_TAKE(&body->arena, mesh->count, double);
    arap_status status = arap_arena_status(&body->arena, &context->error, "the elastic body");
    if (status) return status;
    for (size_t e = 0; e < mesh->ring[mesh->count]; e++)
        body->cell[e] = mesh->edge_weight[e] / unit2 *
                        (mesh->kind[e] == ARAP_EDGE_FACE        ? bending
                         : mesh->kind[e] == ARAP_EDGE_COLLAPSED ? 0
                                                                : 1);
    for (int i = 0; i < mesh->count; i++) body->size[i] = mesh->area[i] / mesh->thickness;
    return ARAP_OK;
}

arap_status arap_body_create(arap_context *context, const arap_geometry *geometry, double bending,
                             arap_body *body) {
    arap_links links = {0};
    *body = (arap_body){0};
    arap_status status =
        arap_mesh_create(context, geometry, NULL, ARAP_WELD_TOLERANCE, &body->mesh);
    if (!status) status = arap_link_parts(context, &body->mesh, NULL, &links, NULL);
    if (!status) status = arap_mesh_connect(context, &body->mesh, &links, RELATIVE_ERRORS);
    if (!status) status = take_triangles(context, geometry, body);
    if (!status) status = take_tets(context, body);
    if (!status) status = take_cells(context, bending, body);
    arap_links_clear(&links);
    if (status) arap_body_clear(body);
    return status;
}

void arap_body_clear(arap_body *body) {
    arap_mesh_clear(&body->mesh);
    arap_arena_clear(&body->arena);
    *body = (arap_body){0};
}

/* A unit vector across the longer of a and b, which are parallel. */
static void any_normal(const double *a, const double *b, double *n) {
    const double *u = arap_dot(a, a) < arap_dot(b, b) ? b : a;
    double axis[3] = {0};
    int min = fabs(u[1]) < fabs(u[0]) ? 1 : 0;
    if (fabs(u[2]) < fabs(u[min])) min = 2;
    axis[min] = 1;
    arap_cross(u, axis, n);
    double length = sqrt(arap_dot(n, n));
    for (int c = 0; c < 3; c++) n[c] /= length;
}

double arap_polar(const double *a, const double *b, double *r0, double *r1) {
    double n[3], u[3], v[3], trace = arap_dot(a, a) + arap_dot(b, b);
    if (!(trace > 0)) {
        for (int c = 0; c < 3; c++) {
            r0[c] = c == 0;
            r1[c] = c == 1;
        }
        return 0;
    }
    arap_cross(a, b, n);
    double s = sqrt(arap_dot(n, n)), t = sqrt(trace + 2 * s);
    if (s > FLAT * trace)
        for (int c = 0; c < 3; c++) n[c] /= s;
    else
        any_normal(a, b, n);
    arap_cross(b, n, u);
    arap_cross(n, a, v);
    for (int c = 0; c < 3; c++) {
        r0[c] = (a[c] + u[c]) / t;
        r1[c] = (b[c] + v[c]) / t;
    }
    return t;
}

static double stretch_membrane(const arap_membrane *t, const double *x, double *b) {
    const double *p = x + 3 * (size_t)t->corner[0], *q = x + 3 * (size_t)t->corner[1],
                 *r = x + 3 * (size_t)t->corner[2];
    double *bp = b + 3 * (size_t)t->corner[0], *bq = b + 3 * (size_t)t->corner[1],
           *br = b + 3 * (size_t)t->corner[2], f0[3], f1[3], r0[3], r1[3];
    for (int c = 0; c < 3; c++) {
        double u = q[c] - p[c], v = r[c] - p[c];
        f0[c] = t->slope[1][0] * u;
        f1[c] = t->slope[1][1] * u + t->slope[2][1] * v;
    }
    double sum = arap_polar(f0, f1, r0, r1);
    for (int c = 0; c < 3; c++) {
        double along = t->size * (t->slope[1][0] * r0[c] + t->slope[1][1] * r1[c]);
        double across = t->size * t->slope[2][1] * r1[c];
        bp[c] -= along + across;
        bq[c] += along;
        br[c] += across;
    }
    return t->size * (arap_dot(f0, f0) + arap_dot(f1, f1) - 2 * sum + 2);
}

static double stretch_solid(const arap_solid *t, const double *x, double *b) {
    double f[9] = {0}, r[9], sum = 3;
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 9; c++)
            f[c] += x[3 * (size_t)t->corner[k] + (size_t)(c / 3)] * t->slope[k][c % 3];
    arap_nearest_rotation(f, r);
    for (int c = 0; c < 9; c++) sum += f[c] * f[c] - 2 * f[c] * r[c];
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            b[3 * (size_t)t->corner[k] + (size_t)c] += t->size * arap_dot(r + 3 * c, t->slope[k]);
    return t->size * sum;
}

static double turn_cell(const arap_body *body, const arap_anchors *anchors, int i, const double *x,
                        double *b) {
    const arap_mesh *mesh = &body->mesh;
    const double *at = x + 3 * (size_t)i, *posed = anchors->posed + 3 * (size_t)i;
    double covariance[9] = {0}, r[9], anchor = anchors->weight[i], spring[3], posed_spring[3];
    arap_sub(mesh->v + 3 * (size_t)i, anchors->rest + 3 * (size_t)i, spring);
    arap_sub(at, posed, posed_spring);
    double energy = anchor * (arap_dot(spring, spring) + arap_dot(posed_spring, posed_spring));
    for (int c = 0; c < 9; c++) covariance[c] = anchor * posed_spring[c / 3] * spring[c % 3];
    int any = anchor > 0;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        double rest[3], own[3], weight = body->cell[e];
        if (!(weight > 0)) continue;
        any = 1;
        arap_mesh_edge(mesh, i, e, rest);
        arap_sub(x + 3 * (size_t)mesh->neighbor[e], at, own);
        energy += weight * (arap_dot(rest, rest) + arap_dot(own, own));
        for (int c = 0; c < 9; c++) covariance[c] += weight * own[c / 3] * rest[c % 3];
    }
    if (!any) return 0;
    arap_nearest_rotation(covariance, r);
    for (int c = 0; c < 9; c++) energy -= 2 * covariance[c] * r[c];
    for (int c = 0; c < 3; c++)
        b[3 * (size_t)i + (size_t)c] += anchor * (posed[c] + arap_dot(r + 3 * c, spring));
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        double rest[3];
        arap_mesh_edge(mesh, i, e, rest);
        for (int c = 0; c < 3; c++) {
            double pull = body->cell[e] * arap_dot(r + 3 * c, rest);
            b[3 * (size_t)i + (size_t)c] -= pull;
            b[3 * (size_t)mesh->neighbor[e] + (size_t)c] += pull;
        }
    }
    return energy;
}

double arap_body_local_step(const arap_body *body, const arap_anchors *anchors, const double *x,
                            double *b) {
    double energy = 0;
    for (size_t t = 0; t < body->triangle_count; t++)
        energy += stretch_membrane(body->triangle + t, x, b);
    for (size_t t = 0; t < body->tet_count; t++) energy += stretch_solid(body->tet + t, x, b);
    for (int i = 0; i < body->mesh.count; i++) energy += turn_cell(body, anchors, i, x, b);
    return energy;
}

/* Add w u u^T between the corners of an element, slopes (corners, dimension). */
static void add_element(const arap_mesh *mesh, int corners, int dimension, const int *corner,
                        const double *slope, double weight, double *own, double *edge) {
    for (int k = 0; k < corners; k++)
        for (int l = 0; l < corners; l++) {
            double sum = 0;
            for (int c = 0; c < dimension; c++)
                sum += slope[k * dimension + c] * slope[l * dimension + c];
            if (k == l)
                own[corner[k]] += weight * sum;
            else
                edge[arap_mesh_find_edge(mesh, corner[k], corner[l])] += weight * sum;
        }
}

void arap_body_stiffness(const arap_body *body, const double *anchor, double *own, double *edge) {
    const arap_mesh *mesh = &body->mesh;
    for (size_t t = 0; t < body->triangle_count; t++)
        add_element(mesh, 3, 2, body->triangle[t].corner, body->triangle[t].slope[0],
                    body->triangle[t].size, own, edge);
    for (size_t t = 0; t < body->tet_count; t++)
        add_element(mesh, 4, 3, body->tet[t].corner, body->tet[t].slope[0], body->tet[t].size, own,
                    edge);
    for (int i = 0; i < mesh->count; i++) {
        own[i] += anchor[i];
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            own[i] += body->cell[e];
            own[mesh->neighbor[e]] += body->cell[e];
            edge[e] -= body->cell[e];
            edge[mesh->reverse[e]] -= body->cell[e];
        }
    }
}
