/* The truss: see truss.h. */
#include "truss.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bvh.h"
#include "heat.h"
#include "memory.h"
#include "vec3.h"

#define CHUNK 256

static double tune(const char *name, double value) {
    const char *text = getenv(name);
    return text ? atof(text) : value;
}

double arap_mesh_tie(const arap_mesh *mesh, int i, double *rest) {
    const arap_spoke *spoke;
    double sum = 0, energy = 0;
    for (int left = arap_mesh_spokes(mesh, i, &spoke); left; left--, spoke++) {
        sum += spoke->weight;
        energy += spoke->weight * arap_distance2(spoke->point, mesh->v + 3 * (size_t)i);
    }
    if (rest) *rest = energy;
    return sum;
}

typedef struct bone_line {
    const double *head;
    double along[3], length; /* unit vector */
    int head_jointed, tail_jointed;
} bone_line;

typedef struct truss {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    bone_line *line;   /* (bones) */
    int bones;
    int *near;         /* (vertices) nearest bone */
    double *distance;  /* (vertices) to it */
    const char *open;  /* (parts, bones) the part surrounds the bone, or hangs on it */
    double strength;
    double *radius;    /* (parts, bones) mean distance, 0: unknown */
} truss;

static double to_line(const bone_line *l, const double *p, double *t, double *point) {
    double from[3];
    arap_sub(p, l->head, from);
    *t = fmin(fmax(arap_dot(from, l->along), 0), l->length);
    for (int c = 0; c < 3; c++) point[c] = l->head[c] + *t * l->along[c];
    return sqrt(arap_distance2(p, point));
}

static void find_near(void *data, int chunk, int worker) {
    (void)worker;
    const truss *t = data;
    int end = (chunk + 1) * CHUNK < t->mesh->count ? (chunk + 1) * CHUNK : t->mesh->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        double least = INFINITY, u, point[3];
        const char *open = t->open ? t->open + (size_t)t->mesh->part[i] * (size_t)t->bones : NULL;
        t->near[i] = -1;
        for (int b = 0; b < t->bones; b++) {
            if (open && !open[b]) continue;
            double d = to_line(&t->line[b], t->mesh->v + 3 * (size_t)i, &u, point);
            if (d < least * (1 - 1e-9)) {
                least = d;
                t->near[i] = b;
            }
        }
        t->distance[i] = least;
    }
}


typedef struct ray {
    const truss *t;
    int bone;
    double *nearest; /* (parts) share of the ray at which it first meets each part */
    int *hit, count; /* the parts that it meets */
} ray;

/* An arap_hit_fn that notes where the ray meets a triangle and goes on. */
static int note_hit(const void *data, int index, const double *a, const double *b) {
    ray *r = *(ray *const *)data;
    const arap_mesh *mesh = r->t->mesh;
    const int *tri = mesh->triangles + 3 * (size_t)index;
    const double *p = mesh->v + 3 * (size_t)tri[0], *q = mesh->v + 3 * (size_t)tri[1],
                 *s = mesh->v + 3 * (size_t)tri[2];
    double d[3], e1[3], e2[3], h[3], from[3], k[3];
    arap_sub(b, a, d);
    arap_sub(q, p, e1);
    arap_sub(s, p, e2);
    arap_cross(d, e2, h);
    double det = arap_dot(e1, h);
    if (det == 0) return 0;
    arap_sub(a, p, from);
    double u = arap_dot(from, h) / det;
    if (!(u >= -1e-9 && u <= 1 + 1e-9)) return 0;
    arap_cross(from, e1, k);
    double v = arap_dot(d, k) / det, at = arap_dot(e2, k) / det;
    if (!(v >= -1e-9 && u + v <= 1 + 1e-9 && at >= 0 && at <= 1)) return 0;
    int part = mesh->part[tri[0]];
    if (r->nearest[part] > 1) r->hit[r->count++] = part;
    r->nearest[part] = fmin(r->nearest[part], at);
    return 0;
}

#define RAYS 12
#define SECTIONS 4

