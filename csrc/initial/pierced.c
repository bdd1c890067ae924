/* Finds skin that pierces the limb of the other side: see pierced.h.
 *
 * If shoes touch or thighs overlap, a vertex i of the left leg that is past the middle is nearer to
 * a bone b of the right leg than to the mirror image b' of b. Bone heat and springs would therefore
 * assign this vertex to b. With the unit normal n_i, and o_ib the vector to the vertex from the
 * nearest point x of the bone, skin around a bone has n_i . o_ib > 0. Vertex i pierces the limb of
 * b if
 *   - n_i . o_ib < 0 and n_i . o_ib' > 0, so b' sees the vertex from inside, and b sees it from
 *     outside;
 *   - no face is between i and x, and most of the skin of b is around b. Since x is inside, the
 *     space in front of the outer side of vertex i is also inside. This excludes the wall between
 *     two nostrils, which has b' behind it but air in front.
 *
 * Soles and corners past the plane of symmetry face neither bone. The skin nearest to one side
 * forms connected patches. The whole patch belongs to the other side under two conditions. Most
 * edges out of the patch lead to skin nearest to the other side, and the share WHOLE of the patch's
 * area passes the same test as the vertices. Every other set of such vertices must have more edges
 * to skin of its own side than to the skin of b. A foot that pierces is connected to its own leg,
 * whereas flipped faces are connected to the surrounding leg.
 *
 * Only bones on the side of b' and bones in the middle may move piercing skin. If most normals
 * point toward the bones, the faces are oriented inward, and all signs are reversed.
 *
 * Takes O(vertices x log bones) on all threads, plus one ray for each vertex or face that passes
 * the first test. The faces are sorted only for these rays. The function does nothing without
 * mirror images, or in volumes, whose inner vertices have no outer side. Fails on out-of-memory or
 * when cancelled. */
#include "initial/pierced.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "mesh/sight.h"

#define CHUNK 256
#define INWARD 0.25 /* share of the distance from a corner to the middle of a face */
/* a patch larger than this share of the patch on which it hangs is a half */
#define SMALL 0.5
#define WHOLE 0.1 /* share of the area of a patch */
#define SAME 1e-6 /* cosines closer to 0 indicate neither side */

typedef struct finder {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_symmetry *symmetry;
    const arap_bvh *lines;
    const double *normals; /* (count, 3) */
    int *nearest;          /* (count) deforming bone */
    signed char *facing;   /* (count) sign of n . o of that bone, 0: neither, or its image is as
                            * near */
    char *may_pierce;      /* (count) its mirror image sees the vertex from the opposite side */
    double *points;        /* (count, 3) of those that may: the nearest point of the bone */
    double *around;        /* (deforming bones) skin with the bone behind it, minus skin with the
                            * bone in front */
    int outward;           /* -1: the faces point inward */
} finder;

/* +1: the bone is behind the surface at vertex i, -1: in front of it, 0: neither. */
static int side_of(const finder *f, int i, const double *point) {
    const double *normal = f->normals + 3 * (size_t)i;
    double way[3];
    arap_sub(f->mesh->v + 3 * (size_t)i, point, way);
    double product = arap_dot(way, normal);
    double length = sqrt(arap_dot(way, way) * arap_dot(normal, normal));
    return (product > SAME * length) - (product < -SAME * length);
}

static void look_at(void *data, int chunk, int worker) {
    const finder *f = data;
    int end = arap_chunk_end(chunk, CHUNK, f->mesh->count);
    (void)worker;
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *p = f->mesh->v + 3 * (size_t)i;
        double d2 = INFINITY, other[3], *point = f->points + 3 * (size_t)i;
        int line =
            arap_bvh_nearest(f->lines, p, -1, arap_segment_distance2, f->skeleton->lines, &d2);
        int bone = f->nearest[i] = f->skeleton->lines[line].owner;
        int partner = f->symmetry->bone[bone];
        arap_distance2_to_bone(f->skeleton, bone, p, point);
        f->facing[i] = (signed char)side_of(f, i, point);
        f->may_pierce[i] = 0;
        if (partner < 0 || partner == bone || !f->facing[i]) continue;
        if (arap_distance2_to_bone(f->skeleton, partner, p, other) <= (1 + SAME) * d2)
            f->facing[i] = 0;
        f->may_pierce[i] = f->facing[i] && side_of(f, i, other) == -f->facing[i];
    }
}

