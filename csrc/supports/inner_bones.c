/* Bones inside a part: see inner_bones.h.
 *
 * The skin around an eye is nearer to the eye's bone than to the head's bone, so bone heat and the
 * energy would assign this skin to the eye. Let p be a loose part with faces, c its center, and r
 * its root mean square radius (by area). A bone b is an inner bone of p if all of these conditions
 * hold:
 *   - |head - c| <= MIDDLE r: the bone starts in the middle of the part. A hand bone, in contrast,
 *     starts at one end of the glove, and the bone of the head starts at the neck.
 *   - The bones below b also sit in the middle, and no other bone has its head within r of c or
 *     passes within MIDDLE r of c. Bodies, garments, and shells around a limb have several bones.
 *   - The share SURROUNDED of the rays from c through the vertices of p, in both directions, meets
 *     larger parts (at least LARGER times r) within REACH r. This means that another part lies
 *     around p. The head of a figure made of blocks does not meet this condition, because the head
 *     also moves its hat.
 *   - Other nearby parts that are mostly nearest to b have no more area than p and everything
 *     inside p. The finger beyond a ball in its joint, for example, is the skin of the bone.
 * If there are several such parts (cornea, eyeball), p is the largest. In this case, b and the
 * bones below it move p and all parts nearest to b (pupil, iris) within INSIDE times the distance
 * of the farthest vertex of p from c. No other bone moves these parts, and b moves no other part,
 * even a nearby one, so lids, brows and strands of hair stay with the head. Either both mirror
 * partners are inner bones or neither is.
 *
 * Takes O(bones x parts), and O(vertices of the part x log triangles) for each pair that passes the
 * first test. The function does nothing if the mesh is a single part. Fails only on out-of-memory.
 * */
#include "supports/inner_bones.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/vec3.h"
#include "mesh/sight.h"

#define MIDDLE 0.6
#define LARGER 2
#define SURROUNDED 0.5
#define REACH 8
#define INSIDE 1.05
#define RAYS 64 /* approximate number of vertices of a part through which rays pass */

typedef struct part {
    double center[3], area, radius, reach; /* reach: distance of the farthest vertex */
    int first, size;                       /* in `vertices` */
    int has_faces;
} part;

typedef struct search {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_bvh *faces;
    part *parts;
    int *vertices; /* by part */
    int *found;    /* (bones) the part of each inner bone, or -1 */
} search;

/* start: (parts + 1) place of the first vertex of each part in `vertices`. */
static void measure_parts(search *s, const int *start) {
    const arap_mesh *mesh = s->mesh;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        s->parts[mesh->part[mesh->triangles[3 * t]]].has_faces = 1;
    for (int q = 0; q < mesh->part_count; q++) {
        part *p = &s->parts[q];
        p->first = start[q];
        p->size = start[q + 1] - start[q];
        for (int k = 0; k < p->size; k++) {
            int i = s->vertices[p->first + k];
            p->area += mesh->area[i];
            for (int c = 0; c < 3; c++) p->center[c] += mesh->area[i] * mesh->v[3 * i + c];
        }
        for (int c = 0; c < 3; c++) p->center[c] /= p->area > 0 ? p->area : 1;
        for (int k = 0; k < p->size; k++) {
            int i = s->vertices[p->first + k];
            double d2 = arap_distance2(mesh->v + 3 * (size_t)i, p->center);
            p->radius += mesh->area[i] * d2;
            p->reach = fmax(p->reach, sqrt(d2));
        }
        p->radius = sqrt(p->radius / (p->area > 0 ? p->area : 1));
    }
}

static const double *head_of(const search *s, int bone) {
    return s->skeleton->heads + 3 * (size_t)s->skeleton->deform_bone[bone];
}

static double distance_from(const search *s, int bone, const double *point) {
    const double *tail = s->skeleton->tails + 3 * (size_t)s->skeleton->deform_bone[bone];
    double nearest[3];
    return sqrt(arap_nearest_on_segment(point, head_of(s, bone), tail, nearest));
}

