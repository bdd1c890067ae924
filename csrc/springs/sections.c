/* Cross sections of limbs: see sections.h.
 *
 * A spring (bone_springs.h) holds one vertex. However, a limb may sag, bulge or turn around its
 * bone, and is in place as long as its middle is. The skin of a part around the middle of a bone b
 * therefore forms a section, and one spring connects the mean of the section to the bone:
 *     S sum_poses max(0, |sum_i c_i (f_i - T_b v_i)| - q)^2,   sum_i c_i = 1,
 *     S = section sum_i s_i,   c_i ~ h_i s_i (1 - x_i^2)^2,
 *     q = SLACK r min(1, r / length of b),
 * where r is the radius of the limb at the section. A limb whose mean is within q of its bone is in
 * place and costs nothing, and a slender limb is tied more closely than a body with short bones.
 * s_i is the full strength of the spring of vertex i to b, h_i the remaining share of this
 * strength, and x_i the distance of its anchor from the middle of the bone in units of REACH times
 * the length. Vertices that follow other bones, as in a web between fingers, contribute little to
 * the mean. The section itself, however, never gives way. Even if all springs of a finger have
 * given way, for example because its palm follows four bones, the finger stays on its bone. Locked
 * vertices are excluded, because the other vertices would compensate for them.
 *
 * With f_i = sum_b w_ib T_b v_i and e = sum_i c_i e_i the mean of e_i = f_i - T_b v_i, the energy
 * of a section is a convex function of the weights that couples all vertices of the section. The
 * matrix of the global step does not need these couplings. Let n be the point with |n| <= q that is
 * nearest to the current e, and d_i the current value of n + (e_i - e). Then max(0, |e| - q)^2 <=
 * |e - n|^2 <= sum_i c_i |e_i - d_i|^2, with equality at the current weights. The right-hand side
 * consists of springs of strength S c_i to points, and lowering it lowers the left-hand side.
 * Therefore, `tie` adds S c_i to the diagonal blocks. The gradient is exact,
 *     S c_i v_i^T sum_poses T_b^T (e - n).
 *
 * Spines and bendy bones move the vertices of one bone by different transforms, so problems with
 * them have no sections. Takes O(springs) memory. Each iteration takes O(poses x bones of all
 * sections), with sections in parallel, and O(entries of the members). Fails only on out-of-memory
 * or when cancelled. */
#include "springs/sections.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"
#include "base/vec4.h"
#include "springs/bone_lines.h"

#define REACH 0.35 /* share of the length of the bone, from its middle */
/* allowed distance of the middle of a thick limb from its rest position, relative to its radius */
#define SLACK 0.22

/* The line to which a spring is attached, and the share of its vertex in the section there; 0:
 * none. */
static double reach_of(const arap_bone_lines *lines, const arap_spring *spring, int *line) {
    double place, point[3];
    *line = arap_nearest_line(lines, spring->bone, spring->point);
    const arap_bone_line *l = &lines->line[*line];
    if (spring->whole || !(l->length > 0)) return 0;
    arap_line_distance(l, spring->point, &place, point);
    double x = (place / l->length - 0.5) / REACH, rest = 1 - x * x;
    return rest > 0 ? spring->strength * rest * rest : 0;
}

/* Sections are numbered by part and line in the order of their first vertices. */
typedef struct numbering {
    int *last;   /* (lines) section of the part last seen there, or -1 */
    int *part;   /* (lines) that part */
    int *member; /* (vertices) ascending by part */
    int *begin;  /* (parts + 1) */
} numbering;

static arap_status allocate(arap_context *context, const arap_mesh *mesh, arap_sections *s) {
    size_t springs = mesh->spring_start[mesh->count];
    s->bone = ARAP_TAKE(&s->arena, springs, int);
    s->strength = ARAP_TAKE_ZERO(&s->arena, springs, double);
    s->slack = ARAP_TAKE_ZERO(&s->arena, springs, double);
    s->mean = ARAP_TAKE(&s->arena, 4 * springs, double);
    s->start = ARAP_TAKE_ZERO(&s->arena, springs + 2, size_t);
    s->vertex = ARAP_TAKE(&s->arena, springs, int);
    s->base = ARAP_TAKE(&s->arena, springs, double);
    s->spring = ARAP_TAKE(&s->arena, springs, size_t);
    s->share = ARAP_TAKE(&s->arena, springs, double);
    s->tie = ARAP_TAKE_ZERO(&s->arena, mesh->count, double);
    s->energy = ARAP_TAKE(&s->arena, springs, double);
    s->own = ARAP_TAKE(&s->arena, springs, size_t);
    return arap_arena_status(&s->arena, &context->error, "the sections of limbs");
}

