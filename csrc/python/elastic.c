/* The module functions elastic_poses and mixed_elasticity. The stubs document them. Arguments are
 * copied and the work runs without the GIL. Cost and failures are those of elastic/elastic.h. */
#include "python/functions.h"

#include "extras/mixed.h"
#include "python/error.h"
#include "python/input.h"

PyObject *arap_py_elastic_poses(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "elastic_poses",
        .names = "vertices triangles? poses bone_heads bone_tails * weights bone_deform edges tets "
                 "per_iteration progress threads **",
        .tables = {&arap_elastic_settings_table}};
    PyObject *posed = NULL, *energies = NULL;
    arap_inputs in;
    arap_elastic_settings settings;
    void *const places[] = {&settings};
    arap_geometry geometry;
    arap_bones bones;
    arap_given_poses given;
    arap_sparse_weights rows;
    arap_py_context run;
    arap_status status;
    arap_elastic_settings_default(&settings);
    if (arap_open(&signature, args, kwargs, places, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones) ||
        arap_some_poses_from_inputs(&in, &bones, &given) ||
        arap_sparse_weights_from_inputs(&in, &rows))
        goto done;
    status = arap_settings_check(&run.context.error, &arap_elastic_settings_table, &settings);
    if (status) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    npy_intp sizes[3] = {given.count, geometry.vertex_count, 3};
    npy_intp numbers[2] = {settings.iterations + (npy_intp)1, given.count};
    posed = arap_new_doubles(3, sizes, NULL);
    if (posed && in.per_iteration) energies = arap_new_doubles(2, numbers, NULL);
    if (PyErr_Occurred()) goto done;
    double *out = PyArray_DATA((PyArrayObject *)posed),
           *each = energies ? PyArray_DATA((PyArrayObject *)energies) : NULL;
    ARAP_BEGIN_WORK
    status =
        arap_elastic_poses(&run.context, &geometry, &bones, &given, in.weights ? &rows : NULL,
                           settings.method == ARAP_ELASTIC_MIXED ? arap_mixed_poses : arap_descend,
                           &settings, out, each);
    ARAP_END_WORK
    posed = arap_finish(PyModule_GetState(module), &run, status, posed);

done:
    arap_inputs_release(&in);
    if (posed && !PyErr_Occurred())
        return energies ? Py_BuildValue("(NN)", posed, energies) : posed;
    Py_XDECREF(posed);
    Py_XDECREF(energies);
    return NULL;
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
        .tables = {&arap_elastic_settings_table}};
    PyObject *result = NULL;
    arap_inputs in;
    arap_elastic_settings settings;
    void *const places[] = {&settings};
    arap_geometry geometry;
    arap_bones bones;
    arap_given_poses given;
    arap_mixed_view view;
    arap_py_context run;
    arap_status status;
    arap_elastic_settings_default(&settings);
    if (arap_open(&signature, args, kwargs, places, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones) ||
        arap_some_poses_from_inputs(&in, &bones, &given) ||
        (in.turns && arap_check_finite(in.turns, 3 * arap_input_size(&in, 'k'), "turns")))
        goto done;
    ARAP_BEGIN_WORK
    status = arap_mixed_elasticity(&run.context, &geometry, &bones, &given, &settings,
                                   (int)arap_input_size(&in, 'k'), in.turns, &view);
    ARAP_END_WORK
    if (status) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    result = view_dict(&view);
    arap_mixed_view_clear(&view);

done:
    arap_inputs_release(&in);
    return result;
}
