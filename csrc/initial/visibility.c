/* Nearest bones and visibility: see visibility.h.
 *
 * For each vertex, a BVH over segments finds the nearest skeleton segment. A BVH over triangles
 * then tests the line to the nearest point of this segment against all faces that do not touch the
 * vertex. Triangles without area are never hit. Each vertex takes O(log) time. Vertices are
 * processed in parallel.
 *
 * Virtual segments count as their owner only if the owner's own bone is inside the mesh, that is,
 * behind the surface of most of the vertices that see it as their nearest bone. The root of a game
 * rig lies on the floor and deforms nothing. However, the segments between this root and its
 * children run through the whole body and would give the root half of all weights. The majority of
 * the normals decides which side of a surface is its inside, so a mesh that is turned inside out
 * gives the same result. Fails only on out-of-memory or when cancelled. */
#include "initial/visibility.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/nearest.h"
#include "mesh/sight.h"

#define SAME_DISTANCE 3e-8 /* share of a distance, but not of more than the bone's length */
#define ON_LINE 1e-9       /* units of the mesh: the same on a bone */
/* Bones that meet at a joint are equally near if an importer rounds the joint to single precision:
 * units of the mesh (GAP_TOLERANCE of skeleton.c), but not more than this share of the bone. */
#define JOINT 1e-6
#define OF_BONE 1e-3
/* a face closer to the end of a ray, as a share of its length, touches this end */
#define TOUCHING 1e-5

#define CHUNK 256
#define SLICE_PER_THREAD 8 /* chunks between two progress reports */

typedef struct visibility_task {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_segment *segments; /* the segments in `tree` */
    const arap_bvh *tree, *faces;
    const double *normals; /* (count, 3) area-weighted */
    char *inside;          /* (count) the nearest bone is behind the surface by its normals */
    int *first;            /* (count) the deforming bone seen in the first pass, or -1 */
    double *away;          /* (count) its distance */
    arap_visibility *visibility;
    char *owned; /* (workers, deform_count) scratch, all 0 between vertices */
} visibility_task;

double arap_segment_distance2(const void *data, int index, const double *p) {
    const arap_segment *s = &((const arap_segment *)data)[index];
    double nearest[3];
    return arap_nearest_on_segment(p, s->a, s->b, nearest);
}

/* A distance function that collects owners and never reports a nearer distance. */
typedef struct collector {
    const arap_segment *segments;
    double limit2;
    char *owned; /* (deform_count) */
    int count;
} collector;

static double collect_owner(const void *data, int index, const double *p) {
    collector *c = *(collector *const *)data;
    double nearest[3];
    const arap_segment *s = &c->segments[index];
    if (arap_nearest_on_segment(p, s->a, s->b, nearest) <= c->limit2 && !c->owned[s->owner]) {
        c->owned[s->owner] = 1;
        c->count++;
    }
    return INFINITY;
}

/* Whether the point is on the face, relative to the length of the ray. Lengths are in units of the
 * ray because triangles of a small object among distant others are tiny. */
static int is_on_face(const double *point, const double *const corner[3], double length) {
    static const double origin[3] = {0};
    double at[3][3], bary[3];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) at[k][c] = (corner[k][c] - point[c]) / length;
    return arap_nearest_on_triangle(origin, at[0], at[1], at[2], bary) <= TOUCHING * TOUCHING;
}

/* Faces that touch an end hide nothing, because bones may lie or end in the surface. Rays may run
 * along such faces, so their crossing points depend on rounding. */
static int hides(const void *data, int index, const double *a, const double *b) {
    const arap_mesh *mesh = ((const arap_sight *)data)->mesh;
    const int *tri = mesh->triangles + 3 * (size_t)index;
    const double *corner[3];
    if (!arap_face_between(data, index, a, b)) return 0;
    for (int k = 0; k < 3; k++) corner[k] = mesh->v + 3 * (size_t)tri[k];
    double length = sqrt(arap_distance2(a, b));
    return !is_on_face(a, corner, length) && !is_on_face(b, corner, length);
}

/* Return non-zero if `point` is behind the surface at vertex i, judged by its normals. */
static int is_inside(const visibility_task *task, int i, const double *point) {
    double out[3];
    arap_sub(task->mesh->v + 3 * (size_t)i, point, out);
    return arap_dot(out, task->normals + 3 * (size_t)i) >= 0;
}

int arap_sees(const arap_mesh *mesh, const arap_bvh *faces, int i, const double *point) {
    return !arap_bvh_crossed(faces, mesh->v + 3 * (size_t)i, point, hides,
                             &(arap_sight){.mesh = mesh, .vertex = i});
}

static int is_visible(const visibility_task *task, int i, const double *point) {
    return arap_sees(task->mesh, task->faces, i, point);
}

