/* Rigid parts of a solver: see rigid.h and rigid_parts.h.
 *
 * A part loses by one bone what the energy of its vertices is larger by, each with its own best
 * rotation, as a share of their rest energy; the bone is the one with the largest mean weight.
 * Loose parts are tried all at once, since they are tied to others by few edges only. Parts that
 * are images of each other become rigid together, to bones that are images, or not at all. What is
 * locked keeps a vertex out of any part, but for columns that are the same numbers in all of it;
 * a loose part with locked weights or with wanted ones is not tried.
 *
 * Two evaluations of the energy, O(entries) beside them. Fails without memory only. */
#include "solver/rigid.h"

#include <string.h>

#include "base/memory.h"
#include "energy/energy.h"
#include "solver/steering.h"

/* Are all input vertices of vertex v locked as input vertex `other` is? */
static int is_locked_as(const arap_solver *s, int v, int other) {
    for (int i = s->mesh.first[v]; i >= 0; i = s->mesh.next[i])
        if (!arap_same_locks(&s->locks, &s->skeleton, i, other)) return 0;
    return 1;
}

/* The vertices that their locks keep out: of each part those that differ from the first that is not
 * locked as a whole. */
static void keep_out(const arap_solver *s, char *kept_out) {
    for (int lead = 0; lead < s->mesh.count; lead++) {
        int first = -1;
        if (s->parts.number[lead] < 0 || s->parts.lead[lead] != lead) continue;
        for (int v = lead; v >= 0; v = s->parts.next[v]) {
            if (first < 0 && is_locked_as(s, v, s->mesh.first[v])) first = s->mesh.first[v];
            kept_out[v] = first < 0 || !is_locked_as(s, v, first);
        }
    }
}

/* The parts of the labels. */
static arap_status make_parts(arap_context *context, arap_solver *s) {
    arap_rigid_parts_clear(&s->parts);
    arap_status status =
        arap_rigid_parts_create(context, &s->mesh, &s->symmetry, s->rigid_labels, NULL, &s->parts);
    if (status || !s->locks.vertex || !s->parts.count) return status;
    char *kept_out = ARAP_NEW_ZERO(char, s->mesh.count);
    if (!kept_out) return arap_fail_memory(&context->error, "the rigid parts");
    keep_out(s, kept_out);
    arap_rigid_parts_clear(&s->parts);
    status = arap_rigid_parts_create(context, &s->mesh, &s->symmetry, s->rigid_labels, kept_out,
                                     &s->parts);
    arap_free(kept_out);
    return status;
}

arap_status arap_take_rigid_parts(arap_context *context, arap_solver *s, const arap_edits *edits) {
    size_t n = (size_t)s->mesh.input_count;
    s->found_rigid = 0;
    arap_free(s->rigid_labels);
    s->rigid_labels = NULL;
    if (edits->rigid_parts) {
        s->rigid_labels = ARAP_NEW(int, n);
        if (!s->rigid_labels) return arap_fail_memory(&context->error, "the rigid parts");
        memcpy(s->rigid_labels, edits->rigid_parts, n * sizeof(int));
    }
    return make_parts(context, s);
}

static arap_status share_parts(arap_context *context, const arap_solver *s, arap_influences *maps) {
    return arap_rigid_maps(context, &s->parts, &s->mesh, s->skeleton.deform_count, arap_closing(s),
                           s, maps);
}

arap_status arap_share_maps(arap_context *context, arap_solver *s, arap_influences *maps) {
    arap_status status = share_parts(context, s, maps);
    if (status || !s->symmetry.vertex) return status;
    status = arap_symmetry_maps(context, &s->symmetry, s->skeleton.deform_count, arap_closing(s), s,
                                maps);
    if (!status) status = share_parts(context, s, maps);
    if (!status && s->settings.rigid_influences == 1) arap_rigid_unmirror(&s->parts, &s->symmetry);
    return status;
}

/* Loose parts on trial. */
typedef struct trial {
    const arap_solver *solver;
    int *bone; /* (loose parts) that would move it, -1: not tried, or refused */
} trial;

/* Bone with the largest mean weight of each loose part; sums: (bones) scratch, all 0. vertices: of
 * the mesh, by part. */
static void choose_bones(trial *t, const int *vertices, double *sums) {
    const arap_solver *s = t->solver;
    const arap_influences *in = &s->influences;
    for (int k = 0, end; k < s->mesh.count; k = end) {
        int part = s->mesh.part[vertices[k]], best = 0, open = 1;
        for (end = k; end < s->mesh.count && s->mesh.part[vertices[end]] == part; end++) {
            int i = vertices[end];
            open &= !s->parts.count || s->parts.number[i] < 0;
            for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
                open &= !in->locked[e];
                sums[in->bone[e]] += s->mesh.area[i] * in->weight[e];
            }
        }
        for (int b = 0; b < s->skeleton.deform_count; b++) {
            if (sums[b] > sums[best] * (1 + 1e-9)) best = b;
        }
        memset(sums, 0, (size_t)s->skeleton.deform_count * sizeof *sums);
        t->bone[part] = open && end - k > 1 ? best : -1;
    }
    for (int r = s->constraints.peaks + s->constraints.attachments; r < s->constraints.list.count;
         r++)
        t->bone[s->mesh.part[s->constraints.list.rows[r].vertex]] = -1;
}

/* Vertices by part, those of each ascending. */
static void sort_vertices(const arap_mesh *mesh, int *first, int *vertices) {
    for (int i = 0; i < mesh->count; i++) first[mesh->part[i] + 1]++;
    for (int p = 0; p < mesh->part_count; p++) first[p + 1] += first[p];
    for (int i = 0; i < mesh->count; i++) vertices[first[mesh->part[i]]++] = i;
}

