/* surface_strain, deformation and the type Deformation of the module: see the stubs for their
 * documentation. Every method holds the lock of the object while it works. */
#include "python/deformation.h"

#include "base/memory.h"
#include "measures/deformation.h"
#include "python/error.h"
#include "python/input.h"
#include "python/object.h"

/* posed (n, 3) or (poses, n, 3); NULL with an exception. */
static const double *points_from_python(arap_arrays *arrays, PyObject *argument, npy_intp n,
                                        int one_pose, npy_intp *poses) {
    arap_shape one = {2, {n, 3}}, some = {3, {-1, n, 3}};
    PyObject *array = one_pose && argument != Py_None ? PyArray_FROM_O(argument) : NULL;
    if (PyErr_Occurred()) return NULL;
    int is_one = array && PyArray_NDIM((PyArrayObject *)array) == 2;
    Py_XDECREF(array);
    const double *points = arap_doubles(arrays, argument, "posed", is_one ? &one : &some);
    *poses = is_one ? 1 : some.size[0];
    if (!points && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "posed must be an array, not None");
    else if (points && !*poses)
        PyErr_SetString(PyExc_ValueError, "there are no poses");
    return PyErr_Occurred() ? NULL : points;
}

/* Bones of a deformation: none, or heads, tails and the rest of what it looks at. */
static int bones_from_python(arap_arrays *arrays, PyObject *heads, PyObject *tails,
                             PyObject *deform, PyObject *kinds, PyObject *segments,
                             arap_bones *bones) {
    arap_shape shape = {2, {-1, 3}};
    *bones = (arap_bones){.heads = arap_doubles(arrays, heads, "bone_heads", &shape)};
    if (PyErr_Occurred()) return -1;
    npy_intp m = shape.size[0];
    arap_shape same = {2, {m, 3}}, per_bone = {1, {m}};
    if (bones->heads) {
        bones->tails = arap_doubles(arrays, tails, "bone_tails", &same);
        if (PyErr_Occurred()) return -1;
    }
    int has_kinds = kinds && kinds != Py_None, has_deform = deform && deform != Py_None;
    if (!bones->heads != (!tails || tails == Py_None) ||
        (!bones->heads && (has_kinds || has_deform))) {
        PyErr_Format(PyExc_TypeError, "%s needs bone_heads and bone_tails",
                     has_kinds    ? "bone_kinds"
                     : has_deform ? "bone_deform"
                                  : "limb drift");
        return -1;
    }
    if (!bones->heads) return 0;
    if (m < 1 || m > 32768) {
        PyErr_Format(PyExc_ValueError, m ? "%zd bones are too many" : "there are no bones", m);
        return -1;
    }
    bones->count = (int)m;
    bones->deform = arap_bools(arrays, deform, "bone_deform", &per_bone);
    if (PyErr_Occurred()) return -1;
    return arap_kinds_from_python(arrays, kinds, NULL, segments, NULL, bones);
}

/* Poses of these bones, or of any number of rigid ones where none are known. */
static int poses_from_python(arap_arrays *arrays, PyObject *argument, PyObject *bends,
                             PyObject *joints, PyObject *parameters, npy_intp n, arap_bones *bones,
                             arap_given_poses *given) {
    int has_bends = bends && bends != Py_None, has_joints = joints && joints != Py_None;
    if ((has_bends || has_joints) && !bones->kinds) {
        PyErr_Format(PyExc_TypeError, "%s needs bone_kinds", has_bends ? "bends" : "segment_poses");
        return -1;
    }
    npy_intp m = bones->count;
    if (m) {
        if (arap_transforms_from_python(arrays, argument, m, &given->transforms, &given->count))
            return -1;
        if (!given->transforms)
            PyErr_SetString(PyExc_TypeError, "poses must be an array, not None");
        else if (!given->count)
            PyErr_SetString(PyExc_ValueError, "there are no poses");
    } else if (!arap_some_transforms_from_python(arrays, argument, &m, &given->transforms,
                                                 &given->count)) {
        bones->count = (int)m;
    }
    if (PyErr_Occurred()) return -1;
    return arap_bends_from_python(arrays, bends, joints, parameters, n, bones, given);
}

static int weights_from_python(arap_arrays *arrays, PyObject *weights, npy_intp n, npy_intp bones,
                               arap_rows *rows) {
    int given = 0;
    if (arap_rows_from_python(arrays, weights, n, bones, rows, &given)) return -1;
    if (given) return 0;
    PyErr_SetString(PyExc_TypeError, "weights must be an array, not None");
    return -1;
}

