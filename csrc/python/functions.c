/* The functions of the module araplbs that need no solver: see python/functions.h and the stubs.
 * Arguments are copied. `energy` releases the GIL, and short functions keep it. Cost and failures
 * are those of the called functions. */
#include "python/functions.h"

#include <string.h>

#include "base/memory.h"
#include "energy/energy.h"
#include "linalg/rotation.h"
#include "mesh/rings.h"
#include "python/error.h"
#include "python/input.h"
#include "rig/poses.h"
#include "supports/supports.h"

/* The bones of given poses: heads, tails and kinds if these or stretchable bones are given. */
static int evaluated_bones(arap_inputs *in, arap_bones *bones) {
    if (!in->bone_kinds && !in->bone_stretch) {
        *bones = (arap_bones){.count = (int)arap_input_size(in, 'm')};
        return 0;
    }
    if (in->bone_heads && in->bone_tails) return arap_bones_from_inputs(in, bones);
    PyErr_Format(PyExc_TypeError, "%s needs bone_heads and bone_tails",
                 in->bone_kinds ? "bone_kinds" : "bone_stretch");
    return -1;
}

PyObject *arap_py_energy(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "energy",
        .names =
            "vertices triangles? weights poses * pose_weights bone_heads bone_tails bone_kinds "
            "bone_segments bone_stretch bends segment_poses parameters edges tets weld "
            "per_vertex threads"};
    PyObject *result = NULL, *each = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_sparse_weights rows;
    arap_py_context run;
    arap_bones bones;
    arap_given_poses given;
    double energy = 0;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || evaluated_bones(&in, &bones) ||
        arap_some_poses_from_inputs(&in, &bones, &given) ||
        arap_sparse_weights_from_inputs(&in, &rows))
        goto done;
    npy_intp n = geometry.vertex_count;
    if (in.per_vertex && !(each = arap_new_doubles(1, &n, NULL))) goto done;
    double *vertex_energy = each ? PyArray_DATA((PyArrayObject *)each) : NULL;
    ARAP_BEGIN_WORK
    status = arap_evaluate(&run.context, &geometry, in.weld, &rows, &bones, &given, &energy,
                           vertex_energy);
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

/* A mesh that only defines units: coordinates of the skeleton are not scaled. */
static const arap_mesh unit_mesh = {.diagonal = 1};

PyObject *arap_py_sample_poses(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "sample_poses",
        .names = "bone_heads bone_tails bone_parents count * bone_roll_axes bone_deform "
                 "bone_limits bone_kinds bone_ranges bone_segments symmetry seed swing twist "
                 "reach_poses",
        .tables = {&arap_sampling_settings}};
    PyObject *result = NULL, *bent = NULL;
    arap_sampling sampling;
    void *const places[] = {&sampling};
    arap_inputs in;
    arap_bones bones;
    arap_skeleton skeleton = {0};
    arap_reflection reflection;
    arap_symmetry symmetry = {0};
    arap_reach reach = {0};
    int mirrored = 0;
    arap_py_context run;
    arap_settings_fill(&arap_sampling_settings, &sampling);
    arap_inputs_init(&in);
    arap_py_context_init(&run, NULL, 1);
    if (arap_parse(&signature, args, kwargs, &in, places) || arap_bones_from_inputs(&in, &bones) ||
        arap_reflection_from_inputs(&in, &reflection, &mirrored))
        goto done;
    if (in.count < 0) {
        PyErr_Format(PyExc_ValueError, "count is %d: must be 0 or more", in.count);
        goto done;
    }
    if (arap_settings_check(&run.context.error, &arap_sampling_settings, &sampling) ||
        arap_skeleton_create(&run.context, &bones, &unit_mesh, &skeleton) ||
        (mirrored &&
         arap_symmetry_bones(&run.context, &reflection, &skeleton, &unit_mesh, &symmetry))) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    sampling.pose_count = in.count;
    if (arap_reach_create(&run.context, &skeleton, &sampling, &reach)) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    npy_intp sizes[4] = {sampling.pose_count, bones.count, 3, 4};
    npy_intp bend_sizes[3] = {sampling.pose_count, bones.count, ARAP_BEND};
    size_t m = (size_t)bones.count;
    double *joint_rotations = ARAP_NEW(double, arap_sample_size(&skeleton, &sampling));
    double *local = ARAP_NEW(double, 9 * m);
    result = joint_rotations && local ? arap_new_doubles(4, sizes, NULL) : PyErr_NoMemory();
    bent = result ? arap_new_doubles(3, bend_sizes, NULL) : NULL;
    if (bent &&
        arap_sample_rotations(&run.context, &skeleton, &symmetry, &sampling, joint_rotations)) {
        arap_raise(PyModule_GetState(module), &run.context);
        Py_CLEAR(bent);
    }
    for (int p = 0; bent && p < sampling.pose_count; p++) {
        double *out = (double *)PyArray_DATA((PyArrayObject *)result) + 12 * m * (size_t)p;
        double *bends = (double *)PyArray_DATA((PyArrayObject *)bent) + ARAP_BEND * m * (size_t)p;
        arap_sample_pose(&skeleton, &symmetry, &sampling, &reach, joint_rotations, p, local, bends);
        arap_forward_kinematics(&skeleton, local, bends, out);
    }
    arap_free(joint_rotations);
    arap_free(local);
    if (!bent) Py_CLEAR(result);
    if (bent && bones.kinds) result = Py_BuildValue("(NN)", result, Py_NewRef(bent));

