/* The functions energy, posed_energy, nearest_rotations and prune of the module: see the stubs.
 * Arguments are copied. The energies release the GIL, and short functions keep it. Cost and
 * failures are those of the called functions. */
#include "python/functions.h"

#include "base/memory.h"
#include "energy/energy.h"
#include "linalg/rotation.h"
#include "measures/posed_energy.h"
#include "mesh/rings.h"
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

/* The second result, if it is requested: energies of the vertices. The first is set at the end. */
static double *new_vertex_energies(arap_call *call) {
    npy_intp n = call->geometry.vertex_count;
    call->count = 1;
    return call->in.per_vertex ? arap_new_result(call, NPY_DOUBLE, 1, &n, NULL) : NULL;
}

PyObject *arap_py_energy(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "energy",
        .names =
            "vertices triangles? weights poses * pose_weights bone_heads bone_tails bone_kinds "
            "bone_segments bone_stretch bends segment_poses parameters edges tets weld "
            "per_vertex threads"};
    double energy = 0, *each = NULL;
    arap_call call;
    if (!arap_open(&call, &signature, module, args, kwargs, NULL) &&
        !evaluated_bones(&call.in, &call.bones) &&
        !arap_some_poses_from_inputs(&call.in, &call.bones, &call.poses) &&
        !arap_sparse_weights_from_inputs(&call.in, &call.weights))
        each = new_vertex_energies(&call);
    if (PyErr_Occurred()) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_evaluate(&call.run.context, &call.geometry, call.in.weld, &call.weights,
                                &call.bones, &call.poses, &energy, each);
    ARAP_END_WORK
    call.results[0] = PyFloat_FromDouble(energy);
    return arap_close(&call);
}

PyObject *arap_py_posed_energy(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "posed_energy",
        .names = "vertices triangles? posed * pose_weights edges weld per_vertex threads"};
    const double *posed = NULL;
    double energy = 0, *each = NULL;
    npy_intp poses, known;
    arap_call call;
    if (!arap_open(&call, &signature, module, args, kwargs, NULL))
        posed = arap_posed_from_inputs(&call.in, 0, &poses);
    if (!posed) return arap_close(&call);
    known = call.in.pose_weights ? arap_input_size(&call.in, 'p') : poses;
    if (known == poses)
        each = new_vertex_energies(&call);
    else
        PyErr_Format(PyExc_ValueError, "pose_weights has shape (%zd,), expected (%zd,)", known,
                     poses);
    if (PyErr_Occurred()) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_evaluate_posed(&call.run.context, &call.geometry, call.in.weld, (int)poses,
                                      posed, call.in.pose_weights, &energy, each);
    ARAP_END_WORK
    call.results[0] = PyFloat_FromDouble(energy);
    return arap_close(&call);
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

/* The weights of all pairs, with all bones as influences. */
static arap_status dense_influences(arap_context *context, const arap_mesh *mesh,
                                    const double *dense, int bones, arap_influences *out) {
    size_t m = (size_t)bones;
    int *sizes = ARAP_NEW(int, mesh->count);
    if (!sizes) return arap_fail_memory(&context->error, "the weights");
    for (int i = 0; i < mesh->count; i++) sizes[i] = bones;
    arap_status status = arap_influences_create(context, mesh->count, sizes, out);
    for (size_t e = 0; !status && e < (size_t)mesh->count * m; e++) {
        out->bone[e] = (int)(e % m);
        out->weight[e] = dense[e];
    }
    arap_free(sizes);
    return status;
}

PyObject *arap_py_prune(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "prune",
        .names = "vertices triangles? weights min_influences prune_sum prune_ratio",
        .tables = {&arap_pruning_settings}};
    arap_mesh mesh = {0};
    arap_influences influences = {0};
    arap_pruning pruning;
    void *const places[] = {&pruning};
    arap_call call;
    arap_context *context = &call.run.context;
    if (arap_open(&call, &signature, module, args, kwargs, places)) return arap_close(&call);
    arap_shape shape = {2, {call.geometry.vertex_count, -1}};
    const double *dense = arap_doubles(&call.in.arrays, call.in.weights, "weights", &shape);
    if (dense) arap_check_finite(dense, shape.size[0] * shape.size[1], "weights");
    char *keep = arap_new_result(&call, NPY_BOOL, 2, shape.size, NULL);
    if (!keep) return arap_close(&call);
    call.status = arap_mesh_create(context, &call.geometry, NULL, -1, &mesh);
    if (!call.status) call.status = arap_mesh_connect(context, &mesh, NULL, 0);
    for (npy_intp e = 0; e < shape.size[0] * shape.size[1] && !call.status; e++)
        if (dense[e] < 0)
            call.status =
                arap_fail(&context->error, ARAP_BAD_VALUE, "weights[%d, %d] is %g: not a weight",
                          (int)(e / shape.size[1]), (int)(e % shape.size[1]), dense[e]);
    if (!call.status)
        call.status = dense_influences(context, &mesh, dense, (int)shape.size[1], &influences);
    if (!call.status) call.status = arap_prune(context, &mesh, &influences, &pruning, keep);
    arap_influences_clear(&influences);
    arap_mesh_clear(&mesh);
    return arap_close(&call);
}