/* Skin by bones, which may be more than the deformation knows, and add that. */
static arap_status add_skinned(arap_job *job, arap_deformation *d, const arap_bones *bones,
                               const arap_given_poses *given, const arap_rows *rows,
                               const double *posed) {
    arap_skinning skinning;
    arap_status status = arap_skinning_create(job, d->count, d->vertices, bones, given, &skinning);
    if (status) return status;
    status = arap_deformation_add(job, d, &skinning, rows, posed);
    arap_skinning_clear(&skinning);
    return status;
}

static PyObject *measures_dict(const arap_module_state *state, arap_job *job,
                               const arap_deformation *d, int per_triangle, int per_vertex) {
    arap_measures measures;
    npy_intp triangles = (npy_intp)d->surface.triangle_count, n = d->count, m = d->bones.count;
    PyObject *dict = NULL, *drifts = arap_new_doubles(1, &m, NULL);
    PyObject *faces = drifts && per_triangle ? arap_new_doubles(1, &triangles, NULL) : NULL;
    PyObject *points = drifts && per_vertex ? arap_new_doubles(1, &n, NULL) : NULL;
    if (PyErr_Occurred()) goto done;
    arap_status status = arap_deformation_measures(job, d, &measures);
    if (faces)
        arap_triangle_strain(&d->surface, d->poses, d->strain2,
                             PyArray_DATA((PyArrayObject *)faces));
    if (!status && points)
        status = arap_vertex_strain(job, &d->surface, d->poses, d->strain2, d->count,
                                    PyArray_DATA((PyArrayObject *)points));
    if (status) {
        arap_raise(state, job);
        goto done;
    }
    arap_bone_drift(d, PyArray_DATA((PyArrayObject *)drifts));
    dict = Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:i,s:i,s:i}", "area", measures.strain.area,
                         "face", measures.strain.face, "p99", measures.strain.p99, "drift",
                         measures.drift, "worst_drift", measures.worst_drift, "volume",
                         measures.volume, "bone_drift", drifts, "limbs", d->limbs.count,
                         "closed_parts", d->enclosure.parts, "poses", d->poses);
    if ((dict && faces && PyDict_SetItemString(dict, "triangle_strain", faces)) ||
        (dict && points && PyDict_SetItemString(dict, "vertex_strain", points)))
        Py_CLEAR(dict);

done:
    Py_XDECREF(drifts);
    Py_XDECREF(faces);
    Py_XDECREF(points);
    return dict;
}

PyObject *arap_py_surface_strain(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices", "triangles", "posed", "threads", NULL};
    PyObject *vertices, *triangles, *points, *result = NULL;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_deformation d = {0};
    arap_py_job run;
    arap_status status;
    npy_intp poses;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|$O&:surface_strain", names, &vertices,
                                     &triangles, &points, arap_read_int, &threads) ||
        arap_py_job_init(&run, NULL, threads.value))
        return NULL;
    if (arap_geometry_from_python(&arrays, vertices, triangles, NULL, NULL, &geometry)) goto done;
    const double *posed = points_from_python(&arrays, points, geometry.vertex_count, 1, &poses);
    npy_intp count = (npy_intp)geometry.triangle_count;
    if (!posed || !(result = arap_new_doubles(1, &count, NULL))) goto done;
    double *out = PyArray_DATA((PyArrayObject *)result);
    const arap_bones none = {0};
    const arap_skinning unmoved = {.poses = (int)poses};
    Py_BEGIN_ALLOW_THREADS status = arap_deformation_create(&run.job, &geometry, &none, &d);
    if (!status) status = arap_deformation_add(&run.job, &d, &unmoved, NULL, posed);
    if (!status) arap_triangle_strain(&d.surface, d.poses, d.strain2, out);
    Py_END_ALLOW_THREADS if (status) {
        Py_CLEAR(result);
        arap_raise(PyModule_GetState(module), &run.job);
    }

done:
    arap_deformation_clear(&d);
    arap_arrays_release(&arrays);
    return result;
}