/* Is the bone in the middle of each part? cover (parts): 1 where it is. */
static void look_around(const truss *t, const arap_bvh *faces, int bone, double *nearest, int *hit,
                        double *sums, char *cover) {
    const bone_line *l = &t->line[bone];
    const arap_mesh *mesh = t->mesh;
    double helper[3] = {0, 0, 0}, x[3], y[3], reach = tune("T_RAY", 0.3) * mesh->size;
    int least = 0, parts = mesh->part_count;
    memset(cover, 0, (size_t)parts);
    if (l->length < 1e-6) return;
    for (int c = 1; c < 3; c++)
        if (fabs(l->along[c]) < fabs(l->along[least])) least = c;
    helper[least] = 1;
    arap_cross(l->along, helper, x);
    double norm = 1 / sqrt(arap_dot(x, x));
    for (int c = 0; c < 3; c++) x[c] *= norm;
    arap_cross(l->along, x, y);
    memset(sums, 0, 4 * (size_t)parts * sizeof *sums);
    for (int k = 0; k < SECTIONS * RAYS; k++) {
        double angle = 2 * 3.141592653589793 * (k % RAYS + 0.25) / RAYS, a[3], b[3];
        double place = l->length * (k / RAYS + 0.5) / SECTIONS;
        for (int c = 0; c < 3; c++) {
            a[c] = l->head[c] + place * l->along[c];
            b[c] = a[c] + reach * (cos(angle) * x[c] + sin(angle) * y[c]);
        }
        ray r = {t, bone, nearest, hit, 0}, *pointer = &r;
        arap_bvh_crossed(faces, a, b, note_hit, &pointer);
        for (int j = 0; j < r.count; j++) {
            double *sum = sums + 4 * hit[j], d = nearest[hit[j]];
            sum[0] += 1;
            sum[1] += d;
            sum[2] += d * cos(angle);
            sum[3] += d * sin(angle);
            nearest[hit[j]] = 2;
        }
    }
    for (int p = 0; p < parts; p++) {
        const double *sum = sums + 4 * p;
        double off = sqrt(sum[2] * sum[2] + sum[3] * sum[3]);
        cover[p] = sum[0] >= tune("T_COVER", 0.6) * SECTIONS * RAYS &&
                   off <= tune("T_OFF", 0.5) * sum[1];
    }
}

static arap_status judge_parts(arap_job *job, truss *t, char *open) {
    const arap_mesh *mesh = t->mesh;
    size_t n = (size_t)mesh->count, parts = (size_t)mesh->part_count, bones = (size_t)t->bones;
    double *mass = ARAP_NEW_ZERO(double, parts *bones), *nearest = ARAP_NEW(double, parts),
           *sums = ARAP_NEW(double, 4 * parts);
    int *hit = ARAP_NEW(int, parts);
    char *cover = ARAP_NEW(char, parts);
    arap_bvh *faces = NULL;
    arap_status status = ARAP_OK;
    if (!mass || !nearest || !sums || !hit || !cover) {
        status = arap_fail_memory(&job->error, "the truss");
        goto done;
    }
    status = arap_face_bvh(job, mesh, NULL, &faces);
    if (status) goto done;
    for (size_t i = 0; i < n; i++)
        mass[(size_t)mesh->part[i] * bones + (size_t)t->near[i]] += mesh->area[i];
    for (size_t p = 0; p < parts; p++) nearest[p] = 2;
    for (size_t b = 0; b < bones; b++) {
        int any = 0;
        size_t best = 0;
        look_around(t, faces, (int)b, nearest, hit, sums, cover);
        for (size_t p = 0; p < parts; p++) {
            int all = cover[p] && mass[p * bones + b] > 0;
            open[p * bones + b] = (char)all;
            any |= all;
            if (mass[p * bones + b] > mass[best * bones + b] * (1 + 1e-9)) best = p;
        }
        if (!any && mass[best * bones + b] > 0 && tune("T_PRIMARY", 1) > 0)
            open[best * bones + b] = 1;
    }
    for (size_t p = 0; p < parts; p++) {
        size_t best = 0;
        int any = 0;
        for (size_t b = 0; b < bones; b++) {
            any |= open[p * bones + b];
            if (mass[p * bones + b] > mass[p * bones + best] * (1 + 1e-9)) best = b;
        }
        if (!any) open[p * bones + best] = 2;
    }

done:
    arap_bvh_free(faces);
    arap_free(mass);
    arap_free(nearest);
    arap_free(sums);
    arap_free(hit);
    arap_free(cover);
    return status;
}

