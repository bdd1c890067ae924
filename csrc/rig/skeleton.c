/* The skeleton: see skeleton.h. Creation takes O(bones). A bone without length is a point with an
 * arbitrary axis. Fails on out-of-memory and for bones that skeleton_checks.c refuses. */
#include "rig/skeleton.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

/* Gaps shorter than this share of the mesh diagonal are rounding errors, not virtual segments. */
#define GAP_TOLERANCE 1e-6

/* A tail this close to the head of a child, as a share of the mesh diagonal and of the bone's
 * length, is at this head except for the rounding errors of an importer. */
#define JOINED 1e-5
#define JOINED_OF_BONE 1e-4

/* Maximum distance of a twin, as a share of the bone's length. */
#define TWIN_TOLERANCE 0.02

/* Distance within which heads form one joint, as a share of the mesh's diagonal. */
#define SAME_HEAD 1e-6

/* Make `v` the unit vector across unit `y`; 0 if it is along y. */
static int make_across(const double *y, double *v) {
    double norm = sqrt(arap_dot(v, v));
    if (!(norm > 0) || !isfinite(norm)) return 0;
    for (int c = 0; c < 3; c++) v[c] /= norm;
    double along = arap_dot(v, y);
    for (int c = 0; c < 3; c++) v[c] -= along * y[c];
    norm = sqrt(arap_dot(v, v));
    if (norm < 1e-4) return 0;
    for (int c = 0; c < 3; c++) v[c] /= norm;
    return 1;
}

/* Orthonormal frame with Y along the bone and Z near the roll axis. Without a usable roll axis, Z
 * points away from the center of the skeleton, so the frame turns and mirrors with the skeleton.
 * The last resort is the coordinate axis most nearly perpendicular to the bone. */
static void bone_frame(const double *head, const double *tail, const double *roll,
                       const double *center, double *axes) {
    double x[3], y[3], z[3];
    arap_sub(tail, head, y);
    double length = sqrt(arap_dot(y, y));
    if (length > 1e-12)
        for (int c = 0; c < 3; c++) y[c] /= length;
    else
        y[0] = 0, y[1] = 1, y[2] = 0;
    int found = 0;
    if (roll) {
        memcpy(z, roll, sizeof z);
        found = make_across(y, z);
    }
    if (!found) {
        for (int c = 0; c < 3; c++) z[c] = 0.5 * (head[c] + tail[c]) - center[c];
        found = make_across(y, z);
    }
    if (!found) {
        int across = 0;
        for (int c = 1; c < 3; c++)
            if (fabs(y[c]) < fabs(y[across])) across = c;
        for (int c = 0; c < 3; c++) z[c] = c == across;
        make_across(y, z);
    }
    arap_cross(y, z, x);
    for (int r = 0; r < 3; r++) axes[3 * r] = x[r], axes[3 * r + 1] = y[r], axes[3 * r + 2] = z[r];
}

static void add_segment(arap_skeleton *s, const double *a, const double *b, int owner,
                        int is_bone) {
    if (owner < 0) return;
    arap_segment *segment = &s->segments[s->segment_count++];
    memcpy(segment->a, a, sizeof segment->a);
    memcpy(segment->b, b, sizeof segment->b);
    segment->owner = owner;
    segment->is_bone = is_bone;
}

/* The deforming bone that lies on `bone` and ends where `bone` ends, or -1. In a chain along
 * `bone`, this is the last bone of the chain, to which children at the end of `bone` are attached.
 */
static int find_twin(const arap_skeleton *s, int bone) {
    const double *head = s->heads + 3 * bone, *tail = s->tails + 3 * bone;
    double length2 = arap_distance2(head, tail), near2 = TWIN_TOLERANCE * TWIN_TOLERANCE * length2;
    double point[3];
    for (int d = 0; d < s->deform_count; d++) {
        const double *other = s->heads + 3 * s->deform_bone[d];
        if (arap_distance2(s->tails + 3 * s->deform_bone[d], tail) <= near2 &&
            arap_distance2(other, tail) > near2 &&
            arap_nearest_on_segment(other, head, tail, point) <= near2)
            return d;
    }
    return -1;
}

/* Whether deforming bone d lies on the line of `bone`, a bone with a twin, as a piece of it that is
 * not attached to its end. *up: the piece that ends where this one begins, or -1. */