PyObject *arap_py_deformation(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {
        "vertices",      "triangles",   "weights",      "poses",         "bone_heads",
        "bone_tails",    "bone_deform", "bone_kinds",   "bone_segments", "bends",
        "segment_poses", "parameters",  "per_triangle", "per_vertex",    "progress",
        "threads",       NULL};
    PyObject *vertices, *triangles, *weights, *poses,
        *heads = NULL, *tails = NULL, *deform = NULL, *kinds = NULL, *segments = NULL,
        *bends = NULL, *joints = NULL, *parameters = NULL, *progress = NULL, *result = NULL;
    int per_triangle = 0, per_vertex = 0;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_bones bones;
    arap_given_poses given = {0};
    arap_rows rows;
    arap_deformation d = {0};
    arap_py_job run;
    arap_status status;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "OOOO|OO$OOOOOOppOO&:deformation", names, &vertices, &triangles, &weights,
            &poses, &heads, &tails, &deform, &kinds, &segments, &bends, &joints, &parameters,
            &per_triangle, &per_vertex, &progress, arap_read_int, &threads) ||
        arap_py_job_init(&run, progress, threads.value))
        return NULL;
    if (arap_geometry_from_python(&arrays, vertices, triangles, NULL, NULL, &geometry) ||
        bones_from_python(&arrays, heads, tails, deform, kinds, segments, &bones))
        goto done;
    arap_bones skinned = bones;
    if (poses_from_python(&arrays, poses, bends, joints, parameters, geometry.vertex_count,
                          &skinned, &given) ||
        weights_from_python(&arrays, weights, geometry.vertex_count, skinned.count, &rows))
        goto done;
    Py_BEGIN_ALLOW_THREADS status = arap_deformation_create(&run.job, &geometry, &bones, &d);
    if (!status) status = add_skinned(&run.job, &d, &skinned, &given, &rows, NULL);
    Py_END_ALLOW_THREADS if (status) arap_raise(PyModule_GetState(module), &run.job);
    else result = measures_dict(PyModule_GetState(module), &run.job, &d, per_triangle, per_vertex);

done:
    arap_deformation_clear(&d);
    arap_arrays_release(&arrays);
    return result;
}

typedef struct deformation_object {
    arap_py_object base;
    arap_deformation deformation; /* of no vertices: not created */
} deformation_object;

static arap_module_state *state_of(deformation_object *self) {
    return arap_py_object_state(&self->base);
}

static PyObject *deformation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    return arap_py_object_new(type, "Deformation");
}

static void deformation_dealloc(deformation_object *self) {
    arap_deformation_clear(&self->deformation);
    arap_py_object_free((PyObject *)self);
}

static int deformation_init(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"vertices",      "triangles",   "bone_heads",
                            "bone_tails",    "bone_deform", "bone_kinds",
                            "bone_segments", "threads",     NULL};
    PyObject *vertices, *triangles, *heads = NULL, *tails = NULL, *deform = NULL, *kinds = NULL,
                                    *segments = NULL;
    arap_int_argument threads = {"threads", 0};
    arap_arrays arrays = {0};
    arap_geometry geometry;
    arap_bones bones;
    arap_deformation made = {0};
    arap_py_job run;
    arap_status status = ARAP_OK;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO$OOOO&:Deformation", names, &vertices,
                                     &triangles, &heads, &tails, &deform, &kinds, &segments,
                                     arap_read_int, &threads) ||
        arap_py_job_init(&run, NULL, threads.value))
        return -1;
    if (!arap_geometry_from_python(&arrays, vertices, triangles, NULL, NULL, &geometry) &&
        !bones_from_python(&arrays, heads, tails, deform, kinds, segments, &bones)) {
        Py_BEGIN_ALLOW_THREADS status = arap_deformation_create(&run.job, &geometry, &bones, &made);
        Py_END_ALLOW_THREADS if (status) arap_raise(state_of(self), &run.job);
    }
    arap_arrays_release(&arrays);
    if (PyErr_Occurred()) return -1;
    if (self->deformation.count && arap_py_object_enter(&self->base)) {
        arap_deformation_clear(&made);
        return -1;
    }
    int held = self->deformation.count;
    arap_deformation_clear(&self->deformation);
    self->deformation = made;
    self->base.threads = threads.value;
    self->base.created = 1;
    if (held) arap_py_leave(&self->base.lock);
    return 0;
}

