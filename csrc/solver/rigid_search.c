/* The search for rigid parts: see rigid.h.
 *
 * Each vertex has its own row of weights w_i. If a part is moved by a single row u, it departs from
 * its solved positions by
 *     D^2 = sum A_i sum_poses w_p |sum_b (w_ib - u_b) T_b v_i|^2 / (sum w_p  sum A_i |v_i - c|^2),
 * relative to the radius of the part about its center c, where A_i are areas. A part with a small
 * departure is nearly rigid, and the common row makes it exactly so. A part that bends, twists or
 * shears has a larger departure.
 *
 * One bone. The row u consists of the bone that rigid_candidates.c chooses. Most parts, such as
 * props, armor and the limbs of robots, may depart by `max`, the setting. A part around several
 * bones has skin that should bend, and may depart only by SPANNING times `max`. A box around one
 * bone has no vertices for bending and always follows this bone.
 *
 * One blend. A buckle on a belt departs far from any single bone, compared with its size, but
 * follows the skin below. In this case, u is the mean row, if the part departs from the positions
 * given by this row by at most BLENDED times `max`.
 *
 * Rods. A sword across the back departs far from any bone, although it is as hard as a sword at the
 * hip. The shape of the sword proves that it is rigid (rods.c). All parts of the sword therefore
 * follow the bone of the surface on which it lies, however far this bone moves them.
 *
 * Hair cards that touch the skin with one end follow the skin at this end (rigid_hanging.c).
 *
 * Props that several fingers hold follow the hand (rigid_props.c). Balls follow a bone of the joint
 * in which they sit, and bones that are left without a part get the nearest part (rigid_owners.c).
 * Parts between several branches of bones follow the bone from which these descend
 * (rigid_between.c).
 *
 * Parts that are mirror images of each other either both become rigid, with mirrored rows, or both
 * stay soft. A part that is its own mirror image takes a bone that is its own mirror image. The
 * search skips strands, which have no faces and bend with the skin on which they grow, and parts
 * with locked weights or constraints. Takes O(entries x influences), plus the rays of
 * containment.c. Fails only on out-of-memory or when cancelled. */

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/vec3.h"
#include "energy/stiffness.h"
#include "mesh/loose_parts.h"
#include "solver/rigid.h"
#include "solver/rigid_candidates.h"
#include "weights/rows.h"

#define SPANNING 0.2 /* share of the allowed departure, for parts around more than one bone */
#define BLENDED 0.25 /* the same for blends */
#define MINIMUM 0.05 /* mean weight of a bone of a blend */
#define SAME 1e-9    /* weights that differ by no more */
#define SOME 16      /* one in this many vertices shows for most bodies that they are not rigid */

/* Maximum number of bones in the row of a part: half of the limit, because the row of a part that
 * is its own image is joined with the mirrored row. */
static int most_blended(const arap_solver *s) {
    return s->settings.max_influences ? s->settings.max_influences / 2 : s->skeleton.deform_count;
}

/* Keep only the largest entries of s->mean. Returns their number. */
static int cut_mean(const arap_rigid_search *s) {
    int count = 0, max = most_blended(s->solver), bones = s->solver->skeleton.deform_count;
    for (int b = 0; b < bones; b++) {
        if (s->mean[b] < MINIMUM) s->mean[b] = 0;
        count += s->mean[b] > 0;
    }
    for (; count > max; count--) {
        int min = -1;
        for (int b = 0; b < bones; b++)
            if (s->mean[b] > 0 && (min < 0 || s->mean[b] < s->mean[min])) min = b;
        s->mean[min] = 0;
    }
    return count;
}

