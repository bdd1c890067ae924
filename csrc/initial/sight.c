/* Nearest bones and visibility: see sight.h.
 *
 * Each vertex looks for its nearest skeleton segment (a BVH over segments) and then tests the
 * segment to that point against all faces that do not touch the vertex (a BVH over triangles).
 * Triangles of no area are never hit. O(log) per vertex; vertices run in parallel.
 *
 * Virtual segments count as their owner only if the owner's own bone is inside the mesh: most
 * of the vertices that see it as their nearest bone have it behind their surface. The root of a
 * game rig lies on the floor and deforms nothing, but the gaps from it to its children run through
 * the whole body and would give it half of all weights. Which side of a surface is its inside is
 * told by the normals of the majority of the vertices, so that a mesh turned inside out is no
 * different. */
#include "initial/sight.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/nearest.h"

#define SAME_DISTANCE 1e-9

#define CHUNK 256
#define SLICE_PER_THREAD 8 /* chunks from one report of progress to the next */

typedef struct sight_task {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_segment *segments; /* those in `tree` */
    const arap_bvh *tree, *faces;
    const double *normals; /* (count, 3) area-weighted */
    char *inside;          /* (count) the nearest bone is behind the surface by its normals */
    arap_sight *sight;
    char *owned; /* (workers, deform_count) scratch, all 0 between vertices */
} sight_task;

static double segment_distance(const void *data, int index, const double *p) {
    const arap_segment *s = &((const arap_segment *)data)[index];
    double nearest[3];
    return arap_nearest_on_segment(p, s->a, s->b, nearest);
}

/* Collects owners instead of measuring: a distance function that is never near enough. */
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

typedef struct ray {
    const arap_mesh *mesh;
    int vertex;
} ray;

/* Touching at the far end counts as seen, for bones that lie in the surface. */
static int face_between(const void *data, int index, const double *a, const double *b) {
    const ray *r = data;
    const int *tri = r->mesh->triangles + 3 * (size_t)index;
    if (tri[0] == r->vertex || tri[1] == r->vertex || tri[2] == r->vertex) return 0;
    double t =
        arap_cross_triangle(a, b, r->mesh->v + 3 * (size_t)tri[0], r->mesh->v + 3 * (size_t)tri[1],
                            r->mesh->v + 3 * (size_t)tri[2]);
    return t > 1e-9 && t < 1 - 1e-9;
}

/* Non-zero if `point` is behind the surface at vertex i, going by its normals. */
static int is_inside(const sight_task *task, int i, const double *point) {
    double out[3];
    arap_sub(task->mesh->v + 3 * (size_t)i, point, out);
    return arap_dot(out, task->normals + 3 * (size_t)i) >= 0;
}

static int is_visible(const sight_task *task, int i, const double *point) {
    const double *p = task->mesh->v + 3 * (size_t)i;
    return !arap_bvh_crossed(task->faces, p, point, face_between, &(ray){task->mesh, i});
}

/* Nearest segment, its distance and the nearest point. */
static int nearest_segment(const sight_task *task, int i, double *distance, double *point) {
    const double *p = task->mesh->v + 3 * (size_t)i;
    double d2 = INFINITY;
    int s = arap_bvh_nearest(task->tree, p, -1, segment_distance, task->segments, &d2);
    arap_nearest_on_segment(p, task->segments[s].a, task->segments[s].b, point);
    *distance = sqrt(d2);
    return s;
}

static void look_from(const sight_task *task, int i, char *owned) {
    arap_sight *sight = task->sight;
    double point[3], to_bone = sight->distance[i];
    int s = nearest_segment(task, i, &sight->distance[i], point);
    double reach = sight->distance[i] + SAME_DISTANCE, reach2 = reach * reach;
    collector all = {task->segments, reach2, owned, 0}, *pointer = &all;
    arap_bvh_nearest(task->tree, task->mesh->v + 3 * (size_t)i, -1, collect_owner, &pointer,
                     &reach2);
    char kept = 0;
    for (int b = 0; all.count; b++) {
        if (!owned[b]) continue;
        owned[b] = 0;
        all.count--;
        if (kept < ARAP_MOST_SHARED)
            sight->nearest[(size_t)i * ARAP_MOST_SHARED + (size_t)kept++] = b;
    }
    sight->nearest_count[i] = kept;
    sight->on_bone[i] = (char)task->segments[s].is_bone;
    if (sight->distance[i] < to_bone) sight->visible[i] = (char)is_visible(task, i, point);
}

static void look(void *data, int chunk, int worker) {
    const sight_task *task = data;
    int begin = chunk * CHUNK, count = task->mesh->count;
    int end = begin + CHUNK < count ? begin + CHUNK : count;
    for (int i = begin; i < end; i++)
        look_from(task, i, task->owned + (size_t)worker * (size_t)task->skeleton->deform_count);
}

/* First look, at bones only: the nearest segment takes the place of the nearest owner. What it
 * finds of distance and visibility stands for the second look, unless a virtual segment is
 * nearer. */