/* Find the section of each spring, -1: none, and the number of members, in start[section + 2]. */
static void number_sections(const arap_mesh *mesh, const arap_bone_lines *lines, numbering *n,
                            double share, int *section, double *base, arap_sections *s) {
    for (int i = 0; i < mesh->count; i++) n->begin[mesh->part[i]]++;
    for (int p = 0; p < mesh->part_count; p++) n->begin[p + 1] += n->begin[p];
    for (int i = mesh->count - 1; i >= 0; i--) n->member[--n->begin[mesh->part[i]]] = i;
    for (int k = 0; k < lines->count; k++) n->part[k] = -1;
    for (int m = 0; m < mesh->count; m++) {
        int i = n->member[m];
        for (size_t j = mesh->spring_start[i]; j < mesh->spring_start[i + 1]; j++) {
            const arap_spring *spring = &mesh->spring[j];
            int line;
            base[j] = reach_of(lines, spring, &line);
            section[j] = -1;
            if (!(base[j] > 0)) continue;
            if (n->part[line] != mesh->part[i]) {
                n->part[line] = mesh->part[i];
                n->last[line] = s->count;
                s->bone[s->count++] = spring->bone;
            }
            section[j] = n->last[line];
            s->strength[section[j]] += share * spring->strength;
            s->start[section[j] + 2]++;
        }
    }
}

static void find_slack(const arap_mesh *mesh, const arap_bone_lines *lines, arap_sections *s) {
    for (int k = 0; k < s->count; k++) {
        const arap_spring *first = &mesh->spring[s->spring[s->start[k]]];
        double length = lines->line[arap_nearest_line(lines, s->bone[k], first->point)].length;
        double sum = 0, radius = 0;
        for (size_t m = s->start[k]; m < s->start[k + 1]; m++) {
            const double *v = mesh->v + 3 * (size_t)s->vertex[m];
            radius += s->base[m] * sqrt(arap_distance2(v, mesh->spring[s->spring[m]].point));
            sum += s->base[m];
        }
        radius /= sum;
        s->slack[k] = SLACK * radius * fmin(1, radius / length);
    }
}

arap_status arap_sections_create(arap_context *context, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_poses *poses,
                                 double strength, arap_sections *sections) {
    arap_arena arena = {0};
    arap_bone_lines lines = {0};
    *sections = (arap_sections){0};
    if (!(strength > 0) || !mesh->spring_start || poses->bendy.count || poses->spines.count)
        return ARAP_OK;
    size_t springs = mesh->spring_start[mesh->count];
    arap_status status = arap_bone_lines_create(context, skeleton, &lines);
    int *section = ARAP_TAKE(&arena, springs, int);
    double *base = ARAP_TAKE(&arena, springs, double);
    numbering n = {.last = ARAP_TAKE(&arena, lines.count, int),
                   .part = ARAP_TAKE(&arena, lines.count, int),
                   .member = ARAP_TAKE(&arena, mesh->count, int),
                   .begin = ARAP_TAKE_ZERO(&arena, mesh->part_count + 1, int)};
    if (!status) status = allocate(context, mesh, sections);
    if (!status) status = arap_arena_status(&arena, &context->error, "the sections of limbs");
    if (status) goto done;
    number_sections(mesh, &lines, &n, strength, section, base, sections);
    for (int k = 0; k < sections->count; k++) sections->start[k + 2] += sections->start[k + 1];
    for (int i = 0; i < mesh->count; i++)
        for (size_t j = mesh->spring_start[i]; j < mesh->spring_start[i + 1]; j++) {
            if (section[j] < 0) continue;
            size_t m = sections->start[section[j] + 1]++;
            sections->vertex[m] = i;
            sections->base[m] = base[j];
            sections->spring[m] = j;
        }
    find_slack(mesh, &lines, sections);

done:
    arap_bone_lines_clear(&lines);
    arap_arena_clear(&arena);
    if (status) arap_sections_clear(sections);
    return status;
}