/* s->rows. */
static arap_status make_rows(arap_context *context, arap_rigid_search *s) {
    const arap_solver *solver = s->solver;
    int count = solver->mesh.part_count;
    arap_rows rows;
    arap_status status = arap_rows_create(context, count, &rows);
    for (int p = 0; p < count && !status; p++) {
        arap_candidate *c = &s->parts[p];
        status = arap_rows_next(context, &rows, (size_t)solver->skeleton.deform_count);
        if (status || !c->is_rigid) continue;
        if (!c->blends) {
            int second_first = c->second_weight > 0 && c->second_bone < c->bone;
            if (second_first) arap_rows_add(&rows, c->second_bone, c->second_weight, 0);
            arap_rows_add(&rows, c->bone, 1 - c->second_weight, 0);
            if (c->second_weight > 0 && !second_first)
                arap_rows_add(&rows, c->second_bone, c->second_weight, 0);
            continue;
        }
        arap_candidate_mean(s, c);
        c->is_rigid = cut_mean(s) > 0;
        for (int b = 0; b < solver->skeleton.deform_count; b++)
            if (s->mean[b] > 0) arap_rows_add(&rows, b, s->mean[b], 0);
    }
    if (!status) {
        arap_influences_clear(&s->rows);
        arap_rows_take(&rows, &s->rows);
    }
    arap_rows_clear(&rows);
    for (int p = 0; p < count && !status; p++) {
        double sum = 0;
        for (size_t e = s->rows.start[p]; e < s->rows.start[p + 1]; e++) sum += s->rows.weight[e];
        for (size_t e = s->rows.start[p]; e < s->rows.start[p + 1]; e++) s->rows.weight[e] /= sum;
    }
    return status;
}

/* Whether the part is allowed to depart this far. */
static int departs_little(const arap_rigid_search *s, const arap_candidate *c) {
    double max = s->solver->settings.rigid_departure;
    if (c->blends) return c->departure <= BLENDED * max;
    if (c->bone_count && c->size <= ARAP_BOX) return 1;
    return c->departure <= (c->bone_count > 1 ? SPANNING : 1) * max;
}

/* Whether vertex i is used for the departure of its part. No vertex is used if the departure is
 * already known to be too large. */
static int is_measured(const arap_rigid_search *s, int i, int every) {
    const arap_candidate *c = &s->parts[s->solver->mesh.part[i]];
    return c->is_rigid && i % every == 0 && departs_little(s, c);
}

/* The rows of the parts minus those of their vertices; empty for vertices that are not used. */
static arap_status make_differences(arap_context *context, const arap_rigid_search *s, int every,
                                    arap_influences *out) {
    const arap_solver *solver = s->solver;
    const arap_influences *in = &solver->influences;
    arap_rows rows;
    arap_status status = arap_rows_create(context, in->count, &rows);
    for (int i = 0; i < in->count && !status; i++) {
        int part = solver->mesh.part[i];
        size_t e = in->start[i], f = s->rows.start[part], end = s->rows.start[part + 1];
        int counts = is_measured(s, i, every);
        status = arap_rows_next(context, &rows, counts ? in->start[i + 1] - e + end - f : 0);
        while (!status && counts && (e < in->start[i + 1] || f < end)) {
            int from = e < in->start[i + 1] ? in->bone[e] : INT_MAX;
            int to = f < end ? s->rows.bone[f] : INT_MAX;
            double weight = from <= to ? -in->weight[e++] : 0;
            if (to <= from) weight += s->rows.weight[f++];
            arap_rows_add(&rows, from < to ? from : to, weight, 0);
        }
    }
    return arap_rows_end(status, &rows, out);
}

/* Compute the departures of the rigid parts with their rows, or lower bounds from a subset of the
 * vertices, because all terms of the sum are squares. */
static arap_status measure_departures(arap_context *context, arap_rigid_search *s, int every) {
    const arap_solver *solver = s->solver;
    arap_influences step = {0};
    double *block = NULL;
    size_t widest = 0;
    arap_status status = make_differences(context, s, every, &step);
    for (int i = 0; i < step.count && !status; i++) {
        size_t own = step.start[i + 1] - step.start[i];
        widest = own > widest ? own : widest;
    }
    if (!status) {
        block = ARAP_NEW(double, widest * widest);
        if (!block) status = arap_fail_memory(&context->error, "the rigid parts");
        if (!status) status = arap_poses_gram_of(context, &solver->mesh, &solver->poses, &step);
    }
    for (int p = 0; p < solver->mesh.part_count && !status; p++) {
        arap_candidate *c = &s->parts[p];
        double sum = 0;
        if (!c->is_rigid || !departs_little(s, c)) continue;
        for (int k = 0; k < c->size; k++) {
            int i = s->vertices[c->first + k];
            const double *d = step.weight + step.start[i], *q = block;
            int own = (int)(step.start[i + 1] - step.start[i]);
            if (!own) continue;
            arap_gram_block(&solver->mesh, &solver->poses, &step, i, i, 1, block);
            for (int a = 0; a < own; a++)
                for (int b = 0; b < own; b++) sum += solver->mesh.area[i] * d[a] * d[b] * *q++;
        }
        c->departure = sqrt(fmax(sum, 0) / (solver->poses.total * c->radius2));
        if (p % 64 == 0) status = arap_progress(context, "rigid parts", (double)p / step.count);
    }
    arap_free(block);
    arap_influences_clear(&step);
    return status;
}

