/* The Python type araplbs.Solver: see the stubs for its documentation. Every method holds the lock
 * of the object while it reads or changes the object. Arguments are copied and the work runs
 * without the GIL. Cost and failures are those of the functions called. */
#include "python/functions.h"

#include <string.h>

#include "arap.h"
#include "base/memory.h"
#include "python/engine_docs.h"
#include "python/input.h"
#include "python/object.h"
#include "python/report.h"
#include "rig/joint_skeleton.h"

typedef struct solver_object {
    arap_py_object base;
    arap_solver *solver;
    /* The most recently returned arrays, valid until the next iteration. */
    arap_influences weights;
    double energy;
    int has_weights, has_energy;
    double shared, saved[ARAP_SCALING_SIZES]; /* of all contexts */
} solver_object;

static arap_module_state *state_of(solver_object *self) {
    return arap_py_object_state(&self->base);
}

/* The speedup that a finished call would have had with more processors. */
static void note_shared(solver_object *self, const arap_context *context) {
    self->shared += context->shared;
    for (int k = 0; k < ARAP_SCALING_SIZES; k++) self->saved[k] += context->saved[k];
}

static PyObject *solver_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    return arap_py_object_new(type, "Solver");
}

static void solver_dealloc(solver_object *self) {
    PyObject_GC_UnTrack((PyObject *)self);
    arap_influences_clear(&self->weights);
    arap_solver_free(self->solver);
    arap_py_object_free((PyObject *)self);
}

const arap_signature arap_solver_signature = {
    "Solver",
    "vertices triangles? bone_heads bone_tails? bone_parents * edges tets bone_roll_axes "
    "bone_ways bone_deform bone_limits bone_kinds bone_ranges bone_segments bone_stretch poses "
    "pose_weights "
    "bends "
    "segment_poses "
    "parameters weights start_from_weights locked_vertices locked_bones vertex_sets constraints "
    "influences smoothed released rigid_parts symmetry progress threads **",
    TEXT_Solver,
    {&arap_sampling_settings, &arap_common_settings, &arap_solver_settings}};

static int solver_init(solver_object *self, PyObject *args, PyObject *kwargs) {
    arap_inputs in;
    arap_settings settings;
    arap_problem problem = {0};
    arap_sparse_weights rows;
    arap_reflection reflection;
    arap_py_context run;
    arap_joint_skeleton joints;
    arap_solver *created = NULL;
    void *const places[] = {&settings.sampling, &settings, &settings};
    int result = -1;
    arap_settings_default(&settings);
    arap_inputs_init(&in);
    if (arap_py_object_begin(&self->base)) return -1;
    if (arap_parse(&arap_solver_signature, args, kwargs, &in, places) ||
        arap_py_context_init(&run, in.progress, in.threads) ||
        arap_problem_from_inputs(&in, &problem, &rows, &reflection) ||
        arap_edits_from_inputs(&in, &problem.edits) || arap_locks_from_inputs(&in, &problem))
        goto done;
    problem.start_from_weights = in.start_from_weights;

    ARAP_BEGIN_WORK
    if (!arap_complete_bones(&run.context, &problem.geometry, &problem.bones, &joints))
        arap_solver_create(&run.context, &problem, &settings, &created);
    arap_joint_skeleton_clear(&joints);
    ARAP_END_WORK
    if (!created) {
        arap_raise(state_of(self), &run.context);
        goto done;
    }
    self->solver = created;
    note_shared(self, &run.context);
    arap_py_object_created(&self->base, &run);
    result = 0;

done:
    arap_inputs_release(&in);
    arap_py_leave(&self->base.lock);
    return result;
}

/* Run `count` iterations and return the resulting energy. The lock must be held. */
static PyObject *iterate_locked(arap_py_object *object, int count) {
    solver_object *self = (solver_object *)object;
    arap_py_context run;
    arap_report report;
    arap_status status;
    arap_py_object_start(&self->base, &run);
    self->has_weights = self->has_energy = 0;
    ARAP_BEGIN_WORK
    status = arap_solver_iterate(&run.context, self->solver, count);
    ARAP_END_WORK
    note_shared(self, &run.context);
    if (status) return arap_raise(state_of(self), &run.context);
    arap_solver_report(self->solver, &report);
    return PyFloat_FromDouble(report.energies[report.energy_count - 1]);
}

