/* The functions surface_strain and deformation and the type Deformation of the module, which are
 * documented in the stubs. Every method holds the lock of the object while it works. Arguments are
 * copied and the work runs without the GIL. Cost and failures are those of the functions called. */
#include "python/functions.h"

#include "measures/deformation.h"
#include "python/engine_docs.h"
#include "python/object.h"

/* Bones of a deformation: none, or heads, tails and the other data that it uses. */
static int take_bones(arap_inputs *in, arap_bones *bones) {
    *bones = (arap_bones){0};
    if (!in->bone_heads != !in->bone_tails ||
        (!in->bone_heads && (in->bone_kinds || in->bone_deform))) {
        PyErr_Format(PyExc_TypeError, "%s needs bone_heads and bone_tails",
                     in->bone_kinds    ? "bone_kinds"
                     : in->bone_deform ? "bone_deform"
                                       : "limb drift");
        return -1;
    }
    if (!in->bone_heads) return 0;
    if (arap_input_size(in, 'm')) return arap_bones_from_inputs(in, bones);
    PyErr_SetString(PyExc_ValueError, "there are no bones");
    return -1;
}

/* Poses of these bones, or of any number of rigid bones if none are known. */
static int take_poses(arap_call *call) {
    if (!call->in.poses) {
        PyErr_SetString(PyExc_TypeError, "poses must be an array, not None");
        return -1;
    }
    if (!call->bones.count) call->bones.count = (int)arap_input_size(&call->in, 'm');
    return arap_some_poses_from_inputs(&call->in, &call->bones, &call->poses);
}

/* Skin with the bones of a call, which may be more than the deformation knows, and add the result.
 * Alternatively, add these posed points. */
static arap_status add_skinned(arap_call *call, arap_deformation *d, const double *posed) {
    arap_context *context = &call->run.context;
    arap_skinning skinning;
    arap_status status =
        arap_skinning_create(context, d->count, d->vertices, &call->bones, &call->poses, &skinning);
    if (status) return status;
    status = arap_deformation_add(context, d, &skinning, posed ? NULL : &call->weights, posed);
    arap_skinning_clear(&skinning);
    return status;
}

/* Add a dictionary of the measures to the results of a call. */
static void add_measures(arap_call *call, const arap_deformation *d, int per_triangle,
                         int per_vertex) {
    arap_context *context = &call->run.context;
    arap_measures measures;
    npy_intp triangles = (npy_intp)d->surface.triangle_count, n = d->count, m = d->bones.count;
    PyObject *dict = NULL, *drifts = arap_new_doubles(1, &m, NULL);
    PyObject *faces = drifts && per_triangle ? arap_new_doubles(1, &triangles, NULL) : NULL;
    PyObject *points = drifts && per_vertex ? arap_new_doubles(1, &n, NULL) : NULL;
    if (PyErr_Occurred()) goto done;
    call->status = arap_deformation_measures(context, d, &measures);
    if (faces)
        arap_triangle_strain(&d->surface, d->poses, d->strain2,
                             PyArray_DATA((PyArrayObject *)faces));
    if (!call->status && points)
        call->status = arap_vertex_strain(context, &d->surface, d->poses, d->strain2, d->count,
                                          PyArray_DATA((PyArrayObject *)points));
    if (call->status) goto done;
    arap_bone_drift(d, PyArray_DATA((PyArrayObject *)drifts));
    dict = Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:i,s:i,s:i}", "area", measures.strain.area,
                         "face", measures.strain.face, "p99", measures.strain.p99, "drift",
                         measures.drift, "worst_drift", measures.worst_drift, "volume",
                         measures.volume, "bone_drift", drifts, "limbs", d->limbs.count,
                         "closed_parts", d->enclosure.parts, "poses", d->poses);
    if ((dict && faces && PyDict_SetItemString(dict, "triangle_strain", faces)) ||
        (dict && points && PyDict_SetItemString(dict, "vertex_strain", points)))
        Py_CLEAR(dict);
    arap_add_result(call, dict);

done:
    Py_XDECREF(drifts);
    Py_XDECREF(faces);
    Py_XDECREF(points);
}

PyObject *arap_py_surface_strain(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "surface_strain",
                                             .names = "vertices triangles? posed * threads"};
    const arap_bones none = {0};
    const double *posed = NULL;
    double *strain = NULL;
    arap_deformation d = {0};
    arap_call call;
    npy_intp poses;
    if (!arap_open(&call, &signature, module, args, kwargs, NULL))
        posed = arap_posed_from_inputs(&call.in, 1, &poses);
    npy_intp triangles = (npy_intp)call.geometry.triangle_count;
    if (posed) strain = arap_new_result(&call, NPY_DOUBLE, 1, &triangles, NULL);
    if (!strain) return arap_close(&call);
    const arap_skinning unmoved = {.poses = (int)poses};
    ARAP_BEGIN_WORK
    call.status = arap_deformation_create(&call.run.context, &call.geometry, &none, &d);
    if (!call.status)
        call.status = arap_deformation_add(&call.run.context, &d, &unmoved, NULL, posed);
    if (!call.status) arap_triangle_strain(&d.surface, d.poses, d.strain2, strain);
    ARAP_END_WORK
    arap_deformation_clear(&d);
    return arap_close(&call);
}