/* Adds poses: by weights, or where posed is not NULL these points. */
static PyObject *add(deformation_object *self, PyObject *weights, PyObject *posed, PyObject *poses,
                     PyObject *bends, PyObject *joints, PyObject *parameters, PyObject *progress) {
    arap_deformation *d = &self->deformation;
    arap_arrays arrays = {0};
    arap_bones bones;
    arap_given_poses given = {0};
    arap_rows rows = {0};
    arap_py_job run;
    arap_status status;
    const double *points = NULL;
    npy_intp count = 0;
    PyObject *result = NULL;
    if (arap_py_job_init(&run, progress, self->base.threads) ||
        arap_py_object_enter(&self->base))
        return NULL;
    bones = d->bones;
    if (posed && !(points = points_from_python(&arrays, posed, d->count, 0, &count))) goto done;
    int needs_poses = !posed || d->limbs.count || (poses && poses != Py_None);
    if (needs_poses && poses_from_python(&arrays, poses ? poses : Py_None, bends, joints,
                                         parameters, d->count, &bones, &given))
        goto done;
    if (posed && needs_poses && given.count != count) {
        PyErr_Format(PyExc_ValueError, "posed has %zd poses, but poses has %d", count, given.count);
        goto done;
    }
    if (!posed && weights_from_python(&arrays, weights, d->count, bones.count, &rows)) goto done;
    const arap_skinning unmoved = {.poses = (int)count};
    Py_BEGIN_ALLOW_THREADS status =
        needs_poses ? add_skinned(&run.job, d, &bones, &given, posed ? NULL : &rows, points)
                    : arap_deformation_add(&run.job, d, &unmoved, NULL, points);
    Py_END_ALLOW_THREADS if (status) arap_raise(state_of(self), &run.job);
    else result = Py_NewRef(Py_None);

done:
    arap_py_leave(&self->base.lock);
    arap_arrays_release(&arrays);
    return result;
}

static PyObject *deformation_skin(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"weights",    "poses",    "bends", "segment_poses",
                            "parameters", "progress", NULL};
    PyObject *weights, *poses, *bends = NULL, *joints = NULL, *parameters = NULL, *progress = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$OOOO:skin", names, &weights, &poses, &bends,
                                     &joints, &parameters, &progress))
        return NULL;
    return add(self, weights, NULL, poses, bends, joints, parameters, progress);
}

static PyObject *deformation_add(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"posed", "poses", "bends", "segment_poses", NULL};
    PyObject *posed, *poses = NULL, *bends = NULL, *joints = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$OO:add", names, &posed, &poses, &bends,
                                     &joints))
        return NULL;
    return add(self, NULL, posed, poses, bends, joints, NULL, NULL);
}

static PyObject *deformation_clear(deformation_object *self, PyObject *unused) {
    (void)unused;
    if (arap_py_object_enter(&self->base)) return NULL;
    arap_deformation_restart(&self->deformation);
    arap_py_leave(&self->base.lock);
    return Py_NewRef(Py_None);
}

static PyObject *deformation_measures(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"per_triangle", "per_vertex", NULL};
    int per_triangle = 0, per_vertex = 0;
    arap_py_job run;
    PyObject *dict = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$pp:measures", names, &per_triangle,
                                     &per_vertex) ||
        arap_py_job_init(&run, NULL, self->base.threads) || arap_py_object_enter(&self->base))
        return NULL;
    if (self->deformation.poses)
        dict =
            measures_dict(state_of(self), &run.job, &self->deformation, per_triangle, per_vertex);
    else
        PyErr_SetString(PyExc_ValueError, "there are no poses");
    arap_py_leave(&self->base.lock);
    return dict;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef deformation_methods[] = {
    {"skin", KEYWORDS(deformation_skin), "Add poses into which weights take the vertices."},
    {"add", KEYWORDS(deformation_add), "Add points posed by whatever means."},
    {"clear", (PyCFunction)deformation_clear, METH_NOARGS, "Forget all poses."},
    {"measures", KEYWORDS(deformation_measures), "The measures over all poses added, as a dict."},
    {0}};

static PyType_Slot deformation_slots[] = {
    {Py_tp_new, deformation_new},
    {Py_tp_init, deformation_init},
    {Py_tp_dealloc, deformation_dealloc},
    {Py_tp_methods, deformation_methods},
    {Py_tp_doc, "What is seen of a mesh that deforms, over any number of poses."},
    {0, NULL}};

static PyType_Spec deformation_spec = {.name = "araplbs.Deformation",
                                       .basicsize = sizeof(deformation_object),
                                       .flags = Py_TPFLAGS_DEFAULT,
                                       .slots = deformation_slots};

PyObject *arap_make_deformation_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &deformation_spec, NULL);
}