static void look_at_bones(void *data, int chunk, int worker) {
    (void)worker;
    const sight_task *task = data;
    int begin = chunk * CHUNK, count = task->mesh->count;
    int end = begin + CHUNK < count ? begin + CHUNK : count;
    for (int i = begin; i < end; i++) {
        double point[3];
        int s = nearest_segment(task, i, &task->sight->distance[i], point);
        task->sight->nearest[(size_t)i * ARAP_MOST_SHARED] = s;
        task->inside[i] = (char)is_inside(task, i, point);
        task->sight->visible[i] = (char)is_visible(task, i, point);
    }
}

static arap_status build_segment_bvh(arap_job *job, const arap_segment *segments, int count,
                                     arap_bvh **out) {
    double *boxes = ARAP_NEW(double, 6 * count);
    if (!boxes) return arap_fail_memory(&job->error, "the bone hierarchy");
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            boxes[6 * i + c] = fmin(segments[i].a[c], segments[i].b[c]);
            boxes[6 * i + 3 + c] = fmax(segments[i].a[c], segments[i].b[c]);
        }
    arap_status status = arap_bvh_build(out, (size_t)count, boxes, NULL, &job->error);
    arap_free(boxes);
    return status;
}

static arap_status look_in_slices(arap_job *job, int vertices, arap_task task, sight_task *data) {
    return arap_parallel_slices(job, "visibility", (vertices + CHUNK - 1) / CHUNK,
                                SLICE_PER_THREAD * job->threads, task, data);
}

/* Keep the bones, and the virtual segments of those bones that are inside the mesh, in
 * `kept`; their number in *count, and judge the bones. */
static arap_status choose_segments(arap_job *job, sight_task *task, arap_segment *kept,
                                   int *count) {
    const arap_skeleton *skeleton = task->skeleton;
    int n = task->mesh->count, bones = 0, behind = 0;
    arap_bvh *tree = NULL;
    int *votes = ARAP_NEW_ZERO(int, skeleton->deform_count);
    if (!votes) return arap_fail_memory(&job->error, "the visibility of bones");
    for (int s = 0; s < skeleton->segment_count; s++)
        if (skeleton->segments[s].is_bone) kept[bones++] = skeleton->segments[s];
    arap_status status = build_segment_bvh(job, kept, bones, &tree);
    if (status) goto done;
    task->tree = tree;
    task->segments = kept;
    status = look_in_slices(job, n, look_at_bones, task);
    if (status) goto done;
    for (int i = 0; i < n; i++) behind += task->inside[i];
    int flipped = 2 * behind < n;
    for (int i = 0; i < n; i++) {
        int owner = kept[task->sight->nearest[(size_t)i * ARAP_MOST_SHARED]].owner;
        if (task->sight->visible[i]) votes[owner] += task->inside[i] != flipped ? 1 : -1;
    }
    for (int b = 0; b < skeleton->deform_count; b++) task->sight->bone_inside[b] = votes[b] > 0;
    *count = bones;
    for (int s = 0; s < skeleton->segment_count; s++)
        if (!skeleton->segments[s].is_bone && votes[skeleton->segments[s].owner] > 0)
            kept[(*count)++] = skeleton->segments[s];

done:
    arap_bvh_free(tree);
    arap_free(votes);
    return status;
}

arap_status arap_sight_create(arap_job *job, const arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bvh *faces, arap_sight *sight) {
    size_t n = (size_t)mesh->count;
    int count = 0;
    arap_bvh *tree = NULL;
    arap_status status = ARAP_OK;
    *sight = (arap_sight){.distance = ARAP_NEW(double, n),
                          .visible = ARAP_NEW(char, n),
                          .on_bone = ARAP_NEW(char, n),
                          .bone_inside = ARAP_NEW(char, skeleton->deform_count),
                          .nearest_count = ARAP_NEW(char, n),
                          .nearest = ARAP_NEW(int, n * ARAP_MOST_SHARED)};
    char *owned = ARAP_NEW_ZERO(char, (size_t)job->threads * (size_t)skeleton->deform_count);
    arap_segment *segments = ARAP_NEW(arap_segment, skeleton->segment_count);
    double *normals = ARAP_NEW(double, 3 * n);
    char *inside = ARAP_NEW(char, n);
    sight_task task = {.mesh = mesh,
                       .skeleton = skeleton,
                       .faces = faces,
                       .normals = normals,
                       .inside = inside,
                       .sight = sight,
                       .owned = owned};
    if (!sight->distance || !sight->visible || !sight->on_bone || !sight->bone_inside ||
        !sight->nearest_count || !sight->nearest || !owned || !segments || !normals || !inside) {
        status = arap_fail_memory(&job->error, "the visibility of bones");
        goto done;
    }
    arap_vertex_normals(mesh, normals);
    status = choose_segments(job, &task, segments, &count);
    if (!status) status = build_segment_bvh(job, segments, count, &tree);
    if (status) goto done;
    task.tree = tree;
    status = look_in_slices(job, mesh->count, look, &task);

done:
    arap_free(owned);
    arap_free(segments);
    arap_free(normals);
    arap_free(inside);
    arap_bvh_free(tree);
    if (status) arap_sight_clear(sight);
    return status;
}

void arap_sight_clear(arap_sight *sight) {
    arap_free(sight->distance);
    arap_free(sight->visible);
    arap_free(sight->on_bone);
    arap_free(sight->bone_inside);
    arap_free(sight->nearest_count);
    arap_free(sight->nearest);
    *sight = (arap_sight){0};
}