static int nothing_left(const arap_py_object *self) {
    return arap_solver_done(((const solver_object *)self)->solver);
}

static PyObject *solver_iterate(arap_py_object *self, PyObject *args) {
    return arap_py_object_iterate(self, args, iterate_locked);
}

static PyObject *solver_solve(arap_py_object *self, PyObject *unused) {
    (void)unused;
    return arap_py_object_solve(self, iterate_locked, nothing_left);
}

/* Return -1 with an exception unless the mesh has this many vertices. */
static int refuse_size(const solver_object *self, npy_intp size) {
    arap_report report;
    arap_solver_report(self->solver, &report);
    if (size == report.vertices) return 0;
    PyErr_Format(PyExc_ValueError, "rigid_parts has %zd entries, expected %d", size,
                 report.vertices);
    return -1;
}

static PyObject *solver_edit(solver_object *self, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "edit",
                                             .names = "* constraints influences smoothed released "
                                                      "rigid_parts"};
    arap_inputs in;
    arap_edits edits;
    arap_py_context run;
    arap_status status;
    arap_inputs_init(&in);
    if (arap_parse(&signature, args, kwargs, &in, NULL) || arap_edits_from_inputs(&in, &edits) ||
        arap_py_object_enter(&self->base))
        goto done;
    if (edits.rigid_parts && refuse_size(self, arap_input_size(&in, 'n'))) {
        arap_py_leave(&self->base.lock);
        goto done;
    }
    arap_py_object_start(&self->base, &run);
    self->has_weights = self->has_energy = 0;
    ARAP_BEGIN_WORK
    status = arap_solver_edit(&run.context, self->solver, &edits);
    ARAP_END_WORK
    note_shared(self, &run.context);
    if (status) arap_raise(state_of(self), &run.context);
    arap_py_leave(&self->base.lock);

done:
    arap_inputs_release(&in);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* Compute the returned arrays, unless nothing has changed since the last call. The lock must be
 * held. */
static int refresh_weights(solver_object *self) {
    arap_py_context run;
    arap_status status;
    if (self->has_weights) return 0;
    arap_py_object_start(&self->base, &run);
    run.context.progress = NULL;
    arap_influences_clear(&self->weights);
    ARAP_BEGIN_WORK
    status = arap_solver_weights(&run.context, self->solver, &self->weights);
    ARAP_END_WORK
    note_shared(self, &run.context);
    self->has_weights = !status;
    if (!status) return 0;
    arap_raise(state_of(self), &run.context);
    return -1;
}

static PyObject *dense(const arap_solver *solver, const arap_influences *in) {
    arap_report report;
    arap_solver_report(solver, &report);
    return arap_dense_weights(in, report.bones);
}

static PyObject *dense_weights(solver_object *self) { return dense(self->solver, &self->weights); }

static PyObject *sparse_weights(solver_object *self) {
    return arap_py_sparse_weights(&self->weights);
}

/* The energy of the returned weights, computed on request because it costs a local step. The lock
 * must be held. */
static PyObject *weights_energy(solver_object *self) {
    arap_py_context run;
    arap_status status = ARAP_OK;
    if (self->has_energy) return PyFloat_FromDouble(self->energy);
    arap_py_object_start(&self->base, &run);
    run.context.progress = NULL;
    ARAP_BEGIN_WORK
    status = arap_solver_energy(&run.context, self->solver, &self->energy);
    ARAP_END_WORK
    if (status) return arap_raise(state_of(self), &run.context);
    self->has_energy = 1;
    return PyFloat_FromDouble(self->energy);
}

