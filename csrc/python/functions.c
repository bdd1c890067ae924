/* The functions of the module araplbs that need no solver: see python/functions.h and the stubs. */
#include "python/functions.h"

#include <string.h>

#include "base/memory.h"
#include "energy/evaluate.h"
#include "linalg/rotation.h"
#include "mesh/rings.h"
#include "python/error.h"
#include "python/input.h"
#include "rig/poses.h"
#include "supports/supports.h"

/* The bones of given poses: heads, tails and kinds where these or stretchable bones are given. */
static int evaluated_bones(arap_arrays *arrays, PyObject *heads, PyObject *tails, PyObject *kinds,
                           PyObject *segments, PyObject *stretch, npy_intp count,
                           arap_bones *bones) {
    arap_shape shape = {2, {count, 3}};
    *bones = (arap_bones){.count = (int)count};
    int has_kinds = kinds && kinds != Py_None;
    if (!has_kinds && (!stretch || stretch == Py_None)) return 0;
    bones->heads = arap_doubles(arrays, heads, "bone_heads", &shape);
    if (!PyErr_Occurred()) bones->tails = arap_doubles(arrays, tails, "bone_tails", &shape);
    if (!PyErr_Occurred() && (!bones->heads || !bones->tails))
        PyErr_Format(PyExc_TypeError, "%s needs bone_heads and bone_tails",
                     has_kinds ? "bone_kinds" : "bone_stretch");
    if (PyErr_Occurred()) return -1;
    return arap_kinds_from_python(arrays, kinds, NULL, segments, stretch, bones);
}

PyObject *arap_py_energy(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {
        "vertices",   "triangles",     "weights",      "poses",      "bone_heads",    "bone_tails",
        "bone_kinds", "bone_segments", "bone_stretch", "bends",      "segment_poses", "parameters",
        "edges",      "tets",          "weld",         "per_vertex", "threads",       NULL};
    PyObject *vertices, *triangles, *weights, *poses,
        *heads = NULL, *tails = NULL, *kinds = NULL, *segments = NULL, *stretch = NULL,
        *bends = NULL, *joints = NULL, *parameters = NULL, *edges = NULL, *tets = NULL,
        *result = NULL, *each = NULL;
    int weld = 1, per_vertex = 0, given = 0;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_rows rows;
    arap_py_job run;
    arap_bones bones;
    arap_given_poses given_poses = {0};
    npy_intp count;
    double energy = 0;
    arap_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO|$OOOOOOOOOOppO&:energy", names, &vertices,
                                     &triangles, &weights, &poses, &heads, &tails, &kinds,
                                     &segments, &stretch, &bends, &joints, &parameters, &edges,
                                     &tets, &weld, &per_vertex, arap_read_int, &threads) ||
        arap_py_job_init(&run, NULL, threads.value))
        return NULL;
    int has_bends = bends && bends != Py_None, has_joints = joints && joints != Py_None;
    if ((has_bends || has_joints) && (!kinds || kinds == Py_None))
        return PyErr_Format(PyExc_TypeError, "%s needs bone_kinds",
                            has_bends ? "bends" : "segment_poses");
    if (arap_some_transforms_from_python(&arrays, poses, &count, &given_poses.transforms,
                                         &given_poses.count) ||
        arap_geometry_from_python(&arrays, vertices, triangles, edges, tets, &geometry) ||
        evaluated_bones(&arrays, heads, tails, kinds, segments, stretch, count, &bones) ||
        arap_bends_from_python(&arrays, bends, joints, parameters, geometry.vertex_count, &bones,
                               &given_poses) ||
        arap_rows_from_python(&arrays, weights, geometry.vertex_count, count, &rows, &given))
        goto done;
    if (!given) {
        PyErr_SetString(PyExc_TypeError, "weights must be an array, not None");
        goto done;
    }
    npy_intp n = geometry.vertex_count;
    if (per_vertex && !(each = arap_new_doubles(1, &n, NULL))) goto done;
    double *vertex_energy = each ? PyArray_DATA((PyArrayObject *)each) : NULL;
    Py_BEGIN_ALLOW_THREADS status =
        arap_evaluate(&run.job, &geometry, weld, &rows, &bones, &given_poses, &energy, vertex_energy);
    Py_END_ALLOW_THREADS if (status) arap_raise(PyModule_GetState(module), &run.job);
    else result = each ? Py_BuildValue("(dO)", energy, each) : PyFloat_FromDouble(energy);

done:
    Py_XDECREF(each);
    arap_arrays_release(&arrays);
    return result;
}

/* A mesh that only carries units: coordinates of the skeleton stay as they are. */
static const arap_mesh unit_mesh = {.diagonal = 1};

