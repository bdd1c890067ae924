/* Finds parts that may be rigid: see rigid_candidates.h.
 *
 * The bone of a part is the bone that it surrounds, if any (containment.h), and otherwise the bone
 * with the largest mean weight. A box around several bones follows the bone that it surrounds most
 * and that is nearest to the middle of the box. For example, the neck of a figure made of boxes
 * also surrounds the end of the body's bone.
 *
 * A part around no bone, such as a strap over an ankle, may have nearly the same mean weight on two
 * bones. Chance, such as another tessellation, would then decide which single bone the part
 * follows. Such a part therefore follows a blend of both bones. With m the larger and n the smaller
 * mean weight and s = n / (m + n), the second bone gets (s - SHARED) / (1 - 2 SHARED) if s >
 * SHARED. At a tie, this share is half. Takes O(entries). Cannot fail. */
#include "solver/rigid_candidates.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"
#include "mesh/bvh.h"
#include "solver/excluded.h"

/* a part surrounds a bone if it meets at least this share of the bone's rays */
#define REACHED 0.4
#define SHARED 0.25

void arap_candidate_inside(void *data, int line, int bone, int part, double share, double off) {
    arap_rigid_search *s = data;
    arap_candidate *c = &s->parts[part];
    (void)line;
    if (share < REACHED) return;
    s->is_surrounded[bone] = 1;
    c->bone_count +=
        !c->bone_count || c->last_bone != bone; /* several lines of a bone count as one bone */
    c->last_bone = bone;
    if (share < c->share || (share == c->share && off >= c->offset)) return;
    c->share = share;
    c->offset = off;
    c->inner_bone = bone;
}

void arap_candidate_skin(void *data, int line, int bone, int part, double share, double off) {
    arap_rigid_search *s = data;
    int *skin = &s->skin[bone];
    (void)line, (void)off;
    if (share < REACHED) return;
    if (*skin < 0 || s->parts[part].bone_count > s->parts[*skin].bone_count) *skin = part;
}

void arap_candidate_accessory(void *data, int line, int bone, int part, double share, double off) {
    arap_rigid_search *s = data;
    (void)line, (void)off;
    if (share >= REACHED && s->skin[bone] == part) s->is_accessory[part] = 0;
}

static void measure_radius(arap_rigid_search *s, arap_candidate *c) {
    const arap_mesh *mesh = &s->solver->mesh;
    double center[3] = {0};
    for (int k = 0; k < c->size; k++) {
        int i = s->vertices[c->first + k];
        for (int x = 0; x < 3; x++) center[x] += mesh->area[i] * mesh->v[3 * (size_t)i + (size_t)x];
        c->area += mesh->area[i];
    }
    for (int x = 0; x < 3; x++) center[x] /= c->area;
    for (int k = 0; k < c->size; k++) {
        int i = s->vertices[c->first + k];
        c->radius2 += mesh->area[i] * arap_distance2(mesh->v + 3 * (size_t)i, center);
    }
}

/* Add `share` of the row of vertex i to the mean. */
static void add_row(const arap_rigid_search *s, int i, double share) {
    const arap_influences *in = &s->solver->influences;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        s->mean[in->bone[e]] += share * in->weight[e];
}

/* The same for the point of the face beneath vertex i. */
static void add_beneath(const arap_rigid_search *s, int i, double share) {
    const arap_mesh *mesh = &s->solver->mesh;
    double bary[3];
    arap_nearest_on_face(mesh, s->face_beneath[i], mesh->v + 3 * (size_t)i, bary);
    for (int k = 0; k < 3; k++)
        add_row(s, mesh->triangles[3 * (size_t)s->face_beneath[i] + (size_t)k], share * bary[k]);
}

void arap_candidate_mean(const arap_rigid_search *search, const arap_candidate *candidate) {
    const arap_solver *solver = search->solver;
    double area = 0;
    memset(search->mean, 0, (size_t)solver->skeleton.deform_count * sizeof *search->mean);
    for (int k = 0; k < candidate->size; k++) {
        int i = search->vertices[candidate->first + k];
        if (candidate->hanging_end && search->card_end[i] != candidate->hanging_end) continue;
        area += solver->mesh.area[i];
        if (candidate->hanging_end)
            add_beneath(search, i, solver->mesh.area[i]);
        else
            add_row(search, i, solver->mesh.area[i]);
    }
    for (int b = 0; b < solver->skeleton.deform_count && area > 0; b++) search->mean[b] /= area;
}

