/* The function bone_directions of the module: see the stubs. Arguments are copied and the work runs
 * without the GIL. Cost and failures are those of rig/bone_tails.c and rig/joint_skeleton.c. */
#include "python/functions.h"

#include <string.h>

#include "python/ending.h"
#include "python/error.h"
#include "python/input.h"
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
                 "progress threads"};
    PyObject *ends = NULL, *ways = NULL, *result = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_tail_study tails;
    arap_joint_skeleton made = {0};
    arap_py_context run;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones))
        goto done;
    ARAP_BEGIN_WORK
    status = find_directions(&run.context, &geometry, &bones, &tails, &made);
    ARAP_END_WORK
    if (status) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    npy_intp m = bones.count, sizes[2] = {m, 3};
    ends = arap_new_doubles(2, sizes, NULL);
    int reaches = made.ways && !made.along;
    ways = reaches ? PyArray_SimpleNew(1, &m, NPY_BOOL) : Py_NewRef(Py_None);
    if (!ends || !ways) goto done;
    const double *tail = made.tails ? made.tails : bones.tails;
    memcpy(PyArray_DATA((PyArrayObject *)ends), tail, 3 * (size_t)m * sizeof *tail);
    if (reaches) memcpy(PyArray_DATA((PyArrayObject *)ways), made.ways, (size_t)m);
    result = Py_BuildValue("(OOs)", ends, ways,
                           reaches      ? "joints"
                           : made.tails ? "lengths"
                                        : "tails");

done:
    Py_XDECREF(ends);
    Py_XDECREF(ways);
    arap_joint_skeleton_clear(&made);
    arap_inputs_release(&in);
    return result;
}