static int is_piece(const arap_skeleton *s, int bone, int d, int *up) {
    const double *head = s->heads + 3 * bone, *tail = s->tails + 3 * bone;
    const double *own = s->heads + 3 * s->deform_bone[d];
    double near2 = TWIN_TOLERANCE * TWIN_TOLERANCE * arap_distance2(head, tail), point[3];
    *up = -1;
    if (arap_nearest_on_segment(own, head, tail, point) > near2 ||
        arap_distance2(own, tail) <= near2 ||
        arap_nearest_on_segment(s->tails + 3 * s->deform_bone[d], head, tail, point) > near2)
        return 0;
    for (int e = 0; e < s->deform_count && *up < 0; e++) {
        const double *other = s->heads + 3 * s->deform_bone[e];
        if (e != d && arap_distance2(s->tails + 3 * s->deform_bone[e], own) <= near2 &&
            arap_distance2(other, own) > near2 &&
            arap_nearest_on_segment(other, head, tail, point) <= near2)
            *up = e;
    }
    return 1;
}

/* The nearest deforming bone or twin upward from `bone`. `self` is not its own ancestor. If several
 * deforming bones lie along a bone, each is attached to the previous one. */
static int find_owner(const arap_skeleton *s, const int *twin, int bone, int self) {
    int before;
    for (; bone >= 0; bone = s->parents[bone]) {
        if (arap_deforming(s, bone) >= 0) return s->owner[bone];
        if (!twin || twin[bone] < 0) continue;
        if (self < 0 || !is_piece(s, bone, self, &before)) return twin[bone]; /* not `self` */
        if (before >= 0) return before;
    }
    return -1;
}

/* Number of steps to the root, or -1 in a loop. */
static int find_depth(const arap_skeleton *s, int deform) {
    int depth = 0;
    for (int up = s->deform_parent[deform]; up >= 0; up = s->deform_parent[up])
        if (++depth > s->deform_count) return -1;
    return depth;
}

/* Whether the bone extends to the head of a child. */
static int has_ways(const arap_skeleton *s, int bone) {
    for (int b = 0; b < s->count; b++)
        if (s->ways[b] && s->parents[b] == bone) return 1;
    return 0;
}

/* Create the lines of bones: their segments to children, or those to their tails. */
static void add_ways(arap_skeleton *s, const int *twin) {
    for (int b = 0; b < s->count; b++) {
        int up = s->parents[b], leaf = arap_deforming(s, b) >= 0 && !has_ways(s, b);
        if (s->ways[b] && up >= 0 && twin[up] < 0)
            add_segment(s, s->heads + 3 * up, s->heads + 3 * b, s->owner[up],
                        arap_deforming(s, up) >= 0);
        if (leaf) add_segment(s, s->heads + 3 * b, s->tails + 3 * b, s->owner[b], 1);
    }
}

/* Sort the segments that are deforming bones themselves by bone. */
static void list_lines(arap_skeleton *s) {
    memset(s->line_start, 0, (size_t)(s->deform_count + 1) * sizeof *s->line_start);
    for (int k = 0; k < s->segment_count; k++)
        if (s->segments[k].is_bone) s->line_start[s->segments[k].owner]++;
    for (int d = 0; d < s->deform_count; d++) s->line_start[d + 1] += s->line_start[d];
    for (int k = s->segment_count - 1; k >= 0; k--)
        if (s->segments[k].is_bone)
            s->lines[--s->line_start[s->segments[k].owner]] = s->segments[k];
}

/* Number the deforming bones. */
static void list_deforming(arap_skeleton *s, const char *deform) {
    for (int b = 0; b < s->count; b++) {
        s->owner[b] = -1;
        if (!deform || deform[b]) {
            s->owner[b] = s->deform_count;
            s->deform_bone[s->deform_count++] = b;
        }
    }
}

/* Find the twin of each bone that does not deform (-1: none), and the parents of deforming bones
 * among each other. */
static void find_parents(arap_skeleton *s, int *twin) {
    for (int b = 0; b < s->count; b++) twin[b] = arap_deforming(s, b) >= 0 ? -1 : find_twin(s, b);
    for (int d = 0; d < s->deform_count; d++)
        s->deform_parent[d] = find_owner(s, twin, s->parents[s->deform_bone[d]], d);
    for (int d = 0; d < s->deform_count; d++) /* circular twins are ignored */
        if (find_depth(s, d) < 0)
            s->deform_parent[d] = find_owner(s, NULL, s->parents[s->deform_bone[d]], d);
}