int arap_candidate_is_own_image(const arap_rigid_search *search, const arap_candidate *candidate) {
    const arap_solver *solver = search->solver;
    for (int k = 0; k < candidate->size; k++) {
        int i = search->vertices[candidate->first + k],
            image = arap_symmetry_image(&solver->symmetry, i);
        if (image >= 0 && solver->mesh.part[image] == solver->mesh.part[i]) return 1;
    }
    return 0;
}

/* Whether all vertices of the part may follow the bone. */
static int may_follow(const arap_rigid_search *s, const arap_candidate *c, int bone) {
    if (!arap_excluded_of(s->solver)) return 1;
    for (int k = 0; k < c->size; k++)
        if (arap_is_excluded(s->solver, s->vertices[c->first + k], bone)) return 0;
    return 1;
}

int arap_candidate_follow(const arap_rigid_search *search, int part, int bone) {
    arap_candidate *c = &search->parts[part];
    if (!may_follow(search, c, bone)) return 0;
    c->is_rigid = c->is_decided = 1;
    c->blends = c->hanging_end = 0;
    c->bone = bone;
    c->second_weight = 0;
    return 1;
}

int arap_candidate_bone(const arap_rigid_search *search, int central) {
    const arap_solver *solver = search->solver;
    int best = -1;
    for (int b = 0; b < solver->skeleton.deform_count; b++) {
        if (!(search->mean[b] > 0) || (central && solver->symmetry.bone[b] != b)) continue;
        if (best < 0 || search->mean[b] > search->mean[best] * (1 + 1e-9)) best = b;
    }
    return best;
}

/* The bone that a part should follow, or -1. */
static int choose_bone(const arap_rigid_search *s, const arap_candidate *c) {
    int central = arap_candidate_is_own_image(s, c);
    int follows = c->bone_count == 1 ||
                  (c->bone_count > 1 && c->size <= ARAP_BOX &&
                   (!central || s->solver->symmetry.bone[c->inner_bone] == c->inner_bone));
    return follows && may_follow(s, c, c->inner_bone) ? c->inner_bone
                                                      : arap_candidate_bone(s, central);
}

int arap_candidates_choose(arap_rigid_search *search) {
    const arap_solver *solver = search->solver;
    const arap_influences *in = &solver->influences;
    int count = 0;
    for (size_t k = 0; k < solver->mesh.triangle_count; k++)
        search->parts[solver->mesh.part[solver->mesh.triangles[3 * k]]].is_rigid = 1;
    for (int p = 0; p < solver->mesh.part_count; p++) {
        arap_candidate *c = &search->parts[p];
        c->is_rigid = c->is_rigid && c->size > 1;
        search->is_boneless[p] = (char)(c->is_rigid && !c->bone_count);
        for (int k = 0; k < c->size && c->is_rigid; k++) {
            int i = search->vertices[c->first + k];
            c->is_rigid = !solver->parts.count || solver->parts.number[i] < 0;
            for (size_t e = in->start[i]; e < in->start[i + 1]; e++) c->is_rigid &= !in->locked[e];
        }
    }
    int own = solver->constraints.peaks + solver->constraints.attachments;
    for (int r = own; r < solver->constraints.list.count; r++)
        search->parts[solver->mesh.part[solver->constraints.list.rows[r].vertex]].is_rigid = 0;
    for (int p = 0; p < solver->mesh.part_count; p++) {
        arap_candidate *c = &search->parts[p];
        search->is_candidate[p] = (char)c->is_rigid;
        if (!c->is_rigid) continue;
        measure_radius(search, c);
        arap_candidate_mean(search, c);
        c->bone = choose_bone(search, c);
        c->blends = c->bone < 0;
        count++;
    }
    return count;
}

void arap_candidate_share(const arap_rigid_search *search, arap_candidate *candidate) {
    const arap_solver *solver = search->solver;
    int max = solver->settings.max_influences, second = -1;
    if ((max && max < 4) || candidate->bone_count || arap_candidate_is_own_image(search, candidate))
        return;
    arap_candidate_mean(search, candidate);
    for (int b = 0; b < solver->skeleton.deform_count; b++)
        if (b != candidate->bone &&
            (second < 0 || search->mean[b] > search->mean[second] * (1 + 1e-9)))
            second = b;
    if (second < 0) return;
    double share = search->mean[second] / (search->mean[second] + search->mean[candidate->bone]);
    candidate->second_bone = second;
    candidate->second_weight = fmax(0, share - SHARED) / (1 - 2 * SHARED);
}