/* Whether the rows of parts p and q are images of each other. */
static int rows_mirror(const arap_rigid_search *s, int p, int q) {
    const arap_influences *rows = &s->rows;
    size_t own = rows->start[p + 1] - rows->start[p];
    if (rows->start[q + 1] - rows->start[q] != own) return 0;
    for (size_t e = rows->start[p]; e < rows->start[p + 1]; e++) {
        int partner = s->solver->symmetry.bone[rows->bone[e]];
        if (partner < 0 || arap_find_influence(rows, q, partner) < 0) return 0;
    }
    return 1;
}

/* Reject parts whose images are rejected, belong to several parts, or have rows that are not images
 * although those of the vertices are, because the image of a rigid part must be rigid for any
 * row. */
static void refuse_lopsided(arap_rigid_search *s) {
    const arap_symmetry *symmetry = &s->solver->symmetry;
    const int *part = s->solver->mesh.part;
    for (int p = 0; p < s->solver->mesh.part_count; p++) s->parts[p].image_part = -1;
    for (int changed = symmetry->vertex != NULL; changed;) {
        changed = 0;
        for (int i = 0; i < s->solver->mesh.count; i++) {
            arap_candidate *c = &s->parts[part[i]];
            if (!c->is_rigid || symmetry->vertex[i] < 0) continue;
            int image = part[symmetry->vertex[i]];
            if (c->image_part < 0) c->image_part = image;
            if (image == c->image_part && s->parts[image].is_rigid &&
                (!symmetry->symmetric[i] || rows_mirror(s, part[i], image)))
                continue;
            c->is_rigid = 0;
            changed = 1;
        }
    }
}

/* The part is already rigid with its mean row. If the part surrounds one bone, which has most of
 * the part's initial weights, the part belongs to this bone, and the energy has assigned it to a
 * neighbor by chance. */
static int belongs_inside(const arap_rigid_search *s, const arap_candidate *c) {
    const arap_solver *solver = s->solver;
    double own = 0;
    for (int k = 0; k < c->size && c->bone_count == 1; k++) {
        int i = s->vertices[c->first + k];
        own += solver->mesh.area[i] * arap_weight(&solver->initial, i, c->inner_bone);
    }
    return own > c->area / 2;
}

/* Try each part with one bone first, then those that depart too far from it with a blend. */
static arap_status try_parts(arap_context *context, arap_rigid_search *s) {
    const arap_solver *solver = s->solver;
    for (int round = 0; round < 2; round++) {
        arap_status status = make_rows(context, s);
        for (int p = 0; p < solver->mesh.part_count; p++) s->parts[p].departure = 0;
        if (!status) status = measure_departures(context, s, SOME);
        if (!status) status = measure_departures(context, s, 1);
        if (status) return status;
        int again = 0;
        for (int p = 0; p < solver->mesh.part_count; p++) {
            arap_candidate *c = &s->parts[p];
            if (!c->is_rigid) continue;
            if (departs_little(s, c)) {
                if (c->blends && belongs_inside(s, c)) arap_candidate_follow(s, p, c->inner_bone);
                c->is_decided = 0; /* others may still choose */
                continue;
            }
            c->is_rigid = !c->blends && c->bone_count < 2 && most_blended(solver) > 0;
            c->blends = 1;
            again |= c->is_rigid;
        }
        if (!again) break;
    }
    for (int p = 0; p < solver->mesh.part_count; p++)
        if (s->parts[p].is_rigid && !s->parts[p].blends) arap_candidate_share(s, &s->parts[p]);
    arap_status status = make_rows(context, s);
    if (!status) refuse_lopsided(s);
    return status;
}