/* bone_side. Returns whether any bone is on one side of the plane. */
static int find_sides(const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                      signed char *out) {
    int any = 0;
    for (int b = 0; b < skeleton->deform_count; b++) {
        double sum = 0;
        for (int k = skeleton->line_start[b]; k < skeleton->line_start[b + 1]; k++)
            sum += arap_dot(symmetry->normal, skeleton->lines[k].a) +
                   arap_dot(symmetry->normal, skeleton->lines[k].b) - 2 * symmetry->offset;
        int paired = symmetry->bone[b] >= 0 && symmetry->bone[b] != b;
        out[b] = (signed char)(paired ? (sum > 0) - (sum < 0) : 0);
        any |= out[b] != 0;
    }
    return any;
}

static void find_outward(finder *f) {
    double behind = 0;
    for (int i = 0; i < f->mesh->count; i++) {
        behind += f->facing[i] * f->mesh->area[i];
        f->around[f->nearest[i]] += f->facing[i] * f->mesh->area[i];
    }
    f->outward = behind < 0 ? -1 : 1;
}

/* Whether the bone is inside the mesh. */
static int is_inside(const finder *f, int bone) { return f->outward * f->around[bone] > 0; }

/* Determine which of the candidate vertices pierce, once their visible bones are known. */
static arap_status choose(arap_context *context, const finder *f, arap_bvh **faces,
                          arap_pierced *out) {
    int count = f->mesh->count, any = 0;
    for (int i = 0; i < count; i++) {
        f->may_pierce[i] &= f->facing[i] == -f->outward && is_inside(f, f->nearest[i]) &&
                            out->bone_side[f->nearest[i]] != 0;
        any |= f->may_pierce[i];
    }
    arap_status status = any && !*faces ? arap_face_bvh(context, f->mesh, NULL, faces) : ARAP_OK;
    for (int i = 0; i < count && any && !status; i++) {
        if (i % CHUNK == 0) status = arap_poll_cancel(context);
        if (!f->may_pierce[i] || !arap_sees(f->mesh, *faces, i, f->points + 3 * (size_t)i))
            continue;
        out->side[i] = (signed char)-out->bone_side[f->nearest[i]];
        out->count++;
    }
    return status;
}

/* Whether face t pierces the limb of the bone nearest to its corner i, by the criterion for
 * vertices. The test uses a point near that corner. area: times 2. */
static arap_status test_face(arap_context *context, const finder *f, size_t t, int i,
                             arap_bvh **faces, double *area, int *pierces) {
    const arap_mesh *mesh = f->mesh;
    const double *corner[3], *own = mesh->v + 3 * (size_t)i;
    int bone = f->nearest[i], partner = f->symmetry->bone[bone];
    double p[3], normal[3], point[3], other[3], one[3], two[3];
    for (int k = 0; k < 3; k++)
        corner[k] = mesh->v + 3 * (size_t)mesh->triangles[3 * t + (size_t)k];
    for (int c = 0; c < 3; c++)
        p[c] = (1 - INWARD) * own[c] + INWARD / 3 * (corner[0][c] + corner[1][c] + corner[2][c]);
    arap_sub(corner[1], corner[0], one);
    arap_sub(corner[2], corner[0], two);
    arap_cross(one, two, normal);
    *area = sqrt(arap_dot(normal, normal));
    arap_distance2_to_bone(f->skeleton, bone, p, point);
    arap_distance2_to_bone(f->skeleton, partner, p, other);
    arap_sub(p, point, one);
    arap_sub(p, other, two);
    *pierces = f->outward * arap_dot(one, normal) < 0 && f->outward * arap_dot(two, normal) > 0;
    if (!*pierces) return ARAP_OK;
    arap_status status = *faces ? ARAP_OK : arap_face_bvh(context, mesh, NULL, faces);
    if (!status)
        *pierces = !arap_bvh_crossed(*faces, p, point, arap_face_between,
                                     &(arap_sight){.mesh = mesh, .vertex = i});
    return status;
}

