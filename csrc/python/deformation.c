/* The functions surface_strain and deformation and the type Deformation of the module, which are
 * documented in the stubs. Every method holds the lock of the object while it works. Arguments are
 * copied and the work runs without the GIL. Cost and failures are those of the functions called. */
#include "python/functions.h"

#include "base/memory.h"
#include "measures/deformation.h"
#include "python/engine_docs.h"
#include "python/error.h"
#include "python/input.h"
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
static int take_poses(arap_inputs *in, arap_bones *bones, arap_given_poses *given) {
    if (!in->poses) {
        PyErr_SetString(PyExc_TypeError, "poses must be an array, not None");
        return -1;
    }
    if (!bones->count) bones->count = (int)arap_input_size(in, 'm');
    return arap_some_poses_from_inputs(in, bones, given);
}

/* Skin with bones, which may be more than the deformation knows, and add the result. */
static arap_status add_skinned(arap_context *context, arap_deformation *d, const arap_bones *bones,
                               const arap_given_poses *given, const arap_sparse_weights *rows,
                               const double *posed) {
    arap_skinning skinning;
    arap_status status =
        arap_skinning_create(context, d->count, d->vertices, bones, given, &skinning);
    if (status) return status;
    status = arap_deformation_add(context, d, &skinning, rows, posed);
    arap_skinning_clear(&skinning);
    return status;
}

static PyObject *measures_dict(const arap_module_state *state, arap_context *context,
                               const arap_deformation *d, int per_triangle, int per_vertex) {
    arap_measures measures;
    npy_intp triangles = (npy_intp)d->surface.triangle_count, n = d->count, m = d->bones.count;
    PyObject *dict = NULL, *drifts = arap_new_doubles(1, &m, NULL);
    PyObject *faces = drifts && per_triangle ? arap_new_doubles(1, &triangles, NULL) : NULL;
    PyObject *points = drifts && per_vertex ? arap_new_doubles(1, &n, NULL) : NULL;
    if (PyErr_Occurred()) goto done;
    arap_status status = arap_deformation_measures(context, d, &measures);
    if (faces)
        arap_triangle_strain(&d->surface, d->poses, d->strain2,
                             PyArray_DATA((PyArrayObject *)faces));
    if (!status && points)
        status = arap_vertex_strain(context, &d->surface, d->poses, d->strain2, d->count,
                                    PyArray_DATA((PyArrayObject *)points));
    if (status) {
        arap_raise(state, context);
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
    static const arap_signature signature = {.function = "surface_strain",
                                             .names = "vertices triangles? posed * threads"};
    PyObject *result = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_deformation d = {0};
    arap_py_context run;
    arap_status status;
    npy_intp poses;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry))
        goto done;
    const double *posed = arap_posed_from_inputs(&in, 1, &poses);
    npy_intp count = (npy_intp)geometry.triangle_count;
    if (!posed || !(result = arap_new_doubles(1, &count, NULL))) goto done;
    double *out = PyArray_DATA((PyArrayObject *)result);
    const arap_bones none = {0};
    const arap_skinning unmoved = {.poses = (int)poses};
    ARAP_BEGIN_WORK
    status = arap_deformation_create(&run.context, &geometry, &none, &d);
    if (!status) status = arap_deformation_add(&run.context, &d, &unmoved, NULL, posed);
    if (!status) arap_triangle_strain(&d.surface, d.poses, d.strain2, out);
    ARAP_END_WORK
    result = arap_finish(PyModule_GetState(module), &run, status, result);

done:
    arap_deformation_clear(&d);
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_deformation(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "deformation",
        .names = "vertices triangles? weights poses bone_heads= bone_tails= * bone_deform "
                 "bone_kinds bone_segments bends segment_poses parameters per_triangle per_vertex "
                 "progress threads"};
    PyObject *result = NULL;
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_given_poses given;
    arap_sparse_weights rows;
    arap_deformation d = {0};
    arap_py_context run;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run) ||
        arap_geometry_from_inputs(&in, &geometry) || take_bones(&in, &bones))
        goto done;
    arap_bones skinned = bones;
    if (take_poses(&in, &skinned, &given) || arap_sparse_weights_from_inputs(&in, &rows)) goto done;
    ARAP_BEGIN_WORK
    status = arap_deformation_create(&run.context, &geometry, &bones, &d);
    if (!status) status = add_skinned(&run.context, &d, &skinned, &given, &rows, NULL);
    ARAP_END_WORK
    if (status)
        arap_raise(PyModule_GetState(module), &run.context);
    else
        result = measures_dict(PyModule_GetState(module), &run.context, &d, in.per_triangle,
                               in.per_vertex);