/* Store the area-weighted mean row of a rod, if it lies on something, in s->mean. Returns whether
 * the rod is its own image. */
static int take_mean_of_rod(const arap_rigid_search *s, int rod) {
    const arap_solver *solver = s->solver;
    const arap_influences *in = &solver->influences;
    const arap_symmetry *symmetry = &solver->symmetry;
    int own = 0;
    memset(s->mean, 0, (size_t)solver->skeleton.deform_count * sizeof *s->mean);
    for (int p = rod; p < solver->mesh.part_count; p++) {
        const arap_candidate *c = &s->parts[p];
        for (int k = 0; k < c->size && s->set[p] == rod; k++) {
            int i = s->vertices[c->first + k], image = arap_symmetry_image(symmetry, i);
            own |= image >= 0 && s->set[solver->mesh.part[image]] == rod;
            if (!s->contact[i]) continue;
            for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
                s->mean[in->bone[e]] += solver->mesh.area[i] * in->weight[e];
        }
    }
    return own;
}

/* Make all parts of a rod follow one bone of the surface on which it lies. The parts may already
 * follow this bone rigidly. Returns whether anything changes. */
static int hold_rod(arap_rigid_search *s, int rod) {
    int parts = s->solver->mesh.part_count, changes = 0, bone = -1;
    for (int p = rod; p < parts; p++) {
        const arap_candidate *c = &s->parts[p];
        if (s->set[p] != rod || !s->is_candidate[p]) continue;
        changes |=
            !c->is_rigid || c->blends || c->second_weight > 0 || (bone >= 0 && c->bone != bone);
        bone = c->bone;
    }
    if (!changes) return 0;
    bone = arap_candidate_bone(s, take_mean_of_rod(s, rod));
    for (int p = rod; p < parts && bone >= 0; p++) {
        if (s->set[p] != rod || !s->is_candidate[p]) continue;
        arap_candidate_follow(s, p, bone);
    }
    return bone >= 0;
}

/* Process cards, then rods, balls and held props, regardless of how far they depart. Then assign
 * remaining parts to bones without one, and finally parts between branches. */
static arap_status hold_special(arap_context *context, arap_rigid_search *s) {
    const arap_mesh *mesh = &s->solver->mesh;
    int changes = 0;
    arap_status status = arap_hold_hanging(context, s, &changes);
    if (!status) status = arap_find_rods(context, mesh, s->is_boneless, s->set, s->contact);
    for (int p = 0; p < mesh->part_count && !status; p++)
        changes |= s->set[p] == p && hold_rod(s, p);
    for (int p = 0; p < mesh->part_count && !status; p++) s->parts[p].is_decided |= s->set[p] >= 0;
    if (!status) status = arap_hold_joints(context, s, &changes);
    if (!status) status = arap_hold_props(context, s, &changes);
    if (!status && changes) status = make_rows(context, s);
    changes = 0;
    if (!status) status = arap_hold_orphans(context, s, &changes);
    if (!status && changes) status = make_rows(context, s);
    changes = 0;
    if (!status) status = arap_hold_between(context, s, &changes);
    if (!status && changes) status = make_rows(context, s);
    if (status) return status;
    refuse_lopsided(s);
    return status;
}

/* Whether a vertex of a rigid part has a different row. */
static int changes_rows(const arap_rigid_search *s) {
    const arap_influences *in = &s->solver->influences;
    for (int i = 0; i < in->count; i++) {
        int part = s->solver->mesh.part[i];
        size_t e = in->start[i], f = s->rows.start[part], own = in->start[i + 1] - e;
        if (!s->parts[part].is_rigid) continue;
        if (s->rows.start[part + 1] - f != own) return 1;
        for (size_t k = 0; k < own; k++)
            if (in->bone[e + k] != s->rows.bone[f + k] ||
                fabs(in->weight[e + k] - s->rows.weight[f + k]) > SAME)
                return 1;
    }
    return 0;
}

