/* Determines whether the tails of an armature are meaningful: see bone_tails.h.
 *
 * A bone drawn by the user ends at or near the joint of a child. Importers only have joints, so
 * they point the bone along an axis of the joint's frame and choose a length. For a deforming bone
 * with children, let
 *     off = min over its children of |tail - head of the child| / |head of the child - head|.
 * The median of `off` over an armature ranged from 0 to 0.46 in 175 files with drawn tails, and
 * from 0.68 to 99 in 21 files with tails chosen by importers. The threshold OFF separates the two
 * groups. The decision applies to the whole armature, because single bones often point in other
 * directions, as in a hand or under a control.
 *
 * In some files, only the lengths are wrong. Blender's glTF importer makes a bone as long as the
 * distance to its nearest child, but does not divide this length by the scale of the armature
 * object. All lengths are then wrong by the same factor, the inverse of this scale. The quotient
 * length / (distance to the nearest child) is the same number f for nearly all bones (MAXIMUM), and
 * dividing by f puts the tails near the joints. The importer also clamps lengths below a few
 * millimeters, so f can differ. If the tails are off but nearly all bones (ALIGNED) point at a
 * child, the directions are still right.
 *
 * A single bone with children is not sufficient evidence. In this case, the tails are kept, unless
 * all bones are stubs or poles of the same length, as importers leave them (STUB). The directions
 * of such bones are right if they differ from each other, because untouched frames all point in the
 * same direction. Tails are also kept if all joints coincide.
 *
 * Takes O(bones log bones). Fails on out-of-memory. */
#include "rig/bone_tails.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/vec3.h"

#define OFF 0.57      /* the geometric mean of 0.46 and 0.68 */
#define FEWEST 2      /* bones with children */
#define NO_WAY 1e-4   /* joints closer than this share of their extent coincide */
#define SAME 0.03     /* maximum difference between two factors that are treated as equal */
#define MAXIMUM 0.75  /* minimum share of the bones with the same factor */
#define STUB 0.05     /* share of the distance to a child: artists draw no bones this short */
#define PARALLEL 0.95 /* length of the mean direction of bones that all point the same way */
#define COSINE 0.95   /* minimum cosine for a bone that points at a child */
#define ALIGNED 0.75  /* share of the bones with children */
#define ENOUGH 3      /* such bones */
#define RIGHT 1.1     /* factor by which lengths may be wrong and still count as right */

/* Return the median; sorts the values. */
static double median(double *values, int count) {
    arap_sort_doubles(values, count);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

static double extent2(const arap_bones *bones) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int b = 0; b < bones->count; b++) {
            lo = fmin(lo, bones->heads[3 * b + c]);
            hi = fmax(hi, bones->heads[3 * b + c]);
        }
        sum += (hi - lo) * (hi - lo);
    }
    return sum;
}

/* Whether nearly all bones point at a child. ways, scratch: (bones) */
static int are_aligned(const arap_bones *bones, double no_way2, const double *ways,
                       double *scratch) {
    int count = 0, aligned = 0;
    for (int b = 0; b < bones->count; b++) scratch[b] = -1;
    for (int c = 0; c < bones->count; c++) {
        int b = bones->parents[c];
        if (b < 0 || !isfinite(ways[b])) continue;
        double to_child[3], to_tail[3];
        arap_sub(bones->heads + 3 * c, bones->heads + 3 * b, to_child);
        arap_sub(bones->tails + 3 * b, bones->heads + 3 * b, to_tail);
        double way2 = arap_dot(to_child, to_child), long2 = way2 * arap_dot(to_tail, to_tail);
        if (way2 > no_way2 && long2 > 0)
            scratch[b] = fmax(scratch[b], arap_dot(to_child, to_tail) / sqrt(long2));
    }
    for (int b = 0; b < bones->count; b++)
        if (isfinite(ways[b])) count++, aligned += scratch[b] > COSINE;
    return count >= ENOUGH && aligned >= ALIGNED * count;
}

/* The median of off, with lengths divided by `factor`; *found: number of bones. ways (bones):
 * distance of the nearest child, infinite for bones that are not judged. */