/* Sort the deforming bones by depth, and number each before its descendants. */
static void sort_bones(arap_skeleton *s) {
    int sorted = 0, deepest = 0;
    for (int d = 0; d < s->deform_count; d++) {
        s->depth[d] = find_depth(s, d);
        if (s->depth[d] > deepest) deepest = s->depth[d];
    }
    for (int depth = 0; depth <= deepest; depth++)
        for (int d = 0; d < s->deform_count; d++)
            if (s->depth[d] == depth) s->order[sorted++] = d;
    for (int d = 0; d < s->deform_count; d++) s->end[d] = 1;
    for (int k = s->deform_count - 1; k >= 0; k--) { /* the number of descendants */
        int d = s->order[k], up = s->deform_parent[d];
        if (up >= 0) s->end[up] += s->end[d];
    }
    for (int k = 0, next = 0; k < s->deform_count; k++) {
        int d = s->order[k], up = s->deform_parent[d], size = s->end[d];
        int *place = up < 0 ? &next : &s->end[up]; /* of the next child */
        s->root[d] = up < 0 ? d : s->root[up];
        s->first[d] = *place;
        *place += size;
        s->end[d] = s->first[d] + 1;
    }
}

/* Create the lines from heads to tails, and those of the gaps between tails and heads. */
static void add_bones(arap_skeleton *s, const int *twin) {
    for (int b = 0; b < s->count; b++) {
        const double *head = s->heads + 3 * b;
        int parent = s->parents[b];
        if (twin[b] < 0)
            add_segment(s, head, s->tails + 3 * b, s->owner[b], arap_deforming(s, b) >= 0);
        if (parent < 0 || (twin[parent] >= 0 && twin[parent] == s->owner[b])) continue;
        if (arap_distance2(head, s->tails + 3 * parent) > GAP_TOLERANCE * GAP_TOLERANCE)
            add_segment(s, s->tails + 3 * parent, head, s->owner[parent], 0);
    }
}

static arap_status connect_bones(arap_context *context, arap_skeleton *s, const char *deform) {
    int *twin = ARAP_NEW(int, s->count);
    if (!twin) return arap_fail_memory(&context->error, "the skeleton");
    list_deforming(s, deform);
    find_parents(s, twin);
    sort_bones(s);
    for (int b = 0; b < s->count; b++)
        if (arap_deforming(s, b) < 0) s->owner[b] = find_owner(s, twin, b, -1);
    if (s->ways)
        add_ways(s, twin);
    else
        add_bones(s, twin);
    list_lines(s);
    arap_free(twin);
    return ARAP_OK;
}

/* Move tails to the heads of their children if only rounding errors separate them, so that no
 * decision depends on these errors. */
static void join_tails(arap_skeleton *s) {
    for (int b = s->count; b--;) { /* the first child decides */
        int parent = s->parents[b];
        if (parent < 0) continue;
        const double *head = s->heads + 3 * b, *start = s->heads + 3 * parent;
        double *tail = s->tails + 3 * parent, length2 = arap_distance2(start, tail);
        double near2 = fmin(JOINED * JOINED, JOINED_OF_BONE * JOINED_OF_BONE * length2);
        if (arap_distance2(head, tail) <= near2) memcpy(tail, head, 3 * sizeof *tail);
    }
}