/* Nearest segment, its distance and the nearest point. */
static int nearest_segment(const visibility_task *task, int i, double *distance, double *point) {
    const double *p = task->mesh->v + 3 * (size_t)i;
    double d2 = INFINITY;
    int s = arap_bvh_nearest(task->tree, p, -1, arap_segment_distance2, task->segments, &d2);
    arap_nearest_on_segment(p, task->segments[s].a, task->segments[s].b, point);
    *distance = sqrt(d2);
    return s;
}

static void look_from(const visibility_task *task, int i, char *owned) {
    arap_visibility *visibility = task->visibility;
    double point[3], to_bone = visibility->distance[i];
    int s = nearest_segment(task, i, &visibility->distance[i], point);
    double length = sqrt(arap_distance2(task->segments[s].a, task->segments[s].b));
    double same = SAME_DISTANCE * fmin(length, visibility->distance[i]);
    same += fmin(JOINT, OF_BONE * length);
    double limit = visibility->distance[i] + same + ON_LINE, limit2 = limit * limit;
    collector all = {task->segments, limit2, owned, 0}, *pointer = &all;
    arap_bvh_nearest(task->tree, task->mesh->v + 3 * (size_t)i, -1, collect_owner, &pointer,
                     &limit2);
    char kept = 0;
    for (int b = 0; all.count; b++) {
        if (!owned[b]) continue;
        owned[b] = 0;
        all.count--;
        if (kept < ARAP_MAX_SHARED)
            visibility->nearest[(size_t)i * ARAP_MAX_SHARED + (size_t)kept++] = b;
    }
    if (!kept) /* so far away that, due to rounding, the segment exceeds its own limit */
        visibility->nearest[(size_t)i * ARAP_MAX_SHARED + (size_t)kept++] = task->segments[s].owner;
    visibility->nearest_count[i] = kept;
    visibility->on_bone[i] = (char)task->segments[s].is_bone;
    if (visibility->distance[i] < to_bone)
        visibility->visible[i] = (char)is_visible(task, i, point);
}

static void look(void *data, int chunk, int worker) {
    const visibility_task *task = data;
    int end = arap_chunk_end(chunk, CHUNK, task->mesh->count);
    for (int i = chunk * CHUNK; i < end; i++)
        look_from(task, i,
                  task->owned + (size_t)worker * arap_apart((size_t)task->skeleton->deform_count));
}

/* The first pass considers only bones. The nearest segment replaces the nearest owner. Its
 * distances and visibilities are also valid for the second pass, unless a virtual segment is
 * nearer. */
static void look_at_bones(void *data, int chunk, int worker) {
    (void)worker;
    const visibility_task *task = data;
    int end = arap_chunk_end(chunk, CHUNK, task->mesh->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        double point[3];
        int s = nearest_segment(task, i, &task->visibility->distance[i], point);
        task->visibility->nearest[(size_t)i * ARAP_MAX_SHARED] = s;
        task->inside[i] = (char)is_inside(task, i, point);
        task->visibility->visible[i] = (char)is_visible(task, i, point);
    }
}

arap_status arap_segment_bvh(arap_context *context, const arap_segment *segments, int count,
                             arap_bvh **out) {
    double *boxes = ARAP_NEW(double, 6 * count);
    if (!boxes) return arap_fail_memory(&context->error, "the bone hierarchy");
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            boxes[6 * i + c] = fmin(segments[i].a[c], segments[i].b[c]);
            boxes[6 * i + 3 + c] = fmax(segments[i].a[c], segments[i].b[c]);
        }
    arap_status status = arap_bvh_build(context, out, (size_t)count, boxes, NULL);
    arap_free(boxes);
    return status;
}

static arap_status look_in_slices(arap_context *context, int vertices, arap_task task,
                                  visibility_task *data) {
    return arap_parallel_slices(context, "visibility", arap_chunks(vertices, CHUNK),
                                SLICE_PER_THREAD * context->threads, task, data);
}

/* Determine which bones are inside the mesh, and store the bones, and the virtual segments of those
 * inside, in `kept`, and their number in *count. */