/* Refuse parts whose images are refused, or go with other bones. */
static void refuse_lopsided(const trial *t) {
    const arap_solver *s = t->solver;
    for (int changed = s->symmetry.vertex != NULL; changed;) {
        changed = 0;
        for (int i = 0; i < s->mesh.count; i++) {
            int part = s->mesh.part[i], image = s->symmetry.vertex[i];
            if (t->bone[part] < 0 || image < 0) continue;
            if (t->bone[s->mesh.part[image]] == s->symmetry.bone[t->bone[part]]) continue;
            t->bone[part] = -1;
            changed = 1;
        }
    }
}

/* The present rows, of the parts on trial the one bone; returns in *changed whether that is new. */
static arap_status make_rows(arap_context *context, const trial *t, arap_influences *out,
                             int *changed) {
    const arap_solver *s = t->solver;
    const arap_influences *in = &s->influences;
    int *sizes = ARAP_NEW(int, in->count);
    if (!sizes) return arap_fail_memory(&context->error, "the rigid parts");
    *changed = 0;
    for (int i = 0; i < in->count; i++) {
        int bone = t->bone[s->mesh.part[i]], own = (int)(in->start[i + 1] - in->start[i]);
        sizes[i] = bone < 0 ? own : 1;
        *changed |= bone >= 0 && (own != 1 || in->bone[in->start[i]] != bone);
    }
    arap_status status = arap_influences_create(context, in->count, sizes, out);
    arap_free(sizes);
    for (int i = 0; i < in->count && !status; i++) {
        int bone = t->bone[s->mesh.part[i]];
        size_t at = out->start[i], from = in->start[i], own = in->start[i + 1] - from;
        if (bone >= 0) {
            out->bone[at] = bone;
            out->weight[at] = 1;
            continue;
        }
        memcpy(out->bone + at, in->bone + from, own * sizeof *out->bone);
        memcpy(out->weight + at, in->weight + from, own * sizeof *out->weight);
        memcpy(out->locked + at, in->locked + from, own);
    }
    return status;
}

/* Refuse the parts that lose too much. loss: (loose parts, 2) scratch, all 0. */
static arap_status refuse_soft(arap_context *context, const trial *t, const arap_influences *rows,
                               double *loss) {
    const arap_solver *s = t->solver;
    const arap_mesh *mesh = &s->mesh;
    double *before = ARAP_NEW(double, 2 * (size_t)mesh->count), energy;
    if (!before) return arap_fail_memory(&context->error, "the rigid parts");
    double *after = before + mesh->count;
    arap_status status =
        arap_energy(context, mesh, &s->poses, &s->packed, &s->influences, &energy, before);
    if (!status) status = arap_energy(context, mesh, &s->poses, &s->packed, rows, &energy, after);
    for (int i = 0; i < mesh->count && !status; i++) {
        double rest, edge[3];
        arap_mesh_tie(mesh, i, &rest);
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
            arap_mesh_edge(mesh, i, r, edge);
            rest += mesh->edge_weight[r] * arap_dot(edge, edge);
        }
        loss[2 * mesh->part[i]] += (after[i] - before[i]) * rest;
        loss[2 * mesh->part[i] + 1] += rest;
    }
    for (int p = 0; p < mesh->part_count && !status; p++)
        if (!(loss[2 * p] <= s->settings.rigid_loss * loss[2 * p + 1])) t->bone[p] = -1;
    arap_free(before);
    return status;
}

/* The parts that are left become rigid: their labels follow those of the parts that there are. */
static arap_status add_parts(arap_context *context, arap_solver *s, const trial *t) {
    const arap_mesh *mesh = &s->mesh;
    int known = s->parts.count;
    if (!s->rigid_labels) s->rigid_labels = ARAP_NEW(int, mesh->input_count);
    if (!s->rigid_labels) return arap_fail_memory(&context->error, "the rigid parts");
    for (int i = 0; i < mesh->input_count; i++) {
        int v = mesh->weld[i], part = mesh->part[v];
        s->rigid_labels[i] = t->bone[part] >= 0 ? known + part : known ? s->parts.number[v] : -1;
    }
    arap_status status = make_parts(context, s);
    s->found_rigid = s->parts.count - known;
    if (!status) arap_marks_lead(&s->marks, &s->parts);
    return status;
}

arap_status arap_find_rigid_parts(arap_context *context, arap_solver *s, arap_influences *maps) {
    size_t n = (size_t)s->mesh.count, parts = (size_t)s->mesh.part_count;
    trial t = {.solver = s, .bone = ARAP_NEW(int, parts)};
    int *vertices = ARAP_NEW(int, n), *first = ARAP_NEW_ZERO(int, parts + 1), changed;
    double *sums = ARAP_NEW_ZERO(double, s->skeleton.deform_count),
           *loss = ARAP_NEW_ZERO(double, 2 * parts);
    arap_status status = ARAP_OK;
    *maps = (arap_influences){0};
    if (!t.bone || !vertices || !first || !sums || !loss) {
        status = arap_fail_memory(&context->error, "the rigid parts");
        goto done;
    }
    sort_vertices(&s->mesh, first, vertices);
    choose_bones(&t, vertices, sums);
    refuse_lopsided(&t);
    status = make_rows(context, &t, maps, &changed);
    if (!status) status = refuse_soft(context, &t, maps, loss);
    arap_influences_clear(maps);
    if (status) goto done;
    refuse_lopsided(&t);
    status = make_rows(context, &t, maps, &changed);
    if (!status) status = add_parts(context, s, &t);
    if (status || !changed) arap_influences_clear(maps);

done:
    arap_free(t.bone);
    arap_free(vertices);
    arap_free(first);
    arap_free(sums);
    arap_free(loss);
    return status;
}