static arap_status allocate(arap_context *context, const arap_bones *bones,
                            arap_skeleton *skeleton) {
    int n = skeleton->count = bones->count;
    skeleton->heads = ARAP_TAKE(&skeleton->arena, 3 * n, double);
    skeleton->tails = ARAP_TAKE(&skeleton->arena, 3 * n, double);
    skeleton->axes = ARAP_TAKE(&skeleton->arena, 9 * n, double);
    skeleton->parents = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->order = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->limits = ARAP_TAKE(&skeleton->arena, 6 * n, double);
    skeleton->kinds = ARAP_TAKE_ZERO(&skeleton->arena, n, char);
    skeleton->ranges = ARAP_TAKE(&skeleton->arena, 2 * ARAP_RANGES * n, double);
    skeleton->bendy_segments = ARAP_TAKE_ZERO(&skeleton->arena, n, int);
    skeleton->stretch = ARAP_TAKE_ZERO(&skeleton->arena, n, char);
    skeleton->deform_bone = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->owner = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->deform_parent = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->depth = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->root = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->first = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->end = ARAP_TAKE(&skeleton->arena, n, int);
    skeleton->segments = ARAP_TAKE(&skeleton->arena, 2 * n, arap_segment);
    skeleton->lines = ARAP_TAKE(&skeleton->arena, 2 * n, arap_segment);
    skeleton->line_start = ARAP_TAKE(&skeleton->arena, n + 1, int);
    if (bones->ways) skeleton->ways = ARAP_TAKE(&skeleton->arena, n, char);
    return arap_arena_status(&skeleton->arena, &context->error, "the skeleton");
}

/* Copy limits, kinds and parents. */
static void copy_bones(const arap_bones *bones, arap_skeleton *skeleton) {
    int n = bones->count;
    for (int i = 0; i < 6 * n; i++) skeleton->limits[i] = bones->limits ? bones->limits[i] : NAN;
    for (int i = 0; i < 2 * ARAP_RANGES * n; i++)
        skeleton->ranges[i] = bones->ranges ? bones->ranges[i] : NAN;
    for (int b = 0; b < n && bones->kinds; b++)
        if (!bones->deform || bones->deform[b]) {
            skeleton->kinds[b] = bones->kinds[b];
            skeleton->spine_count += arap_is_spine(skeleton->kinds[b]);
            skeleton->bent_count += skeleton->kinds[b] != ARAP_BONE_RIGID;
            if (skeleton->kinds[b] == ARAP_BONE_BENDY)
                skeleton->bendy_segments[b] = bones->segments[b];
        }
    for (int b = 0; b < n && bones->stretch; b++)
        skeleton->stretch[b] = bones->stretch[b] && (!bones->deform || bones->deform[b]) &&
                               !arap_is_spine(skeleton->kinds[b]);
    memcpy(skeleton->parents, bones->parents, (size_t)n * sizeof(int));
    if (skeleton->ways) memcpy(skeleton->ways, bones->ways, (size_t)n);
}

/* Determine the axes of all bones. roll_axes: (bones, 3) or NULL. */
static void find_axes(arap_skeleton *skeleton, const double *roll_axes) {
    double center[3] = {0, 0, 0};
    int n = skeleton->count;
    for (int i = 0; i < 3 * n; i++)
        center[i % 3] += 0.5 * (skeleton->heads[i] + skeleton->tails[i]) / n;
    for (int b = 0; b < n; b++)
        bone_frame(skeleton->heads + 3 * b, skeleton->tails + 3 * b,
                   roll_axes ? roll_axes + 3 * b : NULL, center, skeleton->axes + 9 * b);
}

arap_status arap_skeleton_create(arap_context *context, const arap_bones *bones,
                                 const arap_mesh *mesh, arap_skeleton *skeleton) {
    *skeleton = (arap_skeleton){0};
    arap_status status = arap_check_bones(&context->error, bones);
    if (!status) status = allocate(context, bones, skeleton);
    if (status) goto done;
    for (int i = 0; i < 3 * bones->count; i++) {
        skeleton->heads[i] = (bones->heads[i] - mesh->center[i % 3]) / mesh->diagonal;
        skeleton->tails[i] = (bones->tails[i] - mesh->center[i % 3]) / mesh->diagonal;
    }
    status = arap_check_distances(&context->error, skeleton, bones, mesh);
    if (!status) status = arap_check_parents(&context->error, bones->count, bones->parents);
    if (status) goto done;
    copy_bones(bones, skeleton);
    join_tails(skeleton);
    find_axes(skeleton, bones->roll_axes);
    status = connect_bones(context, skeleton, bones->deform);

done:
    if (status) arap_skeleton_clear(skeleton);
    return status;
}

void arap_skeleton_clear(arap_skeleton *skeleton) {
    arap_arena_clear(&skeleton->arena);
    *skeleton = (arap_skeleton){0};
}

#define WALKED 2 /* in a set: on a path that has been marked */

