/* The functions baseline_weights and skin_owners of the module: see the stubs. Arguments are
 * copied and the work runs without the GIL. Cost and failures are those of initial/baseline.c and
 * springs/owners.c. */
#include "python/functions.h"

#include "initial/baseline.h"
#include "python/report.h"
#include "rig/joint_skeleton.h"
#include "springs/owners.h"

PyObject *arap_py_baseline_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "baseline_weights",
        .names = "vertices triangles? bone_heads bone_tails? bone_parents * edges tets bone_ways "
                 "bone_deform handles progress threads **",
        .tables = {&arap_baseline_settings_table},
        .reads = ARAP_READ_BONES};
    arap_baseline_settings settings;
    void *const places[] = {&settings};
    arap_joint_skeleton joints;
    arap_influences weights = {0};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, places)) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_complete_bones(&call.run.context, &call.geometry, &call.bones, &joints);
    if (!call.status)
        call.status = arap_baseline_weights(&call.run.context, &call.geometry, &call.bones,
                                            call.in.handles, &settings, &weights);
    arap_joint_skeleton_clear(&joints);
    ARAP_END_WORK
    if (!call.status) arap_add_result(&call, arap_py_sparse_weights(&weights));
    arap_influences_clear(&weights);
    return arap_close(&call);
}

PyObject *arap_py_skin_owners(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "skin_owners",
        .names = "vertices triangles? bone_heads bone_tails? bone_parents * edges tets bone_ways "
                 "bone_deform progress threads",
        .reads = ARAP_READ_BONES};
    arap_joint_skeleton joints;
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    npy_intp n = call.geometry.vertex_count;
    int *owners = arap_new_result(&call, NPY_INT, 1, &n, NULL);
    if (!owners) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_complete_bones(&call.run.context, &call.geometry, &call.bones, &joints);
    if (!call.status)
        call.status = arap_find_owners(&call.run.context, &call.geometry, &call.bones, owners);
    arap_joint_skeleton_clear(&joints);
    ARAP_END_WORK
    return arap_close(&call);
}
