/* Elastic poses: see elastic.h.
 *
 * A pose starts at the positions to which the given weights move the vertices. Vertices without
 * weights start at the position to which the nearest bone moves them. If no weights are given, this
 * applies to all vertices. From this start, descent.c minimizes the sum of the energies in body.c
 * and hold.c. The sum is not convex, so the result is a local minimum that depends on the start. As
 * an alternative, extras/mixed.c optimizes only the rotations of a few points. Costs as much as the
 * called functions, and fails if one of them fails. */
#include "elastic/elastic.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "measures/skinning.h"

static const arap_setting rows_of_settings[] = {
#define ARAP_SETTINGS_OF arap_elastic_settings
#define ARAP_SETTINGS_ELASTIC
#include "settings.def"
};
const arap_setting_table arap_elastic_settings_table = {
    sizeof rows_of_settings / sizeof *rows_of_settings, rows_of_settings};

typedef struct start {
    const arap_mesh *mesh;
    const arap_bone_hold *hold;
    const arap_skinning *skinning;
    const arap_influences *weights; /* NULL: none are given */
    double *x;                      /* (poses, count, 3) */
} start;

static void start_pose(void *data, int pose, int worker) {
    (void)worker;
    const start *s = data;
    const double *transform =
        s->skinning->transform + 12 * (size_t)s->skinning->bones * (size_t)pose;
    for (int i = 0; i < s->mesh->count; i++) {
        size_t from = (size_t)s->mesh->first[i];
        const double *v = s->skinning->points + 3 * from;
        double *x = s->x + 3 * ((size_t)s->mesh->count * (size_t)pose + (size_t)i), blend[12] = {0};
        size_t begin = s->weights ? s->weights->start[from] : 0,
               end = s->weights ? s->weights->start[from + 1] : 0;
        for (size_t e = begin; e < end; e++)
            for (int k = 0; k < 12; k++)
                blend[k] +=
                    s->weights->weight[e] * transform[12 * (size_t)s->weights->bone[e] + (size_t)k];
        const double *t = begin < end ? blend : transform + 12 * (size_t)s->hold->bone[i];
        for (int c = 0; c < 3; c++)
            x[c] = (arap_dot(t + 4 * c, v) + t[4 * c + 3] - s->mesh->center[c]) / s->mesh->diagonal;
    }
}

static void hand_out(const arap_mesh *mesh, size_t poses, const double *x, double *posed) {
    for (size_t p = 0; p < poses; p++)
        for (size_t i = 0; i < (size_t)mesh->input_count; i++) {
            const double *from = x + 3 * (p * (size_t)mesh->count + (size_t)mesh->weld[i]);
            double *to = posed + 3 * (p * (size_t)mesh->input_count + i);
            for (int c = 0; c < 3; c++) to[c] = mesh->center[c] + mesh->diagonal * from[c];
        }
}

arap_status arap_elastic_poses(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const arap_given_poses *poses,
                               const arap_sparse_weights *rows, arap_elastic_fn minimize,
                               const arap_elastic_settings *settings, double *posed,
                               double *energies) {
    arap_arena arena = {0};
    arap_body body = {0};
    arap_bone_hold hold = {0};
    arap_skinning skinning = {0};
    arap_influences weights = {0};
    double *x = NULL, *transforms = NULL;
    arap_status status =
        arap_settings_check(&context->error, &arap_elastic_settings_table, settings);
    if (!status) status = arap_progress(context, "elastic poses", 0);
    if (!status) status = arap_body_create(context, geometry, settings->bending, &body);
    if (!status)
        status = arap_skinning_create(context, geometry->vertex_count, geometry->vertices, bones,
                                      poses, &skinning);
    if (!status && rows) status = arap_skinning_weights(context, &skinning, rows, &weights);
    if (!status)
        status =
            arap_bone_hold_create(context, &body, geometry->vertices, bones, rows ? &weights : NULL,
                                  settings->hold, settings->limb_hold, settings->inside, &hold);
    if (status) goto done;
    size_t count = (size_t)poses->count * (size_t)bones->count;
    x = ARAP_TAKE(&arena, 3 * (size_t)poses->count * (size_t)body.mesh.count, double);
    transforms = ARAP_TAKE(&arena, 12 * count, double);
    status = arap_arena_status(&arena, &context->error, "the elastic poses");
    if (status) goto done;
    status = arap_bone_hold_transforms(context, &body.mesh, bones, (size_t)poses->count,
                                       poses->transforms, transforms);
    if (status) goto done;
    status = arap_parallel(context, poses->count, start_pose,
                           &(start){&body.mesh, &hold, &skinning, rows ? &weights : NULL, x});
    if (status) goto done;
    status = minimize(context, &body, &hold, bones->count, poses->count, transforms, settings, x,
                      energies);
    if (!status) hand_out(&body.mesh, (size_t)poses->count, x, posed);

done:
    arap_body_clear(&body);
    arap_bone_hold_clear(&hold);
    arap_skinning_clear(&skinning);
    arap_influences_clear(&weights);
    arap_arena_clear(&arena);
    return status;
}
