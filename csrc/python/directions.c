/* The function bone_directions of the module: see the stubs. Arguments are copied and the work runs
 * without the GIL. Cost and failures are those of rig/bone_tails.c and rig/joint_skeleton.c. */
#include "python/functions.h"

#include "rig/bone_tails.h"
#include "rig/joint_skeleton.h"
#include "rig/skeleton.h"

/* Examine the tails and their directions. `made` is filled only if just the joints are
 * meaningful. */
static arap_status find_directions(arap_context *context, const arap_geometry *geometry,
                                   const arap_bones *bones, arap_tail_study *tails,
                                   arap_joint_skeleton *made) {
    *made = (arap_joint_skeleton){0};
    arap_status status = arap_check_geometry(&context->error, geometry);
    if (!status) status = arap_check_bones(&context->error, bones);
    if (!status) status = arap_check_parents(&context->error, bones->count, bones->parents);
    if (!status) status = arap_study_tails(context, bones, tails);
    if (!status && tails->are != ARAP_TAILS_MEANT)
        status = arap_joint_skeleton_create(context, geometry, bones, tails->are, made);
    return status;
}

PyObject *arap_py_bone_directions(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "bone_directions",
        .names = "vertices triangles? bone_heads bone_tails? bone_parents * bone_deform edges tets "
                 "progress threads",
        .reads = ARAP_READ_BONES};
    arap_tail_study tails;
    arap_joint_skeleton made = {0};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = find_directions(&call.run.context, &call.geometry, &call.bones, &tails, &made);
    ARAP_END_WORK
    if (!call.status) {
        npy_intp sizes[2] = {call.bones.count, 3};
        int reaches = made.ways && !made.along;
        const char *meaning = reaches ? "joints" : made.tails ? "lengths" : "tails";
        arap_new_result(&call, NPY_DOUBLE, 2, sizes, made.tails ? made.tails : call.bones.tails);
        if (reaches)
            arap_new_result(&call, NPY_BOOL, 1, sizes, made.ways);
        else
            arap_add_result(&call, Py_NewRef(Py_None));
        arap_add_result(&call, PyUnicode_FromString(meaning));
    }
    arap_joint_skeleton_clear(&made);
    return arap_close(&call);
}