/* Mark the path between two bones of one tree, the ends included. Their meeting bone is on the path
 * only if it is one of them. The path to the meeting bone stays marked if an earlier call has
 * marked a path to the same b. */
static int mark_path(const arap_skeleton *s, char *set, int a, int b) {
    int added = 0;
    while (a != b) {
        int *deeper = s->depth[a] >= s->depth[b] ? &a : &b;
        if (deeper == &a && set[a] == WALKED) break;
        added += !set[*deeper];
        set[*deeper] = WALKED;
        *deeper = s->deform_parent[*deeper];
    }
    return added;
}

int arap_skeleton_span(const arap_skeleton *skeleton, char *set, int *scratch) {
    int count = 0, added = 0;
    for (int b = 0; b < skeleton->deform_count; b++)
        if (set[b]) scratch[count++] = b;
    /* Paths to the first member of the same tree join all of them. */
    for (int i = 1; i < count; i++) {
        for (int j = 0; j < i; j++)
            if (skeleton->root[scratch[j]] == skeleton->root[scratch[i]]) {
                added += mark_path(skeleton, set, scratch[i], scratch[j]);
                break;
            }
    }
    return added;
}

static int find_set(int *set, int b) {
    while (set[b] != b) b = set[b] = set[set[b]];
    return b;
}

arap_status arap_skeleton_components(arap_context *context, const arap_skeleton *skeleton,
                                     int *component, int *count) {
    arap_arena arena = {0};
    int *set = ARAP_TAKE(&arena, skeleton->count, int),
        *number = ARAP_TAKE(&arena, skeleton->count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the components");
    *count = 0;
    if (status) goto done;
    for (int b = 0; b < skeleton->count; b++) {
        set[b] = b;
        number[b] = -1;
    }
    for (int b = 0; b < skeleton->count; b++)
        if (skeleton->parents[b] >= 0) set[find_set(set, b)] = find_set(set, skeleton->parents[b]);
    for (int d = 0; d < skeleton->deform_count; d++) {
        int b = skeleton->deform_bone[d], up = skeleton->deform_parent[d];
        if (up >= 0) set[find_set(set, b)] = find_set(set, skeleton->deform_bone[up]);
        for (int e = 0; e < d && up < 0; e++) {
            int other = skeleton->deform_bone[e];
            if (skeleton->deform_parent[e] < 0 &&
                arap_distance2(skeleton->heads + 3 * b, skeleton->heads + 3 * other) <=
                    SAME_HEAD * SAME_HEAD)
                set[find_set(set, b)] = find_set(set, other);
        }
    }
    for (int d = 0; d < skeleton->deform_count; d++) {
        int root = find_set(set, skeleton->deform_bone[d]);
        if (number[root] < 0) number[root] = (*count)++;
        component[d] = number[root];
    }

done:
    arap_arena_clear(&arena);
    return status;
}

double arap_distance2_to_bone(const arap_skeleton *skeleton, int d, const double *p,
                              double *nearest) {
    double min = INFINITY, point[3];
    for (int k = skeleton->line_start[d]; k < skeleton->line_start[d + 1]; k++) {
        double d2 = arap_nearest_on_segment(p, skeleton->lines[k].a, skeleton->lines[k].b, point);
        if (!(d2 < min)) continue;
        min = d2;
        for (int c = 0; c < 3; c++) nearest[c] = point[c];
    }
    return min;
}

int arap_is_below(const arap_skeleton *skeleton, int d, int ancestor) {
    return d >= 0 && ancestor >= 0 && skeleton->first[ancestor] <= skeleton->first[d] &&
           skeleton->first[d] < skeleton->end[ancestor];
}

int arap_nearest_bone(const arap_mesh *mesh, const arap_skeleton *skeleton, int vertex,
                      arap_excluded_fn excluded, const void *data) {
    double min = INFINITY, point[3];
    int best = -1;
    for (int k = 0; k < skeleton->segment_count; k++) {
        const arap_segment *segment = &skeleton->segments[k];
        if (excluded && excluded(data, vertex, segment->owner)) continue;
        double d2 =
            arap_nearest_on_segment(mesh->v + 3 * (size_t)vertex, segment->a, segment->b, point);
        if (d2 < min) {
            min = d2;
            best = segment->owner;
        }
    }
    return best;
}