done:
    arap_deformation_clear(&d);
    arap_inputs_release(&in);
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
    static const arap_signature signature = {
        .function = "Deformation",
        .names = "vertices triangles? bone_heads= bone_tails= * bone_deform bone_kinds "
                 "bone_segments threads"};
    arap_inputs in;
    arap_geometry geometry;
    arap_bones bones;
    arap_deformation made = {0};
    arap_py_context run;
    arap_status status = ARAP_OK;
    if (!arap_open(&signature, args, kwargs, NULL, &in, &run) &&
        !arap_geometry_from_inputs(&in, &geometry) && !take_bones(&in, &bones)) {
        ARAP_BEGIN_WORK
        status = arap_deformation_create(&run.context, &geometry, &bones, &made);
        ARAP_END_WORK
        if (status) arap_raise(state_of(self), &run.context);
    }
    arap_inputs_release(&in);
    if (PyErr_Occurred()) return -1;
    if (self->deformation.count && arap_py_object_enter(&self->base)) {
        arap_deformation_clear(&made);
        return -1;
    }
    int held = self->deformation.count;
    arap_deformation_clear(&self->deformation);
    self->deformation = made;
    self->base.threads = in.threads;
    self->base.created = 1;
    if (held) arap_py_leave(&self->base.lock);
    return 0;
}

/* Add poses from weights or, if the signature has `posed`, from these points. */
static PyObject *add(deformation_object *self, const arap_signature *signature, PyObject *args,
                     PyObject *kwargs) {
    arap_deformation *d = &self->deformation;
    arap_inputs in;
    arap_bones bones;
    arap_given_poses given = {0};
    arap_sparse_weights rows = {0};
    arap_py_context run;
    arap_status status;
    const double *points = NULL;
    npy_intp count = 0;
    PyObject *result = NULL;
    arap_inputs_init(&in);
    if (arap_py_object_enter(&self->base)) return NULL;
    bones = d->bones;
    in.size['n' - 'a'] = d->count;
    if (bones.count) in.size['m' - 'a'] = bones.count;
    if (arap_parse(signature, args, kwargs, &in, NULL) ||
        arap_py_context_init(&run, in.progress, self->base.threads) ||
        (in.posed && !(points = arap_posed_from_inputs(&in, 0, &count))))
        goto done;
    int needs_poses = !points || d->limbs.count || in.poses;
    if (needs_poses && take_poses(&in, &bones, &given)) goto done;
    if (points && needs_poses && given.count != count) {
        PyErr_Format(PyExc_ValueError, "posed has %zd poses, but poses has %d", count, given.count);
        goto done;
    }
    if (!points && arap_sparse_weights_from_inputs(&in, &rows)) goto done;
    const arap_skinning unmoved = {.poses = (int)count};
    ARAP_BEGIN_WORK
    status = needs_poses
                 ? add_skinned(&run.context, d, &bones, &given, points ? NULL : &rows, points)
                 : arap_deformation_add(&run.context, d, &unmoved, NULL, points);
    ARAP_END_WORK
    if (status)
        arap_raise(state_of(self), &run.context);
    else
        result = Py_NewRef(Py_None);

done:
    arap_py_leave(&self->base.lock);
    arap_inputs_release(&in);
    return result;
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
    arap_py_leave(&self->base.lock);
    return Py_NewRef(Py_None);
}

static PyObject *deformation_measures(deformation_object *self, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "measures",
                                             .names = "* per_triangle per_vertex"};
    arap_inputs in;
    arap_py_context run;
    PyObject *dict = NULL;
    arap_inputs_init(&in);
    if (arap_parse(&signature, args, kwargs, &in, NULL) ||
        arap_py_context_init(&run, NULL, self->base.threads) || arap_py_object_enter(&self->base))
        return NULL;
    if (self->deformation.poses)
        dict = measures_dict(state_of(self), &run.context, &self->deformation, in.per_triangle,
                             in.per_vertex);
    else
        PyErr_SetString(PyExc_ValueError, "there are no poses");
    arap_py_leave(&self->base.lock);
    return dict;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef deformation_methods[] = {
    {"skin", KEYWORDS(deformation_skin), DOC_Deformation_skin},
    {"add", KEYWORDS(deformation_add), DOC_Deformation_add},
    {"clear", (PyCFunction)deformation_clear, METH_NOARGS, DOC_Deformation_clear},
    {"measures", KEYWORDS(deformation_measures), DOC_Deformation_measures},
    {0}};

static PyType_Slot deformation_slots[] = {
    {Py_tp_new, deformation_new},         {Py_tp_init, deformation_init},
    {Py_tp_dealloc, deformation_dealloc}, {Py_tp_methods, deformation_methods},
    {Py_tp_doc, DOC_Deformation},         {0, NULL}};

static PyType_Spec deformation_spec = {.name = "araplbs.Deformation",
                                       .basicsize = sizeof(deformation_object),
                                       .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                       .slots = deformation_slots};

PyObject *arap_make_deformation_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &deformation_spec, NULL);
}