/* Whether the bone, or one below it, is the bone nearest to a point. */
static int is_nearest(const search *s, int bone, const double *point) {
    double own = INFINITY, others = INFINITY;
    for (int b = 0; b < s->skeleton->deform_count; b++) {
        double *min = arap_is_below(s->skeleton, b, bone) ? &own : &others;
        *min = fmin(*min, distance_from(s, b, point));
    }
    return own < others;
}

static int is_in_middle(const search *s, int bone, const part *p) {
    return sqrt(arap_distance2(head_of(s, bone), p->center)) <= MIDDLE * p->radius;
}

/* Whether other bones share the part. */
static int is_shared(const search *s, int bone, const part *p) {
    for (int b = 0; b < s->skeleton->deform_count; b++) {
        if (arap_is_below(s->skeleton, b, bone)) {
            if (!is_in_middle(s, b, p)) return 1;
            continue;
        }
        if (sqrt(arap_distance2(head_of(s, b), p->center)) <= p->radius) return 1;
        if (distance_from(s, b, p->center) <= MIDDLE * p->radius) return 1;
    }
    return 0;
}

/* The query of a ray. */
typedef struct ray {
    const search *s;
    int own;       /* part */
    double larger; /* minimum radius of parts that it may hit */
} ray;

static int meets(const void *data, int index, const double *a, const double *b) {
    const ray *r = data;
    const arap_mesh *mesh = r->s->mesh;
    int q = mesh->part[mesh->triangles[3 * (size_t)index]];
    if (q == r->own || r->s->parts[q].radius < r->larger) return 0;
    double at = arap_cross_face(mesh, index, a, b);
    return at >= 0 && at <= 1;
}

/* The share of the rays from the center of a part through its vertices, in both directions, that
 * hit larger parts. */
static double surrounded(const search *s, int own) {
    const part *p = &s->parts[own];
    int step = p->size / RAYS + 1, count = 0, met = 0;
    ray r = {s, own, LARGER * p->radius};
    for (int k = 0; k < p->size; k += step) {
        const double *v = s->mesh->v + 3 * (size_t)s->vertices[p->first + k];
        double along[3], length, end[3];
        arap_sub(v, p->center, along);
        length = sqrt(arap_dot(along, along));
        if (!(length > 0)) continue;
        for (int way = -1; way < 2; way += 2) {
            for (int c = 0; c < 3; c++)
                end[c] = p->center[c] + way * REACH * p->radius / length * along[c];
            met += arap_bvh_crossed(s->faces, p->center, end, meets, &r) != 0;
            count++;
        }
    }
    return count ? (double)met / count : 0;
}

/* Whether most of the area of a part is nearest to the bone. */
static int is_own_skin(const search *s, int bone, const part *p) {
    double own = 0, all = 0;
    int step = p->size / RAYS + 1;
    for (int k = 0; k < p->size; k += step) {
        int i = s->vertices[p->first + k];
        all += s->mesh->area[i];
        if (is_nearest(s, bone, s->mesh->v + 3 * (size_t)i)) own += s->mesh->area[i];
    }
    return own > all / 2;
}

static int lies_within(const search *s, const part *p, const part *ball) {
    double reach = INSIDE * ball->reach;
    for (int k = 0; k < p->size; k++)
        if (arap_distance2(s->mesh->v + 3 * (size_t)s->vertices[p->first + k], ball->center) >
            reach * reach)
            return 0;
    return 1;
}

/* Whether other nearby parts that are skin of the bone have more area than the part and everything
 * inside it. */
static int has_other_skin(const search *s, int bone, int own) {
    const part *p = &s->parts[own];
    double others = 0, within = p->area;
    for (int q = 0; q < s->mesh->part_count; q++) {
        const part *other = &s->parts[q];
        double away = REACH * p->radius + other->reach;
        if (q == own || arap_distance2(other->center, p->center) > away * away ||
            !is_own_skin(s, bone, other))
            continue;
        *(lies_within(s, other, p) ? &within : &others) += other->area;
    }
    return others > within;
}

