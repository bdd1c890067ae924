/* The functions of the module araplbs that compute posed points, parameters and bones: see
 * python/functions.h and the stubs. Arguments are copied and the work runs without the GIL. Cost
 * and failures are those of the functions called. */
#include "python/functions.h"

#include <math.h>

#include "base/memory.h"
#include "control/control_bones.h"
#include "initial/diffused_parameters.h"
#include "measures/dual_quaternions.h"
#include "measures/posed_energy.h"
#include "measures/rotation_centers.h"
#include "measures/skinning.h"
#include "mesh/rings.h"
#include "python/error.h"
#include "python/input.h"
#include "rig/joint_skeleton.h"
#include "weights/influences.h"
#include "weights/sparse_weights.h"

#define MAX_BONES 32768

/* Writes (poses, n, 3) points. Further arguments are in the inputs. */
typedef arap_status (*skin_fn)(arap_context *context, const arap_inputs *in,
                               const arap_geometry *geometry, const arap_bones *bones,
                               const arap_given_poses *given, const arap_sparse_weights *rows,
                               double *posed);

PyObject *arap_py_posed_energy(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "posed_energy",
        .names = "vertices triangles? posed * pose_weights edges weld per_vertex threads"};
    PyObject *each = NULL, *result = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_py_context run;
    double energy = 0;
    arap_status status;
    npy_intp poses;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry))
        goto done;
    npy_intp n = geometry.vertex_count;
    const double *posed = arap_posed_from_inputs(&in, 0, &poses);
    if (!posed) goto done;
    if (in.pose_weights && arap_input_size(&in, 'p') != poses) {
        PyErr_Format(PyExc_ValueError, "pose_weights has shape (%zd,), expected (%zd,)",
                     arap_input_size(&in, 'p'), poses);
        goto done;
    }
    if (in.per_vertex && !(each = arap_new_doubles(1, &n, NULL))) goto done;
    double *vertex_energy = each ? PyArray_DATA((PyArrayObject *)each) : NULL;
    ARAP_BEGIN_WORK
    status = arap_evaluate_posed(&run.context, &geometry, in.weld, (int)poses, posed,
                                 in.pose_weights, &energy, vertex_energy);
    ARAP_END_WORK
    if (status)
        arap_raise(PyModule_GetState(module), &run.context);
    else
        result = each ? Py_BuildValue("(dO)", energy, each) : PyFloat_FromDouble(energy);

done:
    Py_XDECREF(each);
    arap_inputs_release(&in);
    return result;
}

/* Points of a group of poses, from lanes to (poses, n, 3). */
static void out_of_lanes(int count, int poses, const double *points, double *posed) {
    size_t numbers = 3 * (size_t)count;
    for (int l = 0; l < poses; l++)
        for (size_t k = 0; k < numbers; k++)
            posed[numbers * (size_t)l + k] = points[ARAP_POSE_LANES * k + (size_t)l];
}

static arap_status skin_linearly(arap_context *context, const arap_inputs *in,
                                 const arap_geometry *geometry, const arap_bones *bones,
                                 const arap_given_poses *given, const arap_sparse_weights *rows,
                                 double *posed) {
    (void)in;
    arap_skinning skinning;
    arap_influences columns = {0};
    for (size_t k = 0; k < 3 * (size_t)geometry->vertex_count; k++)
        if (!isfinite(geometry->vertices[k]))
            return arap_fail(&context->error, ARAP_BAD_VALUE, "vertices contains %g: not finite",
                             geometry->vertices[k]);
    int n = geometry->vertex_count, groups = arap_pose_groups(given->count);
    arap_status status =
        arap_skinning_create(context, n, geometry->vertices, bones, given, &skinning);
    if (status) return status;
    double *points = ARAP_NEW(double, arap_group_stride(n));
    status = points ? arap_skinning_weights(context, &skinning, rows, &columns)
                    : arap_fail_memory(&context->error, "the posed points");
    for (int g = 0; g < groups && !status; g++) {
        arap_skin(context, &skinning, &columns, g, 1, points);
        out_of_lanes(n, arap_group_size(given->count, g), points,
                     posed + arap_group_stride(n) * (size_t)g);
    }
    arap_free(points);
    arap_influences_clear(&columns);
    arap_skinning_clear(&skinning);
    return status;
}

static arap_status skin_by_dual_quaternions(arap_context *context, const arap_inputs *in,
                                            const arap_geometry *geometry, const arap_bones *bones,
                                            const arap_given_poses *given,
                                            const arap_sparse_weights *rows, double *posed) {
    arap_status status =
        arap_check_sparse_weights(&context->error, rows, geometry->vertex_count, bones->count);
    if (status) return status;
    return arap_dual_quaternion_skinning(context, geometry->vertex_count, geometry->vertices, rows,
                                         bones->count, given->count, given->transforms,
                                         in->bone_axes, posed);
}

static arap_status skin_around_centers(arap_context *context, const arap_inputs *in,
                                       const arap_geometry *geometry, const arap_bones *bones,
                                       const arap_given_poses *given,
                                       const arap_sparse_weights *rows, double *posed) {
    arap_status status =
        arap_check_sparse_weights(&context->error, rows, geometry->vertex_count, bones->count);
    if (status) return status;
    return arap_center_skinning(context, geometry->vertex_count, geometry->vertices, rows,
                                in->centers, bones->count, given->count, given->transforms,
                                in->bone_axes, posed);
}

