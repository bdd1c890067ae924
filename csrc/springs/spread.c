/* The reach of bones: see spread.h.
 *
 * The influence patterns of a vertex adopt bones of its neighbors (supports.c), which reduces
 * stretch wherever skin and limb move together. A bone could thus spread over a whole body. Bone b
 * is out of reach of vertex i if
 *     d_ib > REACH R_b max(1, d_io / R_o),   R_b = max(r_b, SHARE length_b),
 * with the distance d_ib of the vertex from the bone, the owner o of the vertex (owners.h), and the
 * mean length r_b of the springs of the bone. The last factor extends the reach over skin that is
 * far from its own bone as well, such as a skirt. The limit is divided by the thickness of the
 * vertex's part (sheets.c), so a flat part has none. Neither has a part without faces, or a part
 * that belongs to one bone as a whole. The owner itself is never out of reach, nor is a bone
 * without springs.
 *
 * Takes O(vertices + springs), and O(1) for each question. Fails only on out-of-memory. */
#include "springs/spread.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/loose_parts.h"

#define REACH 2.5      /* radii of its limb within which a bone may take skin */
#define SHARE (1 / 3.) /* of the length of a bone */

/* The thickness of the parts, 0 without faces. */
static arap_status find_thickness(arap_context *context, const arap_mesh *mesh, double *thick) {
    char *has_faces = ARAP_NEW_ZERO(char, mesh->part_count);
    if (!has_faces) return arap_fail_memory(&context->error, "the reach of bones");
    arap_status status = arap_part_thickness(context, mesh, thick);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        has_faces[mesh->part[mesh->triangles[3 * t]]] = 1;
    for (int p = 0; p < mesh->part_count && !status; p++)
        if (!has_faces[p]) thick[p] = 0;
    arap_free(has_faces);
    return status;
}

static double length_of(const arap_mesh *mesh, int i, const arap_spring *spring) {
    return sqrt(arap_distance2(spring->point, mesh->v + 3 * (size_t)i));
}

/* The radii of the limbs. area (bones): scratch, all 0 */
static void find_radii(const arap_mesh *mesh, const arap_skeleton *skeleton, double *area,
                       double *radius) {
    const arap_spring *spring;
    for (int i = 0; i < mesh->count; i++)
        for (int k = arap_mesh_springs(mesh, i, &spring) - 1; k >= 0; k--) {
            if (spring[k].whole) continue;
            radius[spring[k].bone] += mesh->area[i] * length_of(mesh, i, &spring[k]);
            area[spring[k].bone] += mesh->area[i];
        }
    for (int b = 0; b < skeleton->deform_count; b++) {
        const double *head = skeleton->heads + 3 * skeleton->deform_bone[b];
        const double *tail = skeleton->tails + 3 * skeleton->deform_bone[b];
        if (area[b] > 0)
            radius[b] = fmax(radius[b] / area[b], SHARE * sqrt(arap_distance2(head, tail)));
    }
}

arap_status arap_spread_create(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, arap_spread *out) {
    const arap_spring *spring;
    *out = (arap_spread){0};
    if (!mesh->spring_start) return ARAP_OK;
    arap_arena arena = {0};
    double *area = ARAP_TAKE_ZERO(&arena, skeleton->deform_count, double);
    double *thick = ARAP_TAKE(&arena, mesh->part_count, double);
    out->radius = ARAP_TAKE_ZERO(&out->arena, skeleton->deform_count, double);
    out->scale = ARAP_TAKE(&out->arena, mesh->count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the reach of bones");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the reach of bones");
    if (!status) status = find_thickness(context, mesh, thick);
    if (status) goto done;
    find_radii(mesh, skeleton, area, out->radius);
    for (int i = 0; i < mesh->count; i++) {
        double far = INFINITY;
        for (int k = arap_mesh_springs(mesh, i, &spring) - 1; k >= 0; k--)
            if (!spring[k].whole)
                far = fmin(far, length_of(mesh, i, &spring[k]) / out->radius[spring[k].bone]);
        out->scale[i] = thick[mesh->part[i]] > 0 ? fmax(1, far) / thick[mesh->part[i]] : INFINITY;
    }

done:
    arap_arena_clear(&arena);
    if (status) arap_spread_clear(out);
    return status;
}

void arap_spread_clear(arap_spread *spread) {
    arap_arena_clear(&spread->arena);
    *spread = (arap_spread){0};
}

int arap_is_beyond_spread(const arap_spread *spread, const arap_mesh *mesh,
                          const arap_skeleton *skeleton, int vertex, int bone) {
    const arap_spring *spring;
    double point[3];
    if (!spread->scale || !(spread->radius[bone] > 0)) return 0;
    double limit = REACH * spread->radius[bone] * spread->scale[vertex];
    if (!(arap_distance2_to_bone(skeleton, bone, mesh->v + 3 * (size_t)vertex, point) >
          limit * limit))
        return 0;
    int count = arap_mesh_springs(mesh, vertex, &spring);
    for (int k = 0; k < count; k++)
        if (spring[k].bone == bone) return 0;
    return 1;
}