void arap_sections_clear(arap_sections *sections) {
    arap_arena_clear(&sections->patterns);
    arap_arena_clear(&sections->arena);
    *sections = (arap_sections){0};
}

static int is_fixed(const arap_influences *in, int i) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (!in->locked[e]) return 0;
    return 1;
}

/* Compute the shares of the members, their mean, and the ties. */
static void weigh(const arap_mesh *mesh, const arap_influences *in, arap_sections *s) {
    memset(s->tie, 0, (size_t)mesh->count * sizeof *s->tie);
    for (int k = 0; k < s->count; k++) {
        double sum = 0, *mean = s->mean + 4 * (size_t)k;
        memset(mean, 0, 4 * sizeof *mean);
        for (size_t m = s->start[k]; m < s->start[k + 1]; m++) {
            const arap_spring *spring = &mesh->spring[s->spring[m]];
            int out = spring->released || is_fixed(in, s->vertex[m]);
            s->share[m] = out ? 0 : spring->held * s->base[m];
            sum += s->share[m];
        }
        for (size_t m = s->start[k]; m < s->start[k + 1] && sum > 0; m++) {
            const double *v = mesh->v + 3 * (size_t)s->vertex[m];
            s->share[m] /= sum;
            for (int c = 0; c < 3; c++) mean[c] += s->share[m] * v[c];
            mean[3] += s->share[m];
            s->tie[s->vertex[m]] += s->strength[k] * s->share[m];
        }
    }
}

arap_status arap_sections_begin(arap_context *context, const arap_mesh *mesh,
                                const arap_influences *in, arap_sections *sections) {
    size_t places = 0, fill = 0;
    int bones = 0;
    arap_arena_clear(&sections->patterns);
    if (!sections->count) return ARAP_OK;
    for (size_t m = 0; m < sections->start[sections->count]; m++) {
        sections->own[m] = places;
        places += in->start[sections->vertex[m] + 1] - in->start[sections->vertex[m]];
    }
    for (int k = 0; k < sections->count; k++)
        if (sections->bone[k] >= bones) bones = sections->bone[k] + 1;
    for (size_t e = 0; e < in->start[in->count]; e++)
        if (in->bone[e] >= bones) bones = in->bone[e] + 1;
    int *at = ARAP_NEW(int, bones);
    sections->first = ARAP_TAKE(&sections->patterns, sections->count + 1, size_t);
    sections->bones = ARAP_TAKE(&sections->patterns, places + (size_t)sections->count, int);
    sections->place = ARAP_TAKE(&sections->patterns, places, int);
    arap_status status =
        arap_arena_status(&sections->patterns, &context->error, "the sections of limbs");
    if (!status && !at) status = arap_fail_memory(&context->error, "the sections of limbs");
    if (status) goto done;
    weigh(mesh, in, sections);
    for (int b = 0; b < bones; b++) at[b] = -1;
    for (int k = 0; k < sections->count; k++) {
        int count = 0, *bone = sections->bones + fill;
        sections->first[k] = fill;
        at[sections->bone[k]] = 0;
        bone[count++] = sections->bone[k];
        for (size_t m = sections->start[k]; m < sections->start[k + 1]; m++) {
            int *place = sections->place + sections->own[m];
            for (size_t e = in->start[sections->vertex[m]]; e < in->start[sections->vertex[m] + 1];
                 e++) {
                int b = in->bone[e];
                if (at[b] < 0) {
                    at[b] = count;
                    bone[count++] = b;
                }
                *place++ = at[b];
            }
        }
        for (int a = 0; a < count; a++) at[bone[a]] = -1;
        fill += (size_t)count;
    }
    sections->first[sections->count] = fill;
    sections->slope = ARAP_TAKE(&sections->patterns, 8 * fill, double);
    status = arap_arena_status(&sections->patterns, &context->error, "the sections of limbs");

done:
    arap_free(at);
    return status;
}