static arap_status make_lines(arap_job *job, truss *t) {
    const arap_skeleton *s = t->skeleton;
    t->bones = s->deform_count;
    t->line = ARAP_NEW_ZERO(bone_line, t->bones);
    if (!t->line) return arap_fail_memory(&job->error, "the truss");
    for (int d = 0; d < t->bones; d++) {
        bone_line *l = &t->line[d];
        int b = s->deform_bone[d];
        l->head = s->heads + 3 * b;
        arap_sub(s->tails + 3 * b, l->head, l->along);
        l->length = sqrt(arap_dot(l->along, l->along));
        for (int c = 0; c < 3; c++) l->along[c] = l->length > 0 ? l->along[c] / l->length : 0;
        l->head_jointed = s->deform_parent[d] >= 0;
        for (int e = 0; e < t->bones; e++)
            l->tail_jointed |= s->deform_parent[e] == d &&
                               arap_distance2(s->heads + 3 * s->deform_bone[e],
                                              s->tails + 3 * b) < 0.09 * l->length * l->length;
    }
    return ARAP_OK;
}

/* The spoke of vertex i to a bone. */
static arap_spoke make_spoke(const truss *t, const arap_bendy *bendy, int i, int bone,
                             double radius) {
    const bone_line *l = &t->line[bone];
    arap_spoke spoke = {.bone = bone};
    double along, d = to_line(l, t->mesh->v + 3 * (size_t)i, &along, spoke.point);
    double unit = t->mesh->unit > 0 ? t->mesh->unit : 0.02 * t->mesh->size;
    double end = INFINITY, soft = tune("T_SOFT", 0), softl = tune("T_SOFTL", 0);
    arap_place_columns(bendy, bone, l->length > 0 ? along / l->length : 0, spoke.column,
                       spoke.share);
    d = fmax(d, 0.2 * radius);
    if (l->head_jointed) end = fmin(end, along);
    if (l->tail_jointed) end = fmin(end, l->length - along);
    double f = 1;
    if (soft + softl > 0) {
        double x = fmin(1, end / fmax(soft * radius + softl * l->length, 1e-9));
        f = fmax(tune("T_FLOOR", 0.05), x * x * (3 - 2 * x));
    }
    spoke.weight = f * t->strength * t->mesh->area[i] / 3 * unit * unit / fmax(d * d, 1e-12);
    return spoke;
}

static void add_rest(arap_mesh *mesh) {
    for (int i = 0; i < mesh->count; i++) {
        double rest;
        arap_mesh_tie(mesh, i, &rest);
        mesh->rest_energy += rest;
    }
}

/* The image of a spoke. */
static arap_spoke reflect(const truss *t, const arap_bendy *bendy, const arap_mirror *mirror,
                          const arap_spoke *spoke) {
    arap_spoke out = *spoke;
    out.bone = mirror->bone[spoke->bone];
    arap_reflect(mirror, spoke->point, mirror->offset, out.point);
    const bone_line *l = &t->line[out.bone];
    double along, point[3];
    to_line(l, out.point, &along, point);
    arap_place_columns(bendy, out.bone, l->length > 0 ? along / l->length : 0, out.column,
                       out.share);
    return out;
}

static void arap_bone_distances(truss *t, const int *given) {
    for (int i = 0; i < t->mesh->count; i++) {
        double along, point[3];
        t->near[i] = given[i];
        if (given[i] >= 0)
            t->distance[i] =
                to_line(&t->line[given[i]], t->mesh->v + 3 * (size_t)i, &along, point);
    }
}

