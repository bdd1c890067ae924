/* Performs one evaluation of the mixed method, for inspection: see mixed.h. The cost is that of
 * mixed_state.c. Fails if mixed_state.c fails. */
#include <string.h>

#include "base/memory.h"
#include "extras/mixed.h"
#include "measures/skinning.h"

static arap_status make_room(arap_context *context, const arap_mixed *mixed,
                             arap_mixed_view *view) {
    size_t samples = (size_t)mixed->samples.count, vertices = (size_t)view->vertices;
    view->samples = mixed->samples.count;
    view->elements = mixed->count;
    view->sample = ARAP_TAKE(&view->arena, samples, int);
    view->weight = ARAP_TAKE_ZERO(&view->arena, mixed->count * samples, double);
    view->turns = ARAP_TAKE(&view->arena, 3 * samples, double);
    view->rotation = ARAP_TAKE(&view->arena, 9 * mixed->count, double);
    view->stretch = ARAP_TAKE(&view->arena, 9 * mixed->count, double);
    view->points = ARAP_TAKE(&view->arena, 3 * vertices, double);
    view->pull = ARAP_TAKE(&view->arena, vertices, double);
    view->gradient = ARAP_TAKE(&view->arena, 3 * samples, double);
    return arap_arena_status(&view->arena, &context->error, "the view of the mixed elements");
}

static void fill_view(const arap_mixed *mixed, const double *x, arap_mixed_view *view) {
    const arap_mesh *mesh = &mixed->body->mesh;
    size_t samples = (size_t)view->samples;
    for (size_t s = 0; s < samples; s++) view->sample[s] = mesh->first[mixed->samples.vertex[s]];
    for (size_t t = 0; t < mixed->count; t++) {
        const arap_mixed_element *e = mixed->element + t;
        for (int k = 0; k < e->corners; k++)
            for (size_t s = 0; s < samples; s++)
                view->weight[t * samples + s] +=
                    mixed->samples.weight[(size_t)e->corner[k] * samples + s] / e->corners;
    }
    for (size_t i = 0; i < (size_t)view->vertices; i++) {
        size_t at = (size_t)mesh->weld[i];
        view->pull[i] = mixed->hold->strength[at];
        for (size_t c = 0; c < 3; c++)
            view->points[3 * i + c] = mesh->center[c] + mesh->diagonal * x[3 * at + c];
    }
}

static arap_status look(arap_context *context, const arap_mixed *mixed, const double *transforms,
                        int turn_count, const double *turns, arap_mixed_view *view) {
    arap_mixed_work work = {0};
    arap_mixed_pose pose = {0};
    double *x = ARAP_NEW(double, 3 * (size_t)mixed->hold->count);
    arap_status status = x ? make_room(context, mixed, view)
                           : arap_fail_memory(&context->error, "the view of the mixed elements");
    if (!status && turns && turn_count != view->samples)
        status = arap_fail(&context->error, ARAP_BAD_VALUE, "there are %d turns, but %d samples",
                           turn_count, view->samples);
    if (!status) status = arap_mixed_work_create(context, mixed, &work);
    if (!status) status = arap_mixed_pose_create(context, mixed, transforms, &pose, view->turns);
    if (status) goto done;
    if (turns) memcpy(view->turns, turns, 3 * (size_t)view->samples * sizeof *turns);
    status = arap_mixed_evaluate(context, mixed, &pose, view->turns, &work, &view->energy,
                                 view->gradient, x, view->stretch);
    if (status) goto done;
    memcpy(view->rotation, work.rotation, 9 * mixed->count * sizeof(double));
    fill_view(mixed, x, view);

done:
    arap_mixed_pose_clear(&pose);
    arap_mixed_work_clear(&work);
    arap_free(x);
    return status;
}

arap_status arap_mixed_elasticity(arap_context *context, const arap_geometry *geometry,
                                  const arap_bones *bones, const arap_given_poses *poses,
                                  const arap_elastic_settings *settings, int turn_count,
                                  const double *turns, arap_mixed_view *view) {
    arap_body body = {0};
    arap_bone_hold hold = {0};
    arap_skinning skinning = {0};
    arap_mixed mixed = {0};
    double *transforms = NULL;
    *view = (arap_mixed_view){.vertices = geometry->vertex_count};
    arap_status status =
        arap_settings_check(&context->error, &arap_elastic_settings_table, settings);
    if (!status) status = arap_progress(context, "mixed elements", 0);
    if (!status) status = arap_body_create(context, geometry, settings->bending, &body);
    if (!status) /* which checks the poses */
        status = arap_skinning_create(context, geometry->vertex_count, geometry->vertices, bones,
                                      poses, &skinning);
    if (!status)
        status =
            arap_bone_hold_create(context, &body, geometry->vertices, bones, NULL, settings->hold,
                                  settings->limb_hold, settings->inside, &hold);
    if (!status)
        status =
            arap_mixed_create(context, &body, &hold, settings->samples, settings->hold, &mixed);
    if (!status) {
        transforms = ARAP_NEW(double, 12 * (size_t)bones->count);
        if (!transforms) status = arap_fail_memory(&context->error, "the poses");
    }
    if (!status)
        status =
            arap_bone_hold_transforms(context, &body.mesh, bones, 1, poses->transforms, transforms);
    if (!status) status = look(context, &mixed, transforms, turn_count, turns, view);
    if (status) arap_mixed_view_clear(view);
    arap_free(transforms);
    arap_mixed_clear(&mixed);
    arap_skinning_clear(&skinning);
    arap_bone_hold_clear(&hold);
    arap_body_clear(&body);
    return status;
}

void arap_mixed_view_clear(arap_mixed_view *view) {
    arap_arena_clear(&view->arena);
    *view = (arap_mixed_view){0};
}