static arap_status choose_segments(arap_context *context, visibility_task *task, arap_segment *kept,
                                   int *count) {
    const arap_skeleton *skeleton = task->skeleton;
    int n = task->mesh->count, bones = 0, behind = 0;
    arap_bvh *tree = NULL;
    int *votes = ARAP_NEW_ZERO(int, skeleton->deform_count);
    if (!votes) return arap_fail_memory(&context->error, "the visibility of bones");
    for (int s = 0; s < skeleton->segment_count; s++)
        if (skeleton->segments[s].is_bone) kept[bones++] = skeleton->segments[s];
    arap_status status = arap_segment_bvh(context, kept, bones, &tree);
    if (status) goto done;
    task->tree = tree;
    task->segments = kept;
    status = look_in_slices(context, n, look_at_bones, task);
    if (status) goto done;
    for (int i = 0; i < n; i++) behind += task->inside[i];
    int flipped = 2 * behind < n;
    for (int i = 0; i < n; i++) {
        int owner = kept[task->visibility->nearest[(size_t)i * ARAP_MAX_SHARED]].owner;
        if (task->visibility->visible[i]) votes[owner] += task->inside[i] != flipped ? 1 : -1;
        task->first[i] = task->visibility->visible[i] ? owner : -1;
        task->away[i] = task->visibility->distance[i];
    }
    for (int b = 0; b < skeleton->deform_count; b++)
        task->visibility->bone_inside[b] = votes[b] > 0;
    *count = bones;
    for (int s = 0; s < skeleton->segment_count; s++)
        if (!skeleton->segments[s].is_bone && votes[skeleton->segments[s].owner] > 0)
            kept[(*count)++] = skeleton->segments[s];

done:
    arap_bvh_free(tree);
    arap_free(votes);
    return status;
}

/* Virtual segments, such as adjacent controls, may take all the vertices that see a bone inside the
 * mesh. The bone then gets back the vertices to which no other deforming bone is nearer. */
static arap_status give_back(arap_context *context, const visibility_task *task) {
    arap_visibility *visibility = task->visibility;
    char *seen = ARAP_NEW_ZERO(char, task->skeleton->deform_count);
    if (!seen) return arap_fail_memory(&context->error, "the visibility of bones");
    for (int i = 0; i < task->mesh->count; i++)
        for (int k = 0; k < visibility->nearest_count[i] && visibility->visible[i]; k++)
            seen[visibility->nearest[(size_t)i * ARAP_MAX_SHARED + (size_t)k]] = 1;
    for (int i = 0; i < task->mesh->count; i++) {
        int bone = task->first[i];
        if (bone < 0 || seen[bone] || !visibility->bone_inside[bone]) continue;
        visibility->nearest[(size_t)i * ARAP_MAX_SHARED] = bone;
        visibility->distance[i] = task->away[i];
        visibility->nearest_count[i] = visibility->visible[i] = visibility->on_bone[i] = 1;
    }
    arap_free(seen);
    return ARAP_OK;
}

arap_status arap_visibility_create(arap_context *context, const arap_mesh *mesh,
                                   const arap_skeleton *skeleton, const arap_bvh *faces,
                                   arap_visibility *visibility) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count;
    int count = 0;
    arap_bvh *tree = NULL;
    *visibility = (arap_visibility){0};
    visibility->distance = ARAP_TAKE(&visibility->arena, n, double);
    visibility->visible = ARAP_TAKE(&visibility->arena, n, char);
    visibility->on_bone = ARAP_TAKE(&visibility->arena, n, char);
    visibility->bone_inside = ARAP_TAKE(&visibility->arena, skeleton->deform_count, char);
    visibility->nearest_count = ARAP_TAKE(&visibility->arena, n, char);
    visibility->nearest = ARAP_TAKE(&visibility->arena, n * ARAP_MAX_SHARED, int);
    char *owned = ARAP_TAKE_ZERO(
        &arena, (size_t)context->threads * arap_apart((size_t)skeleton->deform_count), char);
    arap_segment *segments = ARAP_TAKE(&arena, skeleton->segment_count, arap_segment);
    double *normals = ARAP_TAKE(&arena, 3 * n, double);
    char *inside = ARAP_TAKE(&arena, n, char);
    int *first = ARAP_TAKE(&arena, n, int);
    double *away = ARAP_TAKE(&arena, n, double);
    visibility_task task = {.mesh = mesh,
                            .skeleton = skeleton,
                            .faces = faces,
                            .normals = normals,
                            .inside = inside,
                            .first = first,
                            .away = away,
                            .visibility = visibility,
                            .owned = owned};
    arap_status status = arap_arena_status(&arena, &context->error, "the visibility of bones");
    if (!status)
        status = arap_arena_status(&visibility->arena, &context->error, "the visibility of bones");
    if (status) goto done;
    arap_vertex_normals(mesh, normals);
    status = choose_segments(context, &task, segments, &count);
    if (!status) status = arap_segment_bvh(context, segments, count, &tree);
    if (status) goto done;
    task.tree = tree;
    status = look_in_slices(context, mesh->count, look, &task);
    if (!status) status = give_back(context, &task);

done:
    arap_arena_clear(&arena);
    arap_bvh_free(tree);
    if (status) arap_visibility_clear(visibility);
    return status;
}

void arap_visibility_clear(arap_visibility *visibility) {
    arap_arena_clear(&visibility->arena);
    *visibility = (arap_visibility){0};
}