/* The current rows, with the rows of rigid parts at their vertices. */
static arap_status make_patterns(arap_context *context, const arap_rigid_search *s,
                                 arap_influences *out) {
    const arap_solver *solver = s->solver;
    const arap_influences *in = &solver->influences;
    arap_rows rows;
    arap_status status = arap_rows_create(context, in->count, &rows);
    for (int i = 0; i < in->count && !status; i++) {
        int part = solver->mesh.part[i], is_rigid = s->parts[part].is_rigid;
        status = arap_rows_copy(context, &rows, is_rigid ? &s->rows : in, is_rigid ? part : i);
    }
    status = arap_rows_end(status, &rows, out);
    if (!status) status = arap_symmetry_weights(context, &solver->symmetry, out);
    return status;
}

/* Determine which parts surround which bones. Results are kept after the first visit. */
static arap_status look_inside(arap_context *context, arap_rigid_search *s,
                               const arap_bone_lines *lines, arap_solver *solver) {
    const arap_containment_fn visits[] = {arap_candidate_inside, arap_candidate_skin,
                                          arap_candidate_accessory};
    arap_status status = ARAP_OK;
    for (int b = 0; b < solver->skeleton.deform_count; b++) s->skin[b] = -1;
    memset(s->is_accessory, 1, (size_t)solver->mesh.part_count);
    for (int k = 0; k < 3 && !status; k++)
        status = arap_visit_containments(context, &solver->mesh, lines, "rigid parts",
                                         &solver->containments, visits[k], s);
    return status;
}

arap_status arap_find_rigid_parts(arap_context *context, arap_solver *solver,
                                  arap_influences *patterns) {
    size_t parts = (size_t)solver->mesh.part_count;
    arap_arena arena = {0};
    arap_rigid_search s = {.solver = solver,
                           .parts = ARAP_TAKE_ZERO(&arena, parts, arap_candidate),
                           .vertices = ARAP_TAKE(&arena, solver->mesh.count, int),
                           .mean = ARAP_TAKE(&arena, solver->skeleton.deform_count, double),
                           .is_candidate = ARAP_TAKE(&arena, parts, char),
                           .is_boneless = ARAP_TAKE(&arena, parts, char),
                           .set = ARAP_TAKE(&arena, parts, int),
                           .contact = ARAP_TAKE(&arena, solver->mesh.count, char),
                           .is_surrounded =
                               ARAP_TAKE_ZERO(&arena, solver->skeleton.deform_count, char),
                           .card_end = ARAP_TAKE(&arena, solver->mesh.count, char),
                           .face_beneath = ARAP_TAKE(&arena, solver->mesh.count, int),
                           .touched = ARAP_TAKE(&arena, solver->mesh.count, int),
                           .skin = ARAP_TAKE(&arena, solver->skeleton.deform_count, int),
                           .is_accessory = ARAP_TAKE(&arena, parts, char)};
    arap_bone_lines lines = {0};
    char *found = ARAP_TAKE_ZERO(&arena, parts, char);
    int *start = ARAP_TAKE(&arena, parts + 1, int), any = 0;
    arap_status status = arap_arena_status(&arena, &context->error, "the rigid parts");
    *patterns = (arap_influences){0};
    if (status) goto done;
    arap_group(solver->mesh.count, solver->mesh.part, NULL, (int)parts, start, s.vertices);
    for (size_t p = 0; p < parts; p++) {
        s.parts[p].first = start[p];
        s.parts[p].size = start[p + 1] - start[p];
    }
    status = arap_bone_lines_create(context, &solver->skeleton, &lines);
    if (!status) status = look_inside(context, &s, &lines, solver);
    if (status || !arap_candidates_choose(&s)) goto done;
    status = try_parts(context, &s);
    if (!status) status = hold_special(context, &s);
    if (status) goto done;
    for (size_t p = 0; p < parts; p++) any |= found[p] = (char)s.parts[p].is_rigid;
    if (!any) goto done;
    if (changes_rows(&s)) status = make_patterns(context, &s, patterns);
    if (!status) status = arap_add_rigid_parts(context, solver, found);
    if (status) arap_influences_clear(patterns);

done:
    arap_arena_clear(&arena);
    arap_influences_clear(&s.rows);
    arap_bone_lines_clear(&lines);
    return status;
}