/* The weights from `hand_out`, as rows or dense. */
static PyObject *handed_out(solver_object *self, int sparse,
                            arap_status (*hand_out)(arap_context *, const arap_solver *,
                                                    arap_influences *)) {
    arap_py_context run;
    arap_influences weights;
    arap_py_object_start(&self->base, &run);
    arap_status status = hand_out(&run.context, self->solver, &weights);
    if (status) return arap_raise(state_of(self), &run.context);
    PyObject *made = sparse ? arap_py_sparse_weights(&weights) : dense(self->solver, &weights);
    arap_influences_clear(&weights);
    return made;
}

static PyObject *initial_weights(solver_object *self) {
    return handed_out(self, 0, arap_solver_initial_weights);
}

static PyObject *sparse_initial_weights(solver_object *self) {
    return handed_out(self, 1, arap_solver_initial_weights);
}

static PyObject *raw_weights(solver_object *self) {
    return handed_out(self, 0, arap_solver_raw_weights);
}

/* A list with a dictionary for each row of constraints. */
static PyObject *constraint_rows(solver_object *self) {
    static const char *const kinds[] = {"peak", "attach", "user"};
    arap_constraint_view *rows = NULL;
    arap_py_context run;
    int count = 0;
    arap_py_object_start(&self->base, &run);
    if (arap_solver_constraints(&run.context, self->solver, &count, &rows))
        return arap_raise(state_of(self), &run.context);
    PyObject *list = PyList_New(count);
    for (int r = 0; list && r < count; r++) {
        PyObject *item =
            Py_BuildValue("{s:i,s:i,s:d,s:s,s:O}", "vertex", rows[r].vertex, "bone", rows[r].bone,
                          "target", rows[r].target, "kind", kinds[rows[r].kind], "released",
                          rows[r].released ? Py_True : Py_False);
        if (item)
            PyList_SetItem(list, r, item);
        else
            Py_CLEAR(list);
    }
    arap_free(rows);
    return list;
}

static PyObject *springs(solver_object *self) {
    arap_spring_view *views = NULL;
    arap_py_context run;
    size_t count = 0;
    arap_py_object_start(&self->base, &run);
    if (arap_solver_springs(&run.context, self->solver, &count, &views))
        return arap_raise(state_of(self), &run.context);
    PyObject *arrays = arap_spring_arrays(count, views);
    arap_free(views);
    return arrays;
}

static PyObject *rigid_parts(solver_object *self) {
    arap_report report;
    arap_solver_report(self->solver, &report);
    npy_intp n = report.vertices;
    PyObject *array = PyArray_SimpleNew(1, &n, NPY_INT);
    if (array) arap_solver_rigid_parts(self->solver, PyArray_DATA((PyArrayObject *)array));
    return array;
}

static PyObject *is_done(solver_object *self) {
    return PyBool_FromLong(arap_solver_done(self->solver));
}

static PyObject *energy_history(solver_object *self) {
    arap_report report;
    arap_solver_report(self->solver, &report);
    npy_intp count = report.energy_count;
    return arap_new_doubles(1, &count, report.energies);
}

/* A report and the further values that only its dictionary contains. */
typedef struct whole_report {
    arap_report report;
    arap_usage usage;
    arap_bone_responses responses;
    double shared, saved[ARAP_SCALING_SIZES];
} whole_report;

static PyObject *make_unseen_parts(const void *all) {
    const arap_report *report = all;
    PyObject *list = PyList_New(report->unseen_count);
    for (int k = 0; list && k < report->unseen_count; k++) {
        const arap_island *island = &report->unseen[k];
        PyObject *item = Py_BuildValue("{s:i,s:i,s:O}", "vertex", island->vertex, "size",
                                       island->size, "rigid", island->rigid ? Py_True : Py_False);
        if (!item) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, k, item);
    }
    return list;
}