PyObject *arap_py_sample_poses(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {
        "bone_heads",  "bone_tails",  "bone_parents", "count",       "bone_roll_axes",
        "bone_deform", "bone_limits", "bone_kinds",   "bone_ranges", "bone_segments",
        "mirror",      "seed",        "swing",        "twist",       NULL};
    PyObject *heads, *tails, *parents, *roll = NULL, *deform = NULL, *limits = NULL, *kinds = NULL,
                                       *ranges = NULL, *segments = NULL, *plane = NULL,
                                       *result = NULL, *bent = NULL;
    arap_settings settings;
    arap_settings_default(&settings);
    arap_sampling sampling = settings.sampling;
    arap_int_argument count = {"count", 0};
    unsigned long long seed = 0;
    arap_arrays arrays = {0};
    arap_bones bones;
    arap_skeleton skeleton = {0};
    arap_reflection reflection;
    arap_mirror mirror = {0};
    int mirrored = 0;
    arap_py_job run;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO&|$OOOOOOOO&dd:sample_poses", names, &heads,
                                     &tails, &parents, arap_read_int, &count, &roll, &deform,
                                     &limits, &kinds, &ranges, &segments, &plane, arap_read_seed,
                                     &seed, &sampling.swing, &sampling.twist))
        return NULL;
    sampling.count = count.value;
    if (sampling.count < 0)
        return PyErr_Format(PyExc_ValueError, "count is %d: must be 0 or more", sampling.count);
    const double angles[2] = {sampling.swing, sampling.twist};
    if (arap_check_finite(angles, 1, "swing") || arap_check_finite(angles + 1, 1, "twist"))
        return NULL;
    arap_py_job_init(&run, NULL, 1);
    if (arap_bones_from_python(&arrays, heads, tails, parents, roll, deform, limits, &bones) ||
        arap_kinds_from_python(&arrays, kinds, ranges, segments, NULL, &bones) ||
        arap_reflection_from_python(&arrays, plane, bones.count, &reflection, &mirrored))
        goto done;
    if (arap_skeleton_create(&run.job, &bones, &unit_mesh, &skeleton) ||
        (mirrored && arap_mirror_bones(&run.job, &reflection, &skeleton, &unit_mesh, &mirror))) {
        arap_raise(PyModule_GetState(module), &run.job);
        goto done;
    }
    npy_intp sizes[4] = {sampling.count, bones.count, 3, 4};
    npy_intp bend_sizes[3] = {sampling.count, bones.count, ARAP_BEND};
    size_t m = (size_t)bones.count;
    sampling.seed = seed;
    double *turns = ARAP_NEW(double, arap_turn_count(&skeleton, &sampling));
    double *local = ARAP_NEW(double, 9 * m);
    result = turns && local ? arap_new_doubles(4, sizes, NULL) : PyErr_NoMemory();
    bent = result ? arap_new_doubles(3, bend_sizes, NULL) : NULL;
    if (bent) arap_sample_turns(&skeleton, &mirror, &sampling, turns);
    for (int p = 0; bent && p < sampling.count; p++) {
        double *out = (double *)PyArray_DATA((PyArrayObject *)result) + 12 * m * (size_t)p;
        double *bends = (double *)PyArray_DATA((PyArrayObject *)bent) + ARAP_BEND * m * (size_t)p;
        arap_sample_pose(&skeleton, &mirror, &sampling, turns, p, local, bends);
        arap_forward_kinematics(&skeleton, local, bends, out);
    }
    arap_free(turns);
    arap_free(local);
    if (!bent) Py_CLEAR(result);
    if (bent && bones.kinds) result = Py_BuildValue("(NN)", result, Py_NewRef(bent));

