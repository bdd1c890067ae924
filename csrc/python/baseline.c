/* The functions baseline_weights and skin_owners of the module: see the stubs. Arguments are
 * copied and the work runs without the GIL. Cost and failures are those of initial/baseline.c and
 * springs/owners.c. */
#include "python/functions.h"

#include "initial/baseline.h"
#include "python/error.h"
#include "python/input.h"
#include "python/report.h"
#include "rig/joint_skeleton.h"
#include "springs/owners.h"

PyObject *arap_py_baseline_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "baseline_weights",
        .names = "vertices triangles? bone_heads bone_tails? bone_parents * edges tets bone_ways "
                 "bone_deform handles progress threads **",
        .tables = {&arap_baseline_settings_table}};
    PyObject *result = NULL;
    arap_baseline_settings settings;
    void *const places[] = {&settings};
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_joint_skeleton joints;
    arap_influences weights = {0};
    arap_py_context run;
    arap_status status;
    arap_baseline_settings_default(&settings);
    if (arap_open(&signature, args, kwargs, places, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones))
        goto done;
    ARAP_BEGIN_WORK
    status = arap_complete_bones(&run.context, &geometry, &bones, &joints);
    if (!status)
        status =
            arap_baseline_weights(&run.context, &geometry, &bones, in.handles, &settings, &weights);
    arap_joint_skeleton_clear(&joints);
    ARAP_END_WORK
    if (status)
        arap_raise(PyModule_GetState(module), &run.context);
    else
        result = arap_py_sparse_weights(&weights);
    arap_influences_clear(&weights);

done:
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_skin_owners(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "skin_owners",
        .names = "vertices triangles? bone_heads bone_tails? bone_parents * edges tets bone_ways "
                 "bone_deform progress threads"};
    PyObject *owners = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_joint_skeleton joints;
    arap_py_context run;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones))
        goto done;
    npy_intp n = geometry.vertex_count;
    owners = arap_new_ints(1, &n, NULL);
    if (!owners) goto done;
    ARAP_BEGIN_WORK
    status = arap_complete_bones(&run.context, &geometry, &bones, &joints);
    if (!status)
        status = arap_find_owners(&run.context, &geometry, &bones,
                                  PyArray_DATA((PyArrayObject *)owners));
    arap_joint_skeleton_clear(&joints);
    ARAP_END_WORK
    if (status) {
        arap_raise(PyModule_GetState(module), &run.context);
        Py_CLEAR(owners);
    }

done:
    arap_inputs_release(&in);
    return owners;
}