/* Put the spokes, at most one of a vertex, into the mesh, symmetric ones where there are partners. */
static arap_status place(arap_job *job, arap_mesh *mesh, const truss *t, const arap_bendy *bendy,
                         const arap_mirror *mirror, const arap_spoke *own) {
    size_t n = (size_t)mesh->count, fill = 0;
    mesh->spoke_start = ARAP_NEW(size_t, n + 1);
    mesh->spoke = ARAP_NEW(arap_spoke, 2 * n);
    if (!mesh->spoke_start || !mesh->spoke) return arap_fail_memory(&job->error, "the truss");
    for (size_t i = 0; i < n; i++) {
        int image = mirror->vertex ? mirror->vertex[i] : -1;
        const arap_spoke *from = &own[image >= 0 && image < (int)i ? image : (int)i];
        mesh->spoke_start[i] = fill;
        if (from->bone < 0) continue;
        int partner = image >= 0 ? mirror->bone[from->bone] : -1;
        if (image < 0 || partner < 0 || image > (int)i) {
            if (own[i].bone >= 0) mesh->spoke[fill++] = own[i];
        } else if (image < (int)i) {
            mesh->spoke[fill++] = reflect(t, bendy, mirror, from);
        } else {
            arap_spoke half = own[i];
            if (partner != half.bone) half.weight /= 2;
            mesh->spoke[fill++] = half;
            if (partner != half.bone) mesh->spoke[fill++] = reflect(t, bendy, mirror, &half);
        }
    }
    mesh->spoke_start[n] = fill;
    if (getenv("T_DEBUG")) {
        for (int b = 0; b < t->bones; b++) {
            int c = 0;
            double w = 0;
            for (size_t j = 0; j < fill; j++)
                if (mesh->spoke[j].bone == b) c++, w += mesh->spoke[j].weight;
            fprintf(stderr, "SPOKES %d %d %d %g\n", (int)n, t->skeleton->deform_bone[b], c, w);
        }
    }
    add_rest(mesh);
    return ARAP_OK;
}

arap_status arap_truss_create(arap_job *job, arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bendy *bendy, const arap_mirror *mirror, double strength,
                              const int *given) {
    size_t n = (size_t)mesh->count, pairs;
    truss t = {.mesh = mesh, .skeleton = skeleton, .strength = strength};
    char *open = NULL;
    arap_spoke *own = NULL;
    double *top = NULL;
    int chunks = (mesh->count + CHUNK - 1) / CHUNK;
    if (!(strength > 0)) return ARAP_OK;
    arap_status status = arap_progress(job, "truss", 0);
    if (!status) status = make_lines(job, &t);
    if (status) return status;
    pairs = (size_t)mesh->part_count * (size_t)t.bones;
    t.near = ARAP_NEW(int, n);
    t.distance = ARAP_NEW(double, n);
    t.radius = ARAP_NEW_ZERO(double, pairs);
    open = ARAP_NEW_ZERO(char, pairs);
    own = ARAP_NEW(arap_spoke, n);
    top = ARAP_NEW_ZERO(double, pairs);
    if (!t.near || !t.distance || !t.radius || !open || !own || !top) {
        status = arap_fail_memory(&job->error, "the truss");
        goto done;
    }
    if (given) {
        arap_bone_distances(&t, given);
    } else {
        arap_parallel(job, chunks, find_near, &t);
        status = judge_parts(job, &t, open);
        if (status) goto done;
        t.open = open;
        arap_parallel(job, chunks, find_near, &t);
    }
    for (size_t i = 0; i < n; i++) {
        if (t.near[i] < 0) continue;
        size_t pair = (size_t)mesh->part[i] * (size_t)t.bones + (size_t)t.near[i];
        t.radius[pair] += mesh->area[i] * t.distance[i];
        top[pair] += mesh->area[i];
    }
    for (size_t p = 0; p < pairs; p++) t.radius[p] /= fmax(top[p], 1e-300);
    double reach = tune("T_REACH", 2.5);
    for (size_t i = 0; i < n; i++) {
        own[i].bone = -1;
        if (t.near[i] < 0) continue;
        size_t pair = (size_t)mesh->part[i] * (size_t)t.bones + (size_t)t.near[i];
        double radius = open[pair] == 2 ? fmax(t.radius[pair], t.line[t.near[i]].length / 3)
                                        : t.radius[pair];
        if (given || open[pair] == 2 || t.distance[i] <= reach * radius)
            own[i] = make_spoke(&t, bendy, (int)i, t.near[i], radius);
    }
    status = place(job, mesh, &t, bendy, mirror, own);

done:
    arap_free(t.line);
    arap_free(t.near);
    arap_free(t.distance);
    arap_free(t.radius);
    arap_free(open);
    arap_free(own);
    arap_free(top);
    return status;
}

void arap_truss_yield(arap_mesh *mesh, const double *strain) {
    double limit = tune("T_YIELD", 0);
    for (size_t j = 0; limit > 0 && j < mesh->spoke_start[mesh->count]; j++) {
        double x = strain[j] / (limit * limit);
        mesh->spoke[j].weight /= (1 + x) * (1 + x);
    }
}
