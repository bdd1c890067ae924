/* The functions of the module araplbs that compute posed points, parameters and bones: see
 * python/functions.h and the stubs. Arguments are copied and the work runs without the GIL. Cost
 * and failures are those of the functions called. */
#include "python/functions.h"

#include <math.h>

#include "base/memory.h"
#include "control/control_bones.h"
#include "initial/diffused_parameters.h"
#include "measures/dual_quaternions.h"
#include "measures/rotation_centers.h"
#include "measures/skinning.h"
#include "rig/joint_skeleton.h"
#include "weights/influences.h"
#include "weights/sparse_weights.h"

/* Writes (poses, n, 3) points. */
typedef arap_status (*skin_fn)(arap_context *context, const arap_call *call, double *posed);

/* Points of a group of poses, from lanes to (poses, n, 3). */
static void out_of_lanes(int count, int poses, const double *points, double *posed) {
    size_t numbers = 3 * (size_t)count;
    for (int l = 0; l < poses; l++)
        for (size_t k = 0; k < numbers; k++)
            posed[numbers * (size_t)l + k] = points[ARAP_POSE_LANES * k + (size_t)l];
}

static arap_status skin_linearly(arap_context *context, const arap_call *call, double *posed) {
    const arap_geometry *geometry = &call->geometry;
    arap_skinning skinning;
    arap_influences columns = {0};
    for (size_t k = 0; k < 3 * (size_t)geometry->vertex_count; k++)
        if (!isfinite(geometry->vertices[k]))
            return arap_fail(&context->error, ARAP_BAD_VALUE, "vertices contains %g: not finite",
                             geometry->vertices[k]);
    int n = geometry->vertex_count, groups = arap_pose_groups(call->poses.count);
    arap_status status =
        arap_skinning_create(context, n, geometry->vertices, &call->bones, &call->poses, &skinning);
    if (status) return status;
    double *points = ARAP_NEW(double, arap_group_stride(n));
    status = points ? arap_skinning_weights(context, &skinning, &call->weights, &columns)
                    : arap_fail_memory(&context->error, "the posed points");
    for (int g = 0; g < groups && !status; g++) {
        arap_skin(context, &skinning, &columns, g, 1, points);
        out_of_lanes(n, arap_group_size(call->poses.count, g), points,
                     posed + arap_group_stride(n) * (size_t)g);
    }
    arap_free(points);
    arap_influences_clear(&columns);
    arap_skinning_clear(&skinning);
    return status;
}

static arap_status skin_by_dual_quaternions(arap_context *context, const arap_call *call,
                                            double *posed) {
    int n = call->geometry.vertex_count, bones = call->bones.count;
    arap_status status = arap_check_sparse_weights(&context->error, &call->weights, n, bones);
    if (status) return status;
    return arap_dual_quaternion_skinning(context, n, call->in.vertices, &call->weights, bones,
                                         call->poses.count, call->in.poses, call->in.bone_axes,
                                         posed);
}

static arap_status skin_around_centers(arap_context *context, const arap_call *call,
                                       double *posed) {
    int n = call->geometry.vertex_count, bones = call->bones.count;
    arap_status status = arap_check_sparse_weights(&context->error, &call->weights, n, bones);
    if (status) return status;
    return arap_center_skinning(context, n, call->in.vertices, &call->weights, call->in.centers,
                                bones, call->poses.count, call->in.poses, call->in.bone_axes,
                                posed);
}

/* The positions to which a deformer moves the vertices: an array (poses, n, 3). */
static PyObject *skin(const arap_signature *signature, skin_fn deformer, PyObject *module,
                      PyObject *args, PyObject *kwargs) {
    arap_call call;
    if (arap_open(&call, signature, module, args, kwargs, NULL)) return arap_close(&call);
    npy_intp sizes[3] = {call.poses.count, call.geometry.vertex_count, 3};
    double *posed = arap_new_result(&call, NPY_DOUBLE, 3, sizes, NULL);
    if (!posed) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = deformer(&call.run.context, &call, posed);
    ARAP_END_WORK
    return arap_close(&call);
}

#define READ_ALL (ARAP_READ_BONES | ARAP_READ_POSES | ARAP_READ_WEIGHTS)

PyObject *arap_py_linear_skinning(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "linear_skinning",
        .names = "vertices weights poses * bone_heads bone_tails bone_kinds bone_segments bends "
                 "segment_poses parameters threads",
        .reads = READ_ALL};
    return skin(&signature, skin_linearly, module, args, kwargs);
}

PyObject *arap_py_dual_quaternion_skinning(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "dual_quaternion_skinning",
                                             .names = "vertices weights poses * bone_axes threads",
                                             .reads = READ_ALL};
    return skin(&signature, skin_by_dual_quaternions, module, args, kwargs);
}

PyObject *arap_py_center_of_rotation_skinning(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "center_of_rotation_skinning",
        .names = "vertices weights poses centers * bone_axes threads",
        .reads = READ_ALL};
    return skin(&signature, skin_around_centers, module, args, kwargs);
}

PyObject *arap_py_rotation_centers(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "rotation_centers",
        .names = "vertices triangles weights * sigma progress threads",
        .tables = {&arap_center_settings_table},
        .reads = ARAP_READ_WEIGHTS};
    arap_center_settings settings;
    void *const places[] = {&settings};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, places)) return arap_close(&call);
    npy_intp sizes[2] = {call.geometry.vertex_count, 3};
    double *centers = arap_new_result(&call, NPY_DOUBLE, 2, sizes, NULL);
    if (!centers) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_rotation_centers(&call.run.context, &call.geometry, &call.weights,
                                        call.bones.count, &settings, centers);
    ARAP_END_WORK
    return arap_close(&call);
}

PyObject *arap_py_diffuse_parameters(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "diffuse_parameters",
        .names = "vertices triangles? bone_heads bone_tails bone_parents * bone_deform bone_kinds "
                 "edges link_parts threads",
        .tables = {&arap_common_settings},
        .reads = ARAP_READ_BONES};
    arap_settings settings;
    void *const places[] = {&settings};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, places)) return arap_close(&call);
    npy_intp sizes[2] = {call.geometry.vertex_count, call.bones.count};
    double *parameters = arap_new_result(&call, NPY_DOUBLE, 2, sizes, NULL);
    if (!parameters) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_diffuse_parameters(&call.run.context, &call.geometry, &call.bones,
                                          settings.link_parts, parameters);
    ARAP_END_WORK
    return arap_close(&call);
}

PyObject *arap_py_control_bones(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "control_bones",
        .names = "vertices triangles? bone_heads bone_tails? bone_parents * bone_ways bone_deform "
                 "bone_evidence edges tets progress threads",
        .reads = ARAP_READ_BONES};
    arap_joint_skeleton joints;
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    npy_intp count = call.bones.count;
    if (call.in.bone_evidence) arap_check_finite(call.in.bone_evidence, count, "bone_evidence");
    int *control = arap_new_result(&call, NPY_INT, 1, &count, NULL);
    if (!control) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_complete_bones(&call.run.context, &call.geometry, &call.bones, &joints);
    call.bones.deform = call.in.bone_deform; /* roots that move no skin are control bones here */
    if (!call.status)
        call.status = arap_control_bones(&call.run.context, &call.geometry, &call.bones,
                                         call.in.bone_evidence, control);
    arap_joint_skeleton_clear(&joints);
    ARAP_END_WORK
    return arap_close(&call);
}