/* The largest part that makes the bone an inner bone, or -1. */
static int find_part(const search *s, int bone) {
    int best = -1;
    for (int q = 0; q < s->mesh->part_count; q++) {
        const part *p = &s->parts[q];
        if (!p->has_faces || !is_in_middle(s, bone, p)) continue;
        if (best >= 0 && p->radius <= s->parts[best].radius) continue;
        if (!is_shared(s, bone, p) && surrounded(s, q) >= SURROUNDED && !has_other_skin(s, bone, q))
            best = q;
    }
    return best;
}

/* The parts of an inner bone. */
static void keep_parts(const search *s, int bone, int *keeper) {
    const part *ball = &s->parts[s->found[bone]];
    for (int q = 0; q < s->mesh->part_count; q++) {
        const part *p = &s->parts[q];
        if (q != s->found[bone] && (p->radius > ball->radius || !lies_within(s, p, ball) ||
                                    !is_nearest(s, bone, p->center)))
            continue;
        keeper[q] = bone;
    }
}

arap_status arap_inner_bones_find(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                                  arap_bvh **faces, arap_inner_bones *out) {
    arap_arena arena = {0};
    int bones = skeleton->deform_count, any = 0;
    search s = {.mesh = mesh, .skeleton = skeleton};
    arap_status status = ARAP_OK;
    *out = (arap_inner_bones){0};
    if (mesh->part_count < 2 || bones < 2) return ARAP_OK;
    s.parts = ARAP_TAKE_ZERO(&arena, mesh->part_count, part);
    s.vertices = ARAP_TAKE(&arena, mesh->count, int);
    s.found = ARAP_TAKE(&arena, bones, int);
    int *start = ARAP_TAKE(&arena, mesh->part_count + 1, int);
    out->is_inner = ARAP_TAKE_ZERO(&out->arena, bones, char);
    out->keeper = ARAP_TAKE(&out->arena, mesh->part_count, int);
    status = arap_arena_status(&arena, &context->error, "the bones inside parts");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the bones inside parts");
    if (status) goto done;
    arap_group(mesh->count, mesh->part, NULL, mesh->part_count, start, s.vertices);
    measure_parts(&s, start);
    for (int b = 0; b < bones; b++) {
        s.found[b] = -1;
        for (int q = 0; q < mesh->part_count && !any; q++)
            any = s.parts[q].has_faces && is_in_middle(&s, b, &s.parts[q]);
    }
    if (any && !*faces) status = arap_face_bvh(context, mesh, NULL, faces);
    s.faces = *faces;
    for (int b = 0; b < bones && any && !status; b++) {
        s.found[b] = find_part(&s, b);
        status = arap_poll_cancel(context);
    }
    if (status) goto done;
    for (int b = 0; b < bones; b++) {
        int image = symmetry->bone_count ? symmetry->bone[b] : -1;
        if (s.found[b] < 0 || (image >= 0 && s.found[image] < 0)) continue;
        out->is_inner[b] = 1;
        out->count++;
    }
    for (int q = 0; q < mesh->part_count; q++) out->keeper[q] = -1;
    for (int b = 0; b < bones; b++)
        if (out->is_inner[b]) keep_parts(&s, b, out->keeper);

done:
    arap_arena_clear(&arena);
    if (status || !out->count) arap_inner_bones_clear(out);
    return status;
}

void arap_inner_bones_clear(arap_inner_bones *inner) {
    arap_arena_clear(&inner->arena);
    *inner = (arap_inner_bones){0};
}

int arap_inner_excludes(const arap_inner_bones *inner, const arap_skeleton *skeleton, int part,
                        int b) {
    if (!inner->count) return 0;
    int keeper = inner->keeper[part];
    while (b >= 0 && b != keeper && !inner->is_inner[b]) b = skeleton->deform_parent[b];
    return b != keeper && (b >= 0 || keeper >= 0);
}
