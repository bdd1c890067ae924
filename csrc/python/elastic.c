/* The module functions elastic_poses and mixed_elasticity. The stubs document them. Arguments are
 * copied and the work runs without the GIL. Cost and failures are those of elastic/elastic.h. */
#include "python/functions.h"

#include "extras/mixed.h"

PyObject *arap_py_elastic_poses(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "elastic_poses",
        .names = "vertices triangles? poses bone_heads bone_tails * weights bone_deform edges tets "
                 "per_iteration progress threads **",
        .tables = {&arap_elastic_settings_table},
        .reads = ARAP_READ_BONES | ARAP_READ_POSES | ARAP_READ_WEIGHTS};
    arap_elastic_settings settings;
    void *const places[] = {&settings};
    double *energies = NULL;
    arap_call call;
    if (!arap_open(&call, &signature, module, args, kwargs, places))
        call.status =
            arap_settings_check(&call.run.context.error, &arap_elastic_settings_table, &settings);
    if (call.status || PyErr_Occurred()) return arap_close(&call);
    npy_intp sizes[3] = {call.poses.count, call.geometry.vertex_count, 3};
    npy_intp numbers[2] = {settings.iterations + (npy_intp)1, call.poses.count};
    double *posed = arap_new_result(&call, NPY_DOUBLE, 3, sizes, NULL);
    if (call.in.per_iteration) energies = arap_new_result(&call, NPY_DOUBLE, 2, numbers, NULL);
    if (PyErr_Occurred()) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status =
        arap_elastic_poses(&call.run.context, &call.geometry, &call.bones, &call.poses,
                           call.in.weights ? &call.weights : NULL,
                           settings.method == ARAP_ELASTIC_MIXED ? arap_mixed_poses : arap_descend,
                           &settings, posed, energies);
    ARAP_END_WORK
    return arap_close(&call);
}

static PyObject *view_dict(const arap_mixed_view *view) {
    npy_intp n = view->vertices, h = view->samples, e = (npy_intp)view->elements;
    const npy_intp weights[2] = {e, h}, turns[2] = {h, 3}, points[2] = {n, 3},
                   matrices[3] = {e, 3, 3};
    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:d}", "samples", arap_new_ints(1, &h, view->sample),
        "weights", arap_new_doubles(2, weights, view->weight), "turns",
        arap_new_doubles(2, turns, view->turns), "rotations",
        arap_new_doubles(3, matrices, view->rotation), "stretches",
        arap_new_doubles(3, matrices, view->stretch), "points",
        arap_new_doubles(2, points, view->points), "pulls", arap_new_doubles(1, &n, view->pull),
        "gradient", arap_new_doubles(2, turns, view->gradient), "energy", view->energy);
}

PyObject *arap_py_mixed_elasticity(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "mixed_elasticity",
        .names = "vertices triangles? poses bone_heads bone_tails * turns bone_deform edges tets "
                 "progress threads hold samples",
        .tables = {&arap_elastic_settings_table},
        .reads = ARAP_READ_BONES | ARAP_READ_POSES};
    arap_elastic_settings settings;
    void *const places[] = {&settings};
    arap_mixed_view view;
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, places)) return arap_close(&call);
    npy_intp samples = arap_input_size(&call.in, 'k');
    if (call.in.turns && arap_check_finite(call.in.turns, 3 * samples, "turns"))
        return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_mixed_elasticity(&call.run.context, &call.geometry, &call.bones, &call.poses,
                                        &settings, (int)samples, call.in.turns, &view);
    ARAP_END_WORK
    if (!call.status) {
        arap_add_result(&call, view_dict(&view));
        arap_mixed_view_clear(&view);
    }
    return arap_close(&call);
}