static double measure_off(const arap_bones *bones, double factor, double no_way2, double *ways,
                          double *scratch, int *found) {
    for (int b = 0; b < bones->count; b++) ways[b] = scratch[b] = INFINITY;
    for (int c = 0; c < bones->count; c++) {
        int b = bones->parents[c];
        if (b < 0 || (bones->deform && !bones->deform[b])) continue;
        const double *head = bones->heads + 3 * b, *tail = bones->tails + 3 * b;
        double end[3], way2 = arap_distance2(head, bones->heads + 3 * c);
        if (!(way2 > no_way2)) continue;
        for (int k = 0; k < 3; k++) end[k] = head[k] + (tail[k] - head[k]) / factor;
        ways[b] = fmin(ways[b], sqrt(way2));
        scratch[b] = fmin(scratch[b], sqrt(arap_distance2(end, bones->heads + 3 * c) / way2));
    }
    *found = 0;
    for (int b = 0; b < bones->count; b++)
        if (isfinite(scratch[b])) scratch[(*found)++] = scratch[b];
    return *found ? median(scratch, *found) : 0;
}

/* The factor by which nearly all lengths are too large, or 1. */
static double common_factor(const arap_bones *bones, const double *ways, double *scratch) {
    int count = 0, same = 0;
    for (int b = 0; b < bones->count; b++) {
        if (!isfinite(ways[b])) continue;
        double length = sqrt(arap_distance2(bones->heads + 3 * b, bones->tails + 3 * b));
        scratch[count++] = length / ways[b];
    }
    double factor = median(scratch, count);
    for (int k = 0; k < count; k++) same += fabs(scratch[k] - factor) <= SAME * factor;
    return factor > 0 && isfinite(factor) && same >= MAXIMUM * count ? factor : 1;
}

/* Whether all deforming bones have the same length and this length differs strongly from the
 * distances to children. */
static int are_stubs(const arap_bones *bones, const double *ways) {
    double min = INFINITY, max = 0, way = 0;
    for (int b = 0; b < bones->count; b++) {
        if (bones->deform && !bones->deform[b]) continue;
        double length = sqrt(arap_distance2(bones->heads + 3 * b, bones->tails + 3 * b));
        min = fmin(min, length);
        max = fmax(max, length);
        if (isfinite(ways[b])) way = ways[b];
    }
    return max - min <= SAME * max && (max < STUB * way || min * STUB > way);
}

static int are_parallel(const arap_bones *bones) {
    double mean[3] = {0, 0, 0};
    int count = 0;
    for (int b = 0; b < bones->count; b++) {
        double along[3];
        if (bones->deform && !bones->deform[b]) continue;
        arap_sub(bones->tails + 3 * b, bones->heads + 3 * b, along);
        double length = sqrt(arap_dot(along, along));
        for (int c = 0; c < 3 && length > 0; c++) mean[c] += along[c] / length;
        count++;
    }
    return !(arap_dot(mean, mean) < PARALLEL * PARALLEL * count * count);
}

arap_status arap_study_tails(arap_context *context, const arap_bones *bones, arap_tail_study *out) {
    arap_arena arena = {0};
    *out = (arap_tail_study){.are = bones->tails ? ARAP_TAILS_MEANT : ARAP_TAILS_ANY};
    if (!bones->tails) return ARAP_OK;
    int found;
    double no_way2 = NO_WAY * NO_WAY * extent2(bones);
    double *ways = ARAP_TAKE(&arena, bones->count, double),
           *scratch = ARAP_TAKE(&arena, bones->count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the tails of the bones");
    if (status) goto done;
    out->off = measure_off(bones, 1, no_way2, ways, scratch, &found);
    if (!found || (found < FEWEST && !are_stubs(bones, ways))) goto done;
    double factor = common_factor(bones, ways, scratch);
    int scaled = (factor > RIGHT || factor < 1 / RIGHT) &&
                 measure_off(bones, factor, no_way2, ways, scratch, &found) < OFF;
    if (scaled || (out->off > OFF && are_aligned(bones, no_way2, ways, scratch)))
        out->are = ARAP_TAILS_AXES;
    else if (out->off > OFF)
        out->are = found < FEWEST && !are_parallel(bones) ? ARAP_TAILS_AXES : ARAP_TAILS_ANY;

done:
    arap_arena_clear(&arena);
    return status;
}