done:
    Py_XDECREF(bent);
    arap_mirror_clear(&mirror);
    arap_skeleton_clear(&skeleton);
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_forward_kinematics(PyObject *module, PyObject *args) {
    PyObject *heads, *tails, *parents, *rotations, *bends = NULL, *result = NULL;
    char *kinds = NULL;
    arap_arrays arrays = {0};
    arap_bones bones;
    arap_skeleton skeleton = {0};
    arap_py_job run;
    if (!PyArg_ParseTuple(args, "OOOO|O:forward_kinematics", &heads, &tails, &parents, &rotations,
                          &bends))
        return NULL;
    arap_py_job_init(&run, NULL, 1);
    if (arap_bones_from_python(&arrays, heads, tails, parents, NULL, NULL, NULL, &bones)) goto done;
    arap_shape shape = {4, {-1, bones.count, 3, 3}};
    const double *local = arap_doubles(&arrays, rotations, "rotations", &shape);
    if (!local) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "rotations must be an array");
        goto done;
    }
    if (arap_check_finite(local, shape.size[0] * 9 * bones.count, "rotations")) goto done;
    arap_shape bend_shape = {3, {shape.size[0], bones.count, ARAP_BEND}};
    const double *bent = arap_doubles(&arrays, bends, "bends", &bend_shape);
    if (PyErr_Occurred()) goto done;
    kinds = ARAP_NEW(char, bones.count);
    if (!kinds) {
        PyErr_NoMemory();
        goto done;
    }
    memset(kinds, ARAP_BONE_SPINE, (size_t)bones.count);
    bones.kinds = kinds;
    arap_spines none = {0};
    if (arap_skeleton_create(&run.job, &bones, &unit_mesh, &skeleton) ||
        arap_spines_take_bends(&run.job.error, &skeleton, 0, (int)shape.size[0], bent, &none)) {
        arap_raise(PyModule_GetState(module), &run.job);
        goto done;
    }
    npy_intp sizes[4] = {shape.size[0], bones.count, 3, 4};
    size_t m = (size_t)bones.count;
    result = arap_new_doubles(4, sizes, NULL);
    for (size_t p = 0; result && p < (size_t)shape.size[0]; p++)
        arap_forward_kinematics(&skeleton, local + 9 * m * p,
                                bent ? bent + ARAP_BEND * m * p : NULL,
                                (double *)PyArray_DATA((PyArrayObject *)result) + 12 * m * p);

done:
    arap_free(kinds);
    arap_skeleton_clear(&skeleton);
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_nearest_rotations(PyObject *module, PyObject *argument) {
    (void)module;
    arap_arrays arrays = {0};
    arap_shape shape = {3, {-1, 3, 3}};
    const double *in = arap_doubles(&arrays, argument, "matrices", &shape);
    if (in && arap_check_finite(in, 9 * shape.size[0], "matrices")) in = NULL;
    PyObject *result = in ? arap_new_doubles(3, shape.size, NULL) : NULL;
    for (npy_intp i = 0; result && i < shape.size[0]; i++)
        arap_nearest_rotation(in + 9 * i, (double *)PyArray_DATA((PyArrayObject *)result) + 9 * i);
    if (!in && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "matrices must be an array");
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_prune(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices", "triangles", "weights", "least",
                            "kept_sum", "relative",  NULL};
    PyObject *vertices, *triangles, *weights, *result = NULL;
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_mesh mesh = {0};
    arap_influences in = {0};
    arap_pruning pruning;
    arap_py_job run;
    char *keep = NULL;
    int *sizes = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOidd:prune", names, &vertices, &triangles,
                                     &weights, &pruning.least, &pruning.kept_sum,
                                     &pruning.relative))
        return NULL;
    arap_py_job_init(&run, NULL, 1);
    if (arap_geometry_from_python(&arrays, vertices, triangles, NULL, NULL, &geometry)) goto done;
    arap_shape shape = {2, {geometry.vertex_count, -1}};
    const double *dense = arap_doubles(&arrays, weights, "weights", &shape);
    if (!dense) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "weights must be an array");
        goto done;
    }
    if (arap_check_finite(dense, shape.size[0] * shape.size[1], "weights")) goto done;
    size_t n = (size_t)shape.size[0], m = (size_t)shape.size[1];
    sizes = ARAP_NEW(int, n);
    keep = ARAP_NEW(char, n *m);
    if (!sizes || !keep) {
        PyErr_NoMemory();
        goto done;
    }
    for (size_t i = 0; i < n; i++) sizes[i] = (int)m;
    arap_status status = arap_mesh_create(&run.job, &geometry, -1, &mesh);
    if (!status) status = arap_mesh_connect(&run.job, &mesh, NULL, 0, 0);
    if (!status) status = arap_influences_create(&run.job, mesh.count, sizes, &in);
    for (size_t e = 0; e < n * m && !status; e++) {
        in.bone[e] = (int)(e % m);
        in.weight[e] = dense[e];
    }
    if (!status) status = arap_prune(&run.job, &mesh, &in, &pruning, keep);
    if (status) {
        arap_raise(PyModule_GetState(module), &run.job);
        goto done;
    }
    result = PyArray_SimpleNew(2, shape.size, NPY_BOOL);
    if (result) memcpy(PyArray_DATA((PyArrayObject *)result), keep, n * m);

done:
    arap_free(sizes);
    arap_free(keep);
    arap_influences_clear(&in);
    arap_mesh_clear(&mesh);
    arap_arrays_release(&arrays);
    return result;
}