/* Sets of neighbors that have the same number in `of`, not 0. Links do not join vertices. */
static void unite_same(const arap_mesh *mesh, const signed char *of, int *parent) {
    for (int i = 0; i < mesh->count; i++) parent[i] = i;
    for (int i = 0; i < mesh->count; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1] && of[i]; e++)
            if (of[mesh->neighbor[e]] == of[i] && !arap_mesh_is_link(mesh, e))
                arap_unite(parent, i, mesh->neighbor[e]);
}

/* For each set, stored at its root: the number of outgoing edges that lead to skin of the side
 * other than `of`, minus the number that lead to that side or, with `strict`, to any other skin.
 * seen: the sides of the nearest bones. */
static void count_leads(const arap_mesh *mesh, const signed char *of, const signed char *seen,
                        int sign, int strict, int *parent, int *lead) {
    memset(lead, 0, (size_t)mesh->count * sizeof *lead);
    for (int i = 0; i < mesh->count; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1] && of[i]; e++) {
            int k = mesh->neighbor[e];
            if (of[k] == of[i] || arap_mesh_is_link(mesh, e)) continue;
            int own = sign * of[i] * seen[k];
            lead[arap_find_root(parent, i)] += strict && !own ? -1 : own;
        }
}

typedef struct patch { /* of skin nearest to one side */
    double area, host; /* host: the largest area of a patch on which it hangs */
    double faces, pierced;
} patch;

/* Find skin that lies past the plane as a whole patch. seen, parent, lead: as in count_leads. */
static arap_status take_patches(arap_context *context, const finder *f, const signed char *seen,
                                int *parent, const int *lead, arap_bvh **faces, arap_pierced *out) {
    const arap_mesh *mesh = f->mesh;
    patch *patches = ARAP_NEW_ZERO(patch, mesh->count); /* at the roots */
    arap_status status = ARAP_OK;
    if (!patches) return arap_fail_memory(&context->error, "the skin that pierces");
    for (int i = 0; i < mesh->count; i++) patches[arap_find_root(parent, i)].area += mesh->area[i];
    for (int i = 0; i < mesh->count; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1] && seen[i]; e++) {
            int k = mesh->neighbor[e];
            if (seen[k] != -seen[i] || arap_mesh_is_link(mesh, e)) continue;
            patch *own = &patches[arap_find_root(parent, i)];
            own->host = fmax(own->host, patches[arap_find_root(parent, k)].area);
        }
    for (size_t k = 0; k < 3 * mesh->triangle_count && !status; k++) {
        if (k % CHUNK == 0) status = arap_poll_cancel(context);
        if (status) break;
        int i = mesh->triangles[k], root = arap_find_root(parent, i), pierces = 0;
        patch *own = &patches[root];
        double area = 0;
        if (!seen[i] || lead[root] <= 0 || own->area > SMALL * own->host ||
            !is_inside(f, f->nearest[i]))
            continue;
        status = test_face(context, f, k / 3, i, faces, &area, &pierces);
        own->faces += area;
        own->pierced += pierces ? area : 0;
    }
    for (int i = 0; i < mesh->count && !status; i++) {
        const patch *own = &patches[arap_find_root(parent, i)];
        if (own->pierced > WHOLE * own->faces) out->side[i] = (signed char)-seen[i];
    }
    arap_free(patches);
    return status;
}

/* Add whole patches, and keep only those other sets that hang on the skin of their own side. */
static arap_status keep_hanging(arap_context *context, const finder *f, arap_bvh **faces,
                                arap_pierced *out) {
    arap_arena arena = {0};
    const arap_mesh *mesh = f->mesh;
    size_t n = (size_t)mesh->count;
    int *parent = ARAP_TAKE(&arena, n, int), *lead = ARAP_TAKE(&arena, n, int);
    signed char *seen = ARAP_TAKE(&arena, n, signed char);
    arap_status status = arap_arena_status(&arena, &context->error, "the skin that pierces");
    if (status) goto done;
    for (size_t i = 0; i < n; i++) seen[i] = f->facing[i] ? out->bone_side[f->nearest[i]] : 0;
    unite_same(mesh, seen, parent);
    count_leads(mesh, seen, seen, -1, 1, parent, lead);
    status = take_patches(context, f, seen, parent, lead, faces, out);
    if (status) goto done;
    unite_same(mesh, out->side, parent);
    count_leads(mesh, out->side, seen, 1, 0, parent, lead);
    out->count = 0;
    for (int i = 0; i < mesh->count; i++) {
        if (lead[arap_find_root(parent, i)] <= 0) out->side[i] = 0;
        out->count += out->side[i] != 0;
    }

done:
    arap_arena_clear(&arena);
    return status;
}