/* The positions to which a deformer moves the vertices: an array (poses, n, 3). */
static PyObject *skin(const arap_signature *signature, skin_fn deformer, PyObject *module,
                      PyObject *args, PyObject *kwargs) {
    PyObject *result = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_sparse_weights rows;
    arap_given_poses posed;
    arap_py_context run;
    arap_status status;
    if (arap_open(signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones) ||
        arap_some_poses_from_inputs(&in, &bones, &posed) ||
        arap_sparse_weights_from_inputs(&in, &rows))
        goto done;
    npy_intp sizes[3] = {posed.count, geometry.vertex_count, 3};
    result = arap_new_doubles(3, sizes, NULL);
    if (!result) goto done;
    double *out = PyArray_DATA((PyArrayObject *)result);
    ARAP_BEGIN_WORK
    status = deformer(&run.context, &in, &geometry, &bones, &posed, &rows, out);
    ARAP_END_WORK
    result = arap_finish(PyModule_GetState(module), &run, status, result);

done:
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_linear_skinning(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "linear_skinning",
        .names = "vertices weights poses * bone_heads bone_tails bone_kinds bone_segments bends "
                 "segment_poses parameters threads"};
    return skin(&signature, skin_linearly, module, args, kwargs);
}

PyObject *arap_py_dual_quaternion_skinning(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "dual_quaternion_skinning",
                                             .names = "vertices weights poses * bone_axes threads"};
    return skin(&signature, skin_by_dual_quaternions, module, args, kwargs);
}

PyObject *arap_py_center_of_rotation_skinning(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "center_of_rotation_skinning",
        .names = "vertices weights poses centers * bone_axes threads"};
    return skin(&signature, skin_around_centers, module, args, kwargs);
}

/* The number of bones: columns of dense weights, or the bones in the rows; -1 with an exception on
 * failure. */
static int bones_of_weights(const arap_inputs *in, const arap_sparse_weights *rows) {
    npy_intp n = arap_input_size(in, 'n'), bones = arap_input_size(in, 'm');
    for (long long e = 0; PyTuple_Check(in->weights) && e < rows->start[n]; e++)
        if (rows->bone[e] >= bones) bones = (npy_intp)rows->bone[e] + 1;
    if (bones <= MAX_BONES) return (int)bones;
    PyErr_Format(PyExc_ValueError, "%zd bones are too many", bones);
    return -1;
}

PyObject *arap_py_rotation_centers(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "rotation_centers",
        .names = "vertices triangles weights * sigma progress threads",
        .tables = {&arap_center_settings_table}};
    PyObject *result = NULL;
    arap_center_settings settings;
    void *const places[] = {&settings};
    arap_inputs in;
    arap_geometry geometry;
    arap_sparse_weights rows;
    arap_py_context run;
    arap_status status;
    arap_settings_fill(&arap_center_settings_table, &settings);
    if (arap_open(&signature, args, kwargs, places, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_sparse_weights_from_inputs(&in, &rows))
        goto done;
    npy_intp sizes[2] = {geometry.vertex_count, 3};
    int bones = bones_of_weights(&in, &rows);
    result = bones < 0 ? NULL : arap_new_doubles(2, sizes, NULL);
    if (!result) goto done;
    double *out = PyArray_DATA((PyArrayObject *)result);
    ARAP_BEGIN_WORK
    status = arap_rotation_centers(&run.context, &geometry, &rows, bones, &settings, out);
    ARAP_END_WORK
    result = arap_finish(PyModule_GetState(module), &run, status, result);

done:
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_diffuse_parameters(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "diffuse_parameters",
        .names = "vertices triangles? bone_heads bone_tails bone_parents * bone_deform bone_kinds "
                 "edges link_parts threads",
        .tables = {&arap_common_settings}};
    PyObject *result = NULL;
    arap_settings settings;
    void *const places[] = {&settings};
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_py_context run;
    arap_status status;
    arap_settings_default(&settings);
    if (arap_open(&signature, args, kwargs, places, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones))
        goto done;
    npy_intp sizes[2] = {geometry.vertex_count, bones.count};
    result = arap_new_doubles(2, sizes, NULL);
    if (!result) goto done;
    double *out = PyArray_DATA((PyArrayObject *)result);
    ARAP_BEGIN_WORK
    status = arap_diffuse_parameters(&run.context, &geometry, &bones, settings.link_parts, out);
    ARAP_END_WORK
    result = arap_finish(PyModule_GetState(module), &run, status, result);

done:
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_control_bones(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "control_bones",
        .names = "vertices triangles? bone_heads bone_tails? bone_parents * bone_ways bone_deform "
                 "bone_evidence edges tets progress threads"};
    PyObject *result = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_joint_skeleton joints;
    arap_py_context run;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || arap_bones_from_inputs(&in, &bones))
        goto done;
    npy_intp count = bones.count;
    if (in.bone_evidence && arap_check_finite(in.bone_evidence, count, "bone_evidence")) goto done;
    result = arap_new_ints(1, &count, NULL);
    if (!result) goto done;
    int *control = PyArray_DATA((PyArrayObject *)result);
    ARAP_BEGIN_WORK
    status = arap_complete_bones(&run.context, &geometry, &bones, &joints);
    bones.deform = in.bone_deform; /* roots that move no skin are control bones here */
    if (!status)
        status = arap_control_bones(&run.context, &geometry, &bones, in.bone_evidence, control);
    arap_joint_skeleton_clear(&joints);
    ARAP_END_WORK
    result = arap_finish(PyModule_GetState(module), &run, status, result);

done:
    arap_inputs_release(&in);
    return result;
}