static PyObject *make_stage_starts(const void *all) {
    const arap_report *report = all;
    PyObject *list = PyList_New(0);
    for (int k = 1; list && k <= ARAP_MAX_STAGES; k++) {
        if (report->stage_start[k] < 0) continue;
        PyObject *entry = PyLong_FromLong(report->stage_start[k]);
        if (!entry || PyList_Append(list, entry)) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *make_energy_after(const void *all) {
    const arap_report *report = all;
    return PyFloat_FromDouble(report->energies[report->energy_count - 1]);
}

static PyObject *make_most_influences(const void *all) {
    return PyLong_FromSize_t(((const whole_report *)all)->usage.max);
}

static PyObject *make_mean_influences(const void *all) {
    return PyFloat_FromDouble(((const whole_report *)all)->usage.mean);
}

static PyObject *make_idle_bones(const void *all) {
    const arap_usage *usage = &((const whole_report *)all)->usage;
    PyObject *idle = PyList_New(usage->idle_count);
    for (int k = 0; idle && k < usage->idle_count; k++) {
        PyObject *bone = PyLong_FromLong(usage->idle[k]);
        if (!bone || PyList_SetItem(idle, k, bone)) Py_CLEAR(idle);
    }
    return idle;
}

/* The bones of a kind. */
static PyObject *list_bones(const whole_report *all,
                            int (*is_one)(const whole_report *all, int bone)) {
    PyObject *list = PyList_New(0);
    for (int b = 0; list && b < all->report.bones; b++) {
        if (!is_one(all, b)) continue;
        PyObject *bone = PyLong_FromLong(b);
        if (!bone || PyList_Append(list, bone)) Py_CLEAR(list);
        Py_XDECREF(bone);
    }
    return list;
}

static int is_held(const whole_report *all, int bone) { return all->responses.held[bone]; }

static int is_unresponsive(const whole_report *all, int bone) {
    double response = all->responses.response[bone];
    return response >= 0 && response < all->responses.minimum / 2;
}

static int is_skinless(const whole_report *all, int bone) {
    return all->responses.response[bone] == ARAP_NO_SKIN;
}

static int is_inner(const whole_report *all, int bone) { return all->responses.inner[bone]; }

static PyObject *make_inner_bones(const void *all) { return list_bones(all, is_inner); }
static PyObject *make_held_bones(const void *all) { return list_bones(all, is_held); }
static PyObject *make_deaf_bones(const void *all) { return list_bones(all, is_unresponsive); }
static PyObject *make_skinless_bones(const void *all) { return list_bones(all, is_skinless); }

static PyObject *make_seconds(const void *all) {
    return arap_stage_seconds(ARAP_TIMES, arap_timing_names, ((const arap_report *)all)->seconds);
}

static PyObject *make_shared_seconds(const void *all) {
    return PyFloat_FromDouble(((const whole_report *)all)->shared);
}

static PyObject *make_saved_seconds(const void *all) {
    const double *saved = ((const whole_report *)all)->saved;
    return Py_BuildValue("[ddd]", saved[0], saved[1], saved[2]);
}

static const arap_report_entry entries[] = {
#define ARAP_REPORT_OF arap_report
#define ARAP_REPORT_SOLVER
#include "report.def"
};

static PyObject *full_report(solver_object *self) {
    whole_report all;
    arap_py_context run;
    arap_solver_report(self->solver, &all.report);
    all.shared = self->shared;
    memcpy(all.saved, self->saved, sizeof all.saved);
    arap_py_object_start(&self->base, &run);
    if (arap_solver_usage(&run.context, self->solver, &self->weights, &all.usage))
        return arap_raise(state_of(self), &run.context);
    PyObject *report = NULL;
    if (arap_solver_responses(&run.context, self->solver, &self->weights, &all.responses))
        arap_raise(state_of(self), &run.context);
    else
        report = arap_report_dict(sizeof entries / sizeof *entries, entries, &all);
    arap_bone_responses_clear(&all.responses);
    arap_free(all.usage.idle);
    return report;
}

/* An array of the responses, NaN for bones without one. */
static PyObject *measured_responses(solver_object *self, int shares) {
    arap_bone_responses all;
    arap_report report;
    arap_py_context run;
    arap_solver_report(self->solver, &report);
    arap_py_object_start(&self->base, &run);
    if (arap_solver_responses(&run.context, self->solver, &self->weights, &all))
        return arap_raise(state_of(self), &run.context);
    double *values = shares ? all.share : all.response;
    npy_intp bones = report.bones;
    for (npy_intp b = 0; b < bones; b++)
        if (values[b] < 0) values[b] = Py_NAN;
    PyObject *array = arap_new_doubles(1, &bones, values);
    arap_bone_responses_clear(&all);
    return array;
}

static PyObject *responses(solver_object *self) { return measured_responses(self, 0); }
static PyObject *shares(solver_object *self) { return measured_responses(self, 1); }

static PyObject *inside(solver_object *self) { return arap_inside_dict(self->solver); }

/* A property: its getter, and whether it needs the returned weights. */
typedef struct property {
    PyObject *(*read)(solver_object *self);
    int needs_weights;
} property;

static PyObject *get_property(solver_object *self, void *closure) {
    const property *p = closure;
    PyObject *value = NULL;
    if (arap_py_object_enter(&self->base)) return NULL;
    if (!p->needs_weights || !refresh_weights(self)) value = p->read(self);
    arap_py_leave(&self->base.lock);
    return value;
}

static PyMethodDef solver_methods[] = {
    {"iterate", (PyCFunction)solver_iterate, METH_VARARGS, DOC_Solver_iterate},
    {"edit", (PyCFunction)(void (*)(void))solver_edit, METH_VARARGS | METH_KEYWORDS,
     DOC_Solver_edit},
    {"solve", (PyCFunction)solver_solve, METH_NOARGS, DOC_Solver_solve},
    {0}};

#define PROPERTY(name, read, needs_weights, doc)                                                   \
    {                                                                                              \
        name, (getter)get_property, NULL, doc, (void *)&(const property) { read, needs_weights }   \
    }

static PyGetSetDef solver_properties[] = {
    PROPERTY("weights", dense_weights, 1, "(vertices, bones) weights to use"),
    PROPERTY("sparse_weights", sparse_weights, 1,
             "the same as (start, bones, weights) of the rows"),
    PROPERTY("responses", responses, 1, "how far the own skin of each bone follows it, NaN: none"),
    PROPERTY("shares", shares, 1, "the weight of each bone relative to its initial one, NaN: none"),
    PROPERTY("energy", weights_energy, 0, "relative energy of `weights`"),
    PROPERTY("report", full_report, 1, "a report of the work, as a dict"),
    PROPERTY("energies", energy_history, 0, "relative energies since the start"),
    PROPERTY("initial_weights", initial_weights, 0, "weights before any iteration"),
    PROPERTY("sparse_initial_weights", sparse_initial_weights, 0, "the same as rows"),
    PROPERTY("raw_weights", raw_weights, 0, "current weights before clipping"),
    PROPERTY("constraint_rows", constraint_rows, 0, "rows that keep weights at given values"),
    PROPERTY("bone_springs", springs, 0, "springs that tie vertices to bones"),
    PROPERTY("rigid_parts", rigid_parts, 0, "number of the rigid part of each vertex, or -1"),
    PROPERTY("done", is_done, 0, "whether all work is done"),
    PROPERTY("_inside", inside, 0, "arrays for the tests"),
    {0}};

static PyType_Slot solver_slots[] = {{Py_tp_new, solver_new},
                                     {Py_tp_init, solver_init},
                                     {Py_tp_dealloc, solver_dealloc},
                                     {Py_tp_traverse, arap_py_object_traverse},
                                     {Py_tp_clear, arap_py_object_clear},
                                     {Py_tp_methods, solver_methods},
                                     {Py_tp_getset, solver_properties},
                                     {0, NULL}};

static PyType_Spec solver_spec = {.name = "araplbs.Solver",
                                  .basicsize = sizeof(solver_object),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                           Py_TPFLAGS_IMMUTABLETYPE,
                                  .slots = solver_slots};

PyObject *arap_make_solver_type(PyObject *module) {
    return arap_make_type(module, &solver_spec, &arap_solver_signature);
}