/* Set the sides of the vertices of a coarser mesh. */
static void take_known(const arap_mesh *mesh, const signed char *known, arap_pierced *out) {
    for (int i = 0; i < mesh->count; i++) {
        out->side[i] = known[mesh->first[i]];
        out->count += out->side[i] != 0;
    }
}

arap_status arap_pierced_find(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                              const signed char *known, arap_bvh **faces, arap_pierced *out) {
    size_t n = (size_t)mesh->count;
    arap_arena arena = {0};
    arap_bvh *lines = NULL;
    arap_status status = ARAP_OK;
    *out = (arap_pierced){0};
    if (!symmetry->bone || mesh->tet_count) return ARAP_OK;
    double *normals = ARAP_TAKE(&arena, 3 * n, double);
    finder f = {mesh,
                skeleton,
                symmetry,
                NULL,
                normals,
                ARAP_TAKE(&arena, n, int),
                ARAP_TAKE(&arena, n, signed char),
                ARAP_TAKE(&arena, n, char),
                ARAP_TAKE(&arena, 3 * n, double),
                ARAP_TAKE_ZERO(&arena, skeleton->deform_count, double),
                1};
    out->side = ARAP_TAKE_ZERO(&out->arena, n, signed char);
    out->bone_side = ARAP_TAKE(&out->arena, skeleton->deform_count, signed char);
    status = arap_arena_status(&arena, &context->error, "the skin that pierces");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the skin that pierces");
    if (status) goto done;
    if (!find_sides(skeleton, symmetry, out->bone_side)) goto done;
    if (known) take_known(mesh, known, out);
    if (known) goto done;
    arap_vertex_normals(mesh, normals);
    status = arap_segment_bvh(context, skeleton->lines,
                              skeleton->line_start[skeleton->deform_count], &lines);
    if (status) goto done;
    f.lines = lines;
    status = arap_parallel_short(context, arap_chunks(mesh->count, CHUNK), look_at, &f);
    if (!status) find_outward(&f);
    if (!status) status = choose(context, &f, faces, out);
    if (!status) status = keep_hanging(context, &f, faces, out);

done:
    arap_bvh_free(lines);
    arap_arena_clear(&arena);
    if (status || !out->count) arap_pierced_clear(out);
    return status;
}

void arap_pierced_clear(arap_pierced *pierced) {
    arap_arena_clear(&pierced->arena);
    *pierced = (arap_pierced){0};
}

int arap_pierced_excludes(const arap_pierced *pierced, int vertex, int bone) {
    return pierced->count && pierced->side[vertex] * pierced->bone_side[bone] < 0;
}

void arap_pierced_look(const arap_pierced *pierced, const arap_mesh *mesh,
                       const arap_skeleton *skeleton, arap_visibility *visibility) {
    for (int i = 0; i < mesh->count && pierced->count; i++) {
        const double *p = mesh->v + 3 * (size_t)i;
        double min = INFINITY, point[3];
        if (!pierced->side[i]) continue;
        for (int b = 0; b < skeleton->deform_count; b++) {
            double d2 = arap_pierced_excludes(pierced, i, b)
                            ? INFINITY
                            : arap_distance2_to_bone(skeleton, b, p, point);
            if (!(d2 < min)) continue;
            min = d2;
            visibility->nearest[(size_t)i * ARAP_MAX_SHARED] = b;
        }
        visibility->distance[i] = sqrt(min);
        visibility->nearest_count[i] = visibility->visible[i] = visibility->on_bone[i] = 1;
    }
}
