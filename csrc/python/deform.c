/* The functions of the module araplbs about posed points and parameters: see python/deform.h and the
 * stubs. */
#include "python/deform.h"

#include "base/memory.h"
#include "initial/diffused_parameters.h"
#include "measures/dual_quaternions.h"
#include "measures/posed_energy.h"
#include "mesh/rings.h"
#include "python/error.h"
#include "python/input.h"
#include "rig/control_bones.h"
#include "weights/rows.h"

PyObject *arap_py_posed_energy(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices", "triangles",  "posed",   "edges",
                            "weld",     "per_vertex", "threads", NULL};
    PyObject *vertices, *triangles, *points, *edges = NULL, *each = NULL, *result = NULL;
    int weld = 1, per_vertex = 0;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_py_job run;
    double energy = 0;
    arap_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|$OppO&:posed_energy", names, &vertices,
                                     &triangles, &points, &edges, &weld, &per_vertex, arap_read_int,
                                     &threads) ||
        arap_py_job_init(&run, NULL, threads.value))
        return NULL;
    if (arap_geometry_from_python(&arrays, vertices, triangles, edges, NULL, &geometry)) goto done;
    npy_intp n = geometry.vertex_count;
    arap_shape shape = {3, {-1, n, 3}};
    const double *posed = arap_doubles(&arrays, points, "posed", &shape);
    if (!posed) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "posed must be an array, not None");
        goto done;
    }
    if (!shape.size[0]) {
        PyErr_SetString(PyExc_ValueError, "there are no poses");
        goto done;
    }
    if (per_vertex && !(each = arap_new_doubles(1, &n, NULL))) goto done;
    double *vertex_energy = each ? PyArray_DATA((PyArrayObject *)each) : NULL;
    Py_BEGIN_ALLOW_THREADS status =
        arap_evaluate_posed(&run.job, &geometry, weld, (int)shape.size[0], posed, &energy, vertex_energy);
    Py_END_ALLOW_THREADS if (status) arap_raise(PyModule_GetState(module), &run.job);
    else result = each ? Py_BuildValue("(dO)", energy, each) : PyFloat_FromDouble(energy);

done:
    Py_XDECREF(each);
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_dual_quaternion_skinning(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices", "weights", "poses", "bone_axes", "threads", NULL};
    PyObject *vertices, *weights, *poses, *axes = NULL, *result = NULL;
    int given = 0;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_rows rows;
    arap_given_poses posed = {0};
    arap_py_job run;
    arap_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|$OO&:dual_quaternion_skinning", names,
                                     &vertices, &weights, &poses, &axes, arap_read_int, &threads) ||
        arap_py_job_init(&run, NULL, threads.value))
        return NULL;
    npy_intp bones;
    if (arap_some_transforms_from_python(&arrays, poses, &bones, &posed.transforms, &posed.count) ||
        arap_geometry_from_python(&arrays, vertices, Py_None, NULL, NULL, &geometry) ||
        arap_rows_from_python(&arrays, weights, geometry.vertex_count, bones, &rows, &given))
        goto done;
    if (!given) {
        PyErr_SetString(PyExc_TypeError, "weights must be an array, not None");
        goto done;
    }
    arap_shape per_bone = {3, {bones, 3, 3}};
    const double *rest = arap_doubles(&arrays, axes, "bone_axes", &per_bone);
    if (PyErr_Occurred()) goto done;
    npy_intp sizes[3] = {posed.count, geometry.vertex_count, 3};
    result = arap_new_doubles(3, sizes, NULL);
    if (!result) goto done;
    double *out = PyArray_DATA((PyArrayObject *)result);
    Py_BEGIN_ALLOW_THREADS status =
        arap_check_rows(&run.job.error, &rows, geometry.vertex_count, (int)bones);
    if (!status)
        status =
            arap_dual_quaternion_skinning(&run.job, geometry.vertex_count, geometry.vertices, &rows,
                                          (int)bones, posed.count, posed.transforms, rest, out);
    Py_END_ALLOW_THREADS if (status) {
        Py_CLEAR(result);
        arap_raise(PyModule_GetState(module), &run.job);
    }

done:
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_diffuse_parameters(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices",     "triangles",   "bone_heads", "bone_tails",
                            "bone_parents", "bone_deform", "bone_kinds", "edges",
                            "link_parts",   "threads",     NULL};
    PyObject *vertices, *triangles, *heads, *tails, *parents, *deform = NULL, *kinds = NULL,
                                                              *edges = NULL, *result = NULL;
    int link_parts = 1;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_bones bones;
    arap_py_job run;
    arap_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO|$OOOpO&:diffuse_parameters", names,
                                     &vertices, &triangles, &heads, &tails, &parents, &deform,
                                     &kinds, &edges, &link_parts, arap_read_int, &threads) ||
        arap_py_job_init(&run, NULL, threads.value))
        return NULL;
    if (arap_geometry_from_python(&arrays, vertices, triangles, edges, NULL, &geometry) ||
        arap_bones_from_python(&arrays, heads, tails, parents, NULL, deform, NULL, &bones) ||
        arap_kinds_from_python(&arrays, kinds, NULL, NULL, NULL, &bones))
        goto done;
    npy_intp sizes[2] = {geometry.vertex_count, bones.count};
    result = arap_new_doubles(2, sizes, NULL);
    if (!result) goto done;
    double *out = PyArray_DATA((PyArrayObject *)result);
    Py_BEGIN_ALLOW_THREADS status =
        arap_diffuse_parameters(&run.job, &geometry, &bones, link_parts, out);
    Py_END_ALLOW_THREADS if (status) {
        Py_CLEAR(result);
        arap_raise(PyModule_GetState(module), &run.job);
    }

done:
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_control_bones(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices",     "triangles",   "bone_heads", "bone_tails",
                            "bone_parents", "bone_deform", "bone_named", "edges",
                            "tets",         "progress",    "threads",    NULL};
    PyObject *vertices, *triangles, *heads, *tails, *parents,
        *deform = NULL, *is_named = NULL, *edges = NULL, *tets = NULL, *progress = NULL,
        *result = NULL;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_bones bones;
    arap_py_job run;
    arap_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO|$OOOOOO&:control_bones", names, &vertices,
                                     &triangles, &heads, &tails, &parents, &deform, &is_named,
                                     &edges, &tets, &progress, arap_read_int, &threads) ||
        arap_py_job_init(&run, progress, threads.value))
        return NULL;
    if (arap_geometry_from_python(&arrays, vertices, triangles, edges, tets, &geometry) ||
        arap_bones_from_python(&arrays, heads, tails, parents, NULL, deform, NULL, &bones))
        goto done;
    npy_intp count = bones.count;
    arap_shape shape = {1, {count}};
    const char *named = arap_bools(&arrays, is_named, "bone_named", &shape);
    if (PyErr_Occurred()) goto done;
    result = arap_new_ints(1, &count, NULL);
    if (!result) goto done;
    int *control = PyArray_DATA((PyArrayObject *)result);
    Py_BEGIN_ALLOW_THREADS status = arap_control_bones(&run.job, &geometry, &bones, named, control);
    Py_END_ALLOW_THREADS if (status) {
        Py_CLEAR(result);
        arap_raise(PyModule_GetState(module), &run.job);
    }

done:
    arap_arrays_release(&arrays);
    return result;
}