PyObject *arap_py_deformation(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "deformation",
        .names = "vertices triangles? weights poses bone_heads= bone_tails= * bone_deform "
                 "bone_kinds bone_segments bends segment_poses parameters per_triangle per_vertex "
                 "progress threads"};
    arap_bones bones;
    arap_deformation d = {0};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL) || take_bones(&call.in, &bones))
        return arap_close(&call);
    call.bones = bones;
    if (take_poses(&call) || arap_sparse_weights_from_inputs(&call.in, &call.weights))
        return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_deformation_create(&call.run.context, &call.geometry, &bones, &d);
    if (!call.status) call.status = add_skinned(&call, &d, NULL);
    ARAP_END_WORK
    if (!call.status) add_measures(&call, &d, call.in.per_triangle, call.in.per_vertex);
    arap_deformation_clear(&d);
    return arap_close(&call);
}

typedef struct deformation_object {
    arap_py_object base;
    arap_deformation deformation;
} deformation_object;

static void deformation_dealloc(deformation_object *self) {
    arap_deformation_clear(&self->deformation);
    arap_py_object_free((PyObject *)self);
}

static int deformation_init(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "Deformation",
        .names = "vertices triangles? bone_heads= bone_tails= * bone_deform bone_kinds "
                 "bone_segments threads"};
    arap_call call;
    if (arap_py_object_begin(&self->base)) return -1;
    if (!arap_open(&call, &signature, (PyObject *)self, args, kwargs, NULL) &&
        !take_bones(&call.in, &call.bones)) {
        ARAP_BEGIN_WORK
        call.status = arap_deformation_create(&call.run.context, &call.geometry, &call.bones,
                                              &self->deformation);
        ARAP_END_WORK
        if (!call.status) arap_py_object_created(&self->base, &call.run);
    }
    arap_py_object_leave(&self->base);
    return arap_end(&call);
}

/* Add poses from weights or, if the signature has `posed`, from these points. The lock must be
 * held. */
static PyObject *add_locked(deformation_object *self, const arap_signature *signature,
                            PyObject *args, PyObject *kwargs) {
    arap_deformation *d = &self->deformation;
    const double *points = NULL;
    npy_intp count = 0;
    arap_call call;
    arap_call_init(&call, (PyObject *)self);
    call.bones = d->bones;
    call.in.size['n' - 'a'] = d->count;
    if (d->bones.count) call.in.size['m' - 'a'] = d->bones.count;
    if (arap_parse(signature, args, kwargs, &call.in, NULL) ||
        arap_py_context_init(&call.run, call.in.progress, self->base.threads) ||
        (call.in.posed && !(points = arap_posed_from_inputs(&call.in, 0, &count))))
        return arap_close(&call);
    int needs_poses = !points || d->limbs.count || call.in.poses;
    if (needs_poses && take_poses(&call)) return arap_close(&call);
    if (points && needs_poses && call.poses.count != count)
        PyErr_Format(PyExc_ValueError, "posed has %zd poses, but poses has %d", count,
                     call.poses.count);
    else if (!points)
        arap_sparse_weights_from_inputs(&call.in, &call.weights);
    if (PyErr_Occurred()) return arap_close(&call);
    const arap_skinning unmoved = {.poses = (int)count};
    ARAP_BEGIN_WORK
    call.status = needs_poses ? add_skinned(&call, d, points)
                              : arap_deformation_add(&call.run.context, d, &unmoved, NULL, points);
    ARAP_END_WORK
    return arap_close(&call);
}

static PyObject *add(deformation_object *self, const arap_signature *signature, PyObject *args,
                     PyObject *kwargs) {
    if (arap_py_object_enter(&self->base)) return NULL;
    PyObject *none = add_locked(self, signature, args, kwargs);
    arap_py_object_leave(&self->base);
    return none;
}

static PyObject *deformation_skin(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "skin", .names = "weights poses * bends segment_poses parameters progress"};
    return add(self, &signature, args, kwargs);
}

static PyObject *deformation_add(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "add",
                                             .names = "posed poses= * bends segment_poses"};
    return add(self, &signature, args, kwargs);
}

static PyObject *deformation_clear(deformation_object *self, PyObject *unused) {
    (void)unused;
    if (arap_py_object_enter(&self->base)) return NULL;
    arap_deformation_restart(&self->deformation);
    arap_py_object_leave(&self->base);
    return Py_NewRef(Py_None);
}

static PyObject *deformation_measures(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "measures",
                                             .names = "* per_triangle per_vertex"};
    arap_call call;
    arap_py_object_call(&self->base, &call);
    if (arap_parse(&signature, args, kwargs, &call.in, NULL) || arap_py_object_enter(&self->base))
        return arap_close(&call);
    if (self->deformation.poses)
        add_measures(&call, &self->deformation, call.in.per_triangle, call.in.per_vertex);
    else
        PyErr_SetString(PyExc_ValueError, "there are no poses");
    arap_py_object_leave(&self->base);
    return arap_close(&call);
}

static PyMethodDef deformation_methods[] = {
    {"skin", ARAP_KEYWORDS(deformation_skin), DOC_Deformation_skin},
    {"add", ARAP_KEYWORDS(deformation_add), DOC_Deformation_add},
    {"clear", (PyCFunction)deformation_clear, METH_NOARGS, DOC_Deformation_clear},
    {"measures", ARAP_KEYWORDS(deformation_measures), DOC_Deformation_measures},
    {0}};

static PyType_Slot deformation_slots[] = {
    {Py_tp_new, arap_py_object_new},      {Py_tp_init, deformation_init},
    {Py_tp_dealloc, deformation_dealloc}, {Py_tp_methods, deformation_methods},
    {Py_tp_doc, DOC_Deformation},         {0, NULL}};

static PyType_Spec deformation_spec = {.name = "araplbs.Deformation",
                                       .basicsize = sizeof(deformation_object),
                                       .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                       .slots = deformation_slots};

PyObject *arap_make_deformation_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &deformation_spec, NULL);
}