done:
    Py_XDECREF(bent);
    arap_reach_clear(&reach);
    arap_symmetry_clear(&symmetry);
    arap_skeleton_clear(&skeleton);
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_forward_kinematics(PyObject *module, PyObject *args) {
    static const arap_signature signature = {.function = "forward_kinematics",
                                             .names = "bone_heads bone_tails bone_parents "
                                                      "rotations bends="};
    PyObject *result = NULL;
    char *kinds = NULL;
    arap_inputs in;
    arap_bones bones;
    arap_skeleton skeleton = {0};
    arap_py_context run;
    arap_inputs_init(&in);
    arap_py_context_init(&run, NULL, 1);
    if (arap_parse(&signature, args, NULL, &in, NULL) || arap_bones_from_inputs(&in, &bones))
        goto done;
    npy_intp poses = arap_input_size(&in, 'p');
    if (arap_check_finite(in.rotations, poses * 9 * bones.count, "rotations")) goto done;
    kinds = ARAP_NEW(char, bones.count);
    if (!kinds) {
        PyErr_NoMemory();
        goto done;
    }
    memset(kinds, ARAP_BONE_SPINE, (size_t)bones.count);
    bones.kinds = kinds;
    arap_spines none = {0};
    if (arap_skeleton_create(&run.context, &bones, &unit_mesh, &skeleton) ||
        arap_spines_take_bends(&run.context.error, &skeleton, 0, (int)poses, in.bends, &none)) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    npy_intp sizes[4] = {poses, bones.count, 3, 4};
    size_t m = (size_t)bones.count;
    result = arap_new_doubles(4, sizes, NULL);
    for (size_t p = 0; result && p < (size_t)poses; p++)
        arap_forward_kinematics(&skeleton, in.rotations + 9 * m * p,
                                in.bends ? in.bends + ARAP_BEND * m * p : NULL,
                                (double *)PyArray_DATA((PyArrayObject *)result) + 12 * m * p);

done:
    arap_free(kinds);
    arap_skeleton_clear(&skeleton);
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_nearest_rotations(PyObject *module, PyObject *matrices) {
    (void)module;
    arap_arrays arrays = {0};
    arap_shape shape = {3, {-1, 3, 3}};
    const double *in = arap_doubles(&arrays, matrices, "matrices", &shape);
    if (in && arap_check_finite(in, 9 * shape.size[0], "matrices")) in = NULL;
    PyObject *result = in ? arap_new_doubles(3, shape.size, NULL) : NULL;
    if (result)
        arap_nearest_rotations((size_t)shape.size[0], in, PyArray_DATA((PyArrayObject *)result));
    if (!in && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "matrices must be an array");
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_prune(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "prune",
        .names = "vertices triangles? weights min_influences prune_sum prune_ratio",
        .tables = {&arap_pruning_settings}};
    PyObject *result = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_mesh mesh = {0};
    arap_influences influences = {0};
    arap_pruning pruning;
    void *const places[] = {&pruning};
    arap_py_context run;
    char *keep = NULL;
    int *sizes = NULL;
    arap_inputs_init(&in);
    arap_py_context_init(&run, NULL, 1);
    if (arap_parse(&signature, args, kwargs, &in, places) ||
        arap_geometry_from_inputs(&in, &geometry))
        goto done;
    arap_shape shape = {2, {geometry.vertex_count, -1}};
    const double *dense = arap_doubles(&in.arrays, in.weights, "weights", &shape);
    if (!dense || arap_check_finite(dense, shape.size[0] * shape.size[1], "weights")) goto done;
    size_t n = (size_t)shape.size[0], m = (size_t)shape.size[1];
    sizes = ARAP_NEW(int, n);
    keep = ARAP_NEW(char, n * m);
    if (!sizes || !keep) {
        PyErr_NoMemory();
        goto done;
    }
    for (size_t i = 0; i < n; i++) sizes[i] = (int)m;
    arap_status status = arap_mesh_create(&run.context, &geometry, NULL, -1, &mesh);
    if (!status) status = arap_mesh_connect(&run.context, &mesh, NULL, 0);
    if (!status) status = arap_influences_create(&run.context, mesh.count, sizes, &influences);
    for (size_t e = 0; e < n * m && !status; e++) {
        influences.bone[e] = (int)(e % m);
        influences.weight[e] = dense[e];
    }
    if (!status) status = arap_prune(&run.context, &mesh, &influences, &pruning, keep);
    if (status) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    result = PyArray_SimpleNew(2, shape.size, NPY_BOOL);
    if (result) memcpy(PyArray_DATA((PyArrayObject *)result), keep, n * m);

done:
    arap_free(sizes);
    arap_free(keep);
    arap_influences_clear(&influences);
    arap_mesh_clear(&mesh);
    arap_inputs_release(&in);
    return result;
}