typedef struct add_task {
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_influences *in;
    arap_sections *sections;
} add_task;

/* Store sum_i c_i w_ib (v_i, 1) of the bones of a section in `moment`, less the mean for its own
 * bone. */
ARAP_WIDE_PART void find_moments(const add_task *t, int k, size_t count, double *moment) {
    const arap_sections *s = t->sections;
    memset(moment, 0, 4 * count * sizeof *moment);
    for (int c = 0; c < 4; c++) moment[c] = -s->mean[4 * (size_t)k + (size_t)c];
    for (size_t m = s->start[k]; m < s->start[k + 1]; m++) {
        const arap_v4 v = arap_point4(t->mesh->v + 3 * (size_t)s->vertex[m]);
        const double *w = t->in->weight + t->in->start[s->vertex[m]];
        size_t size = t->in->start[s->vertex[m] + 1] - t->in->start[s->vertex[m]];
        for (size_t e = 0; e < size; e++)
            *(arap_v4_at *)(moment + 4 * s->place[s->own[m] + e]) += s->share[m] * w[e] * v;
    }
}

/* Compare the mean of a section with the position to which its bone moves it, less the slack: slope
 * and energy. */
ARAP_WIDE_PART void add_section_plain(void *data, int k, int worker) {
    const add_task *t = data;
    arap_sections *s = t->sections;
    size_t first = s->first[k], count = s->first[k + 1] - first;
    double *moment = s->slope + 8 * first, *slope = moment + 4 * count, energy = 0;
    const int *bone = s->bones + first;
    (void)worker;
    find_moments(t, k, count, moment);
    memset(slope, 0, 4 * count * sizeof *slope);
    for (int p = 0; p < t->poses->count; p++) {
        const double *pose = t->poses->transform + 12 * (size_t)p * (size_t)t->poses->columns;
        double off[3] = {0}, weight = s->strength[k] * arap_pose_weight(t->poses, p);
        for (size_t a = 0; a < count; a++) {
            const arap_v4_at *x = (const arap_v4_at *)(pose + 12 * bone[a]);
            const arap_v4 u = *(const arap_v4_at *)(moment + 4 * a);
            for (int r = 0; r < 3; r++) off[r] += arap_dot4(x[r], u);
        }
        double far = sqrt(arap_dot(off, off)), slack = s->slack[k];
        for (int r = 0; r < 3; r++) off[r] *= far > slack ? 1 - slack / far : 0;
        energy += weight * arap_dot(off, off);
        if (!(far > slack)) continue; /* the slope is unchanged */
        for (size_t a = 0; a < count; a++) {
            const arap_v4_at *x = (const arap_v4_at *)(pose + 12 * bone[a]);
            arap_v4 sum = *(const arap_v4_at *)(slope + 4 * a);
            for (int r = 0; r < 3; r++) sum += weight * off[r] * x[r];
            *(arap_v4_at *)(slope + 4 * a) = sum;
        }
    }
    s->energy[k] = energy;
}
ARAP_WIDE_TASK(add_section)

arap_status arap_sections_add(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                              const arap_influences *in, arap_sections *sections, double *product,
                              double *energy) {
    add_task task = {mesh, poses, in, sections};
    *energy = 0;
    if (!sections->count) return ARAP_OK;
    arap_status status = arap_parallel_short(context, sections->count, add_section, &task);
    for (int k = 0; k < sections->count && !status; k++) {
        size_t first = sections->first[k], count = sections->first[k + 1] - first;
        const double *slope = sections->slope + 8 * first + 4 * count;
        *energy += sections->energy[k];
        for (size_t m = sections->start[k]; m < sections->start[k + 1]; m++) {
            const double *v = mesh->v + 3 * (size_t)sections->vertex[m];
            const int *place = sections->place + sections->own[m];
            for (size_t e = in->start[sections->vertex[m]]; e < in->start[sections->vertex[m] + 1];
                 e++) {
                const double *g = slope + 4 * *place++;
                product[e] += sections->share[m] * (arap_dot(g, v) + g[3]);
            }
        }
    }
    return status;
}
