/* Weakening of springs: see bone_springs.h.
 *
 * Let q be the mean squared relative error over the poses that the weights leave to a spring
 * (bone_springs.c), and g = (1 + q / YIELD^2)^-2, the weight of a robust estimator (Geman & McClure
 * 1987). From the next stage on, the spring keeps the share h = max(WEAKEST, g / sqrt(best g of its
 * bone)) of its strength. Springs of the main mesh (mesh.h) have their own best g. Springs have to
 * give way because webs between fingers and skirts around two legs cannot follow one bone. The
 * square root preserves the influence of short bones. If all springs of a neck or a vertebra have
 * large errors, they would otherwise give way until the bone moves nothing. q comes from the Gram
 * matrix of the poses and the local step's R_i (x - v_i).
 *
 * Takes O(springs x influences^2) time and O(influences + bones) memory. Only arap_springs_yield
 * can fail, on out-of-memory. */
#include "springs/bone_springs.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"

#define YIELD 0.3   /* relative error at which a spring keeps a quarter of its strength */
#define WEAKEST 0.1 /* share that is always left */
#define CHUNK 32    /* vertices of a task */

static double weight_of(const arap_spring *spring) {
    return spring->released ? 0 : spring->held * spring->strength;
}

static int are_weighed(const arap_spring *spring, const arap_spring *end) {
    while (spring < end && spring->weight == weight_of(spring)) spring++;
    return spring == end;
}

void arap_springs_weigh(arap_mesh *mesh) {
    for (int i = 0; i < mesh->count; i++) {
        double before, after;
        arap_spring *spring = mesh->spring + mesh->spring_start[i];
        const arap_spring *end = mesh->spring + mesh->spring_start[i + 1];
        if (are_weighed(spring, end)) continue; /* adds nothing */
        arap_mesh_tie(mesh, i, &before);
        for (; spring < end; spring++) spring->weight = weight_of(spring);
        arap_mesh_tie(mesh, i, &after);
        mesh->rest_energy += after - before;
    }
}

/* A point moved by `share` of a column, which is a term of sum_terms y G y. */
typedef struct term {
    int column;
    double y[4];
} term;

static term make_term(int column, double share, const double *point) {
    return (term){column, {share * point[0], share * point[1], share * point[2], share}};
}

/* Mean squared relative error of spring j of vertex i. terms: scratch */
static double spring_error(const arap_mesh *mesh, const arap_poses *poses,
                           const arap_influences *in, int i, const arap_spring *spring,
                           double along, term *terms) {
    const double *v = mesh->v + 3 * (size_t)i;
    double sum = 0, rest = poses->total * arap_distance2(spring->point, v);
    int count = 0;
    for (int k = 0; k < 2 && spring->share[k] > 0; k++)
        terms[count++] = make_term(spring->column[k], spring->share[k], spring->point);
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        int column[2];
        double share[2];
        int columns = arap_bone_columns(&poses->bendy, i, in->bone[e], column, share);
        for (int k = 0; k < columns; k++)
            terms[count++] = make_term(column[k], -in->weight[e] * share[k], v);
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            size_t pair =
                (size_t)terms[a].column * (size_t)poses->columns + (size_t)terms[b].column;
            const double *g = poses->gram + 16 * pair;
            for (int r = 0; r < 4; r++)
                for (int c = 0; c < 4; c++) sum += terms[a].y[r] * g[4 * r + c] * terms[b].y[c];
        }
    return rest > 0 ? fmax(0, (sum - 2 * along + rest) / rest) : 0;
}

/* Compute a robust weight of each spring and store it temporarily in `held`. */
typedef struct yield_task {
    arap_mesh *mesh;
    const arap_poses *poses;
    const arap_influences *in;
    const double *along;
    term *terms; /* (workers, most) */
    size_t max;
} yield_task;

static void yield_chunk(void *data, int chunk, int worker) {
    const yield_task *y = data;
    arap_mesh *mesh = y->mesh;
    int end = arap_chunk_end(chunk, CHUNK, mesh->count);
    for (int i = chunk * CHUNK; i < end; i++)
        for (size_t j = mesh->spring_start[i]; j < mesh->spring_start[i + 1]; j++) {
            arap_spring *spring = &mesh->spring[j];
            double error = spring_error(mesh, y->poses, y->in, i, spring, y->along[j],
                                        y->terms + (size_t)worker * arap_apart(y->max));
            double give = 1 + error / (YIELD * YIELD);
            spring->held = 1 / (give * give);
        }
}

arap_status arap_springs_yield(arap_context *context, arap_mesh *mesh, const arap_poses *poses,
                               const arap_influences *influences, const double *along) {
    size_t widest = 0;
    for (int i = 0; i < influences->count; i++) {
        size_t size = influences->start[i + 1] - influences->start[i];
        if (size > widest) widest = size;
    }
    arap_status status = arap_poses_gram_of(context, mesh, poses, influences);
    if (status) return status;
    arap_arena arena = {0};
    yield_task y = {mesh, poses, influences, along, NULL, 2 * widest + 2};
    y.terms = ARAP_TAKE(&arena, (size_t)context->threads * arap_apart(y.max), term);
    /* of each bone, for vertices outside the main mesh and of it */
    double *best = ARAP_TAKE_ZERO(&arena, 2 * (size_t)poses->columns, double);
    status = arap_arena_status(&arena, &context->error, "bone springs");
    if (status) goto done;
    status = arap_parallel_short(context, arap_chunks(mesh->count, CHUNK), yield_chunk, &y);
    if (status) goto done;
    for (int i = 0; i < mesh->count; i++)
        for (size_t j = mesh->spring_start[i]; j < mesh->spring_start[i + 1]; j++) {
            double *max = &best[2 * mesh->spring[j].bone + mesh->main[i]];
            *max = fmax(*max, mesh->spring[j].held);
        }
    for (int i = 0; i < mesh->count; i++)
        for (size_t j = mesh->spring_start[i]; j < mesh->spring_start[i + 1]; j++) {
            arap_spring *spring = &mesh->spring[j];
            double max = best[2 * spring->bone + mesh->main[i]];
            spring->held = fmax(WEAKEST, max > 0 ? spring->held / sqrt(max) : 0);
        }
    arap_springs_weigh(mesh);

done:
    arap_arena_clear(&arena);
    return status;
}

void arap_springs_inherit(arap_mesh *mesh, const arap_mesh *coarse, const int *cluster) {
    for (int i = 0; i < mesh->count; i++) {
        const arap_spring *from;
        int any = arap_mesh_springs(coarse, cluster[i], &from);
        for (size_t j = mesh->spring_start[i]; any && j < mesh->spring_start[i + 1]; j++)
            mesh->spring[j].held = from->held;
    }
    arap_springs_weigh(mesh);
}

void arap_springs_release(arap_mesh *mesh, const arap_rigid_parts *parts, const arap_marks *marks) {
    for (int i = 0; i < mesh->count; i++)
        for (size_t j = mesh->spring_start[i]; j < mesh->spring_start[i + 1]; j++) {
            arap_spring *spring = &mesh->spring[j];
            int mark = arap_find_mark(marks, arap_lead(parts, i), spring->bone);
            spring->released = (mark & (ARAP_RELEASED | ARAP_EXCLUDED)) != 0;
        }
    arap_springs_weigh(mesh);
}
