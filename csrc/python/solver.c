/* The Python type araplbs.Solver: see the stubs for its documentation. Every method holds the lock
 * of the object while it reads or changes the object. Arguments are copied and the work runs
 * without the GIL. Cost and failures are those of the functions called. */
#include "python/functions.h"

#include "arap.h"
#include "base/memory.h"
#include "python/engine_docs.h"
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

/* The speedup that a finished call would have had with more processors. */
static void note_shared(solver_object *self, const arap_context *context) {
    self->shared += context->shared;
    for (int k = 0; k < ARAP_SCALING_SIZES; k++) self->saved[k] += context->saved[k];
}

static void solver_dealloc(solver_object *self) {
    PyObject_GC_UnTrack((PyObject *)self);
    arap_influences_clear(&self->weights);
    arap_solver_free(self->solver);
    arap_py_object_free((PyObject *)self);
}

const arap_signature arap_solver_signature = {
    .function = "Solver",
    .names = "vertices triangles? bone_heads bone_tails? bone_parents * edges tets "
             "bone_roll_axes bone_ways bone_deform bone_limits bone_kinds bone_ranges "
             "bone_segments bone_stretch poses pose_weights bends segment_poses parameters "
             "weights start_from_weights locked_vertices locked_bones vertex_sets constraints "
             "influences smoothed released rigid_parts symmetry progress threads **",
    .tables = {&arap_sampling_settings, &arap_common_settings, &arap_solver_settings}};

static int solver_init(solver_object *self, PyObject *args, PyObject *kwargs) {
    arap_settings settings;
    arap_problem problem = {0};
    arap_sparse_weights rows;
    arap_reflection reflection;
    arap_joint_skeleton joints;
    arap_call call;
    void *const places[] = {&settings.sampling, &settings, &settings};
    if (arap_py_object_begin(&self->base)) return -1;
    if (!arap_open(&call, &arap_solver_signature, (PyObject *)self, args, kwargs, places) &&
        !arap_problem_from_inputs(&call.in, &problem, &rows, &reflection) &&
        !arap_edits_from_inputs(&call.in, &problem.edits) &&
        !arap_locks_from_inputs(&call.in, &problem)) {
        arap_context *context = &call.run.context;
        problem.start_from_weights = call.in.start_from_weights;
        ARAP_BEGIN_WORK
        call.status = arap_complete_bones(context, &problem.geometry, &problem.bones, &joints);
        if (!call.status)
            call.status = arap_solver_create(context, &problem, &settings, &self->solver);
        arap_joint_skeleton_clear(&joints);
        ARAP_END_WORK
        if (!call.status) {
            note_shared(self, context);
            arap_py_object_created(&self->base, &call.run);
        }
    }
    arap_py_object_leave(&self->base);
    return arap_end(&call);
}

/* Run `count` iterations and return the resulting energy. The lock must be held. */
static PyObject *iterate_locked(arap_py_object *object, int count) {
    solver_object *self = (solver_object *)object;
    arap_report report;
    arap_call call;
    arap_py_object_call(object, &call);
    self->has_weights = self->has_energy = 0;
    ARAP_BEGIN_WORK
    call.status = arap_solver_iterate(&call.run.context, self->solver, count);
    ARAP_END_WORK
    note_shared(self, &call.run.context);
    if (!call.status) {
        arap_solver_report(self->solver, &report);
        arap_add_result(&call, PyFloat_FromDouble(report.energies[report.energy_count - 1]));
    }
    return arap_close(&call);
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
    arap_edits edits;
    arap_call call;
    arap_py_object_call(&self->base, &call);
    if (arap_parse(&signature, args, kwargs, &call.in, NULL) ||
        arap_edits_from_inputs(&call.in, &edits) || arap_py_object_enter(&self->base))
        return arap_close(&call);
    if (!edits.rigid_parts || !refuse_size(self, arap_input_size(&call.in, 'n'))) {
        self->has_weights = self->has_energy = 0;
        ARAP_BEGIN_WORK
        call.status = arap_solver_edit(&call.run.context, self->solver, &edits);
        ARAP_END_WORK
        note_shared(self, &call.run.context);
    }
    arap_py_object_leave(&self->base);
    return arap_close(&call);
}

/* Compute the returned arrays, unless nothing has changed since the last call. The lock must be
 * held. */
static int refresh_weights(solver_object *self) {
    arap_call call;
    if (self->has_weights) return 0;
    arap_py_object_call(&self->base, &call);
    call.run.context.progress = NULL;
    arap_influences_clear(&self->weights);
    ARAP_BEGIN_WORK
    call.status = arap_solver_weights(&call.run.context, self->solver, &self->weights);
    ARAP_END_WORK
    note_shared(self, &call.run.context);
    self->has_weights = !call.status;
    return arap_end(&call);
}

static PyObject *as_rows_or_dense(const solver_object *self, const arap_influences *weights,
                                  int sparse) {
    arap_report report;
    arap_solver_report(self->solver, &report);
    return sparse ? arap_py_sparse_weights(weights) : arap_dense_weights(weights, report.bones);
}

static PyObject *dense_weights(solver_object *self) {
    return refresh_weights(self) ? NULL : as_rows_or_dense(self, &self->weights, 0);
}

static PyObject *sparse_weights(solver_object *self) {
    return refresh_weights(self) ? NULL : as_rows_or_dense(self, &self->weights, 1);
}

/* The energy of the returned weights, computed on request because it costs a local step. The lock
 * must be held. */
static PyObject *weights_energy(solver_object *self) {
    arap_call call;
    arap_py_object_call(&self->base, &call);
    call.run.context.progress = NULL;
    if (!self->has_energy) {
        ARAP_BEGIN_WORK
        call.status = arap_solver_energy(&call.run.context, self->solver, &self->energy);
        ARAP_END_WORK
        self->has_energy = !call.status;
    }
    arap_add_result(&call, PyFloat_FromDouble(self->energy));
    return arap_close(&call);
}

/* The weights from `hand_out`, as rows or dense. */
static PyObject *handed_out(solver_object *self, int sparse,
                            arap_status (*hand_out)(arap_context *, const arap_solver *,
                                                    arap_influences *)) {
    arap_influences weights;
    arap_call call;
    arap_py_object_call(&self->base, &call);
    call.status = hand_out(&call.run.context, self->solver, &weights);
    if (!call.status) {
        arap_add_result(&call, as_rows_or_dense(self, &weights, sparse));
        arap_influences_clear(&weights);
    }
    return arap_close(&call);
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
    arap_call call;
    int count = 0;
    arap_py_object_call(&self->base, &call);
    call.status = arap_solver_constraints(&call.run.context, self->solver, &count, &rows);
    PyObject *list = call.status ? NULL : PyList_New(count);
    for (int r = 0; list && r < count; r++) {
        PyObject *item =
            Py_BuildValue("{s:i,s:i,s:d,s:s,s:O}", "vertex", rows[r].vertex, "bone", rows[r].bone,
                          "target", rows[r].target, "kind", kinds[rows[r].kind], "released",
                          rows[r].released ? Py_True : Py_False);
        if (!item || PyList_SetItem(list, r, item)) Py_CLEAR(list);
    }
    arap_add_result(&call, list);
    arap_free(rows);
    return arap_close(&call);
}

static PyObject *springs(solver_object *self) {
    arap_spring_view *views = NULL;
    arap_call call;
    size_t count = 0;
    arap_py_object_call(&self->base, &call);
    call.status = arap_solver_springs(&call.run.context, self->solver, &count, &views);
    if (!call.status) arap_add_result(&call, arap_spring_arrays(count, views));
    arap_free(views);
    return arap_close(&call);
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

static PyObject *unseen_parts(const arap_report *report) {
    PyObject *list = PyList_New(report->unseen_count);
    for (int k = 0; list && k < report->unseen_count; k++) {
        const arap_island *island = &report->unseen[k];
        PyObject *item = Py_BuildValue("{s:i,s:i,s:O}", "vertex", island->vertex, "size",
                                       island->size, "rigid", island->rigid ? Py_True : Py_False);
        if (!item || PyList_SetItem(list, k, item)) Py_CLEAR(list);
    }
    return list;
}

/* A list of the numbers that are not negative. */
static PyObject *list_of(int count, const int *numbers) {
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; k++) {
        if (numbers[k] < 0) continue;
        PyObject *number = PyLong_FromLong(numbers[k]);
        if (!number || PyList_Append(list, number)) Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

enum kind { HELD, INNER, UNRESPONSIVE, SKINLESS };
static int is_of_kind(const arap_bone_responses *all, int bone, enum kind kind) {
    double response = all->response[bone];
    if (kind == HELD) return all->held[bone];
    if (kind == INNER) return all->inner[bone];
    if (kind == SKINLESS) return response == ARAP_NO_SKIN;
    return response >= 0 && response < all->minimum / 2;
}

/* The bones of a kind. numbers: room for all bones. */
static PyObject *bones_of_kind(const arap_bone_responses *all, int bones, enum kind kind,
                               int *numbers) {
    for (int b = 0; b < bones; b++) numbers[b] = is_of_kind(all, b, kind) ? b : -1;
    return list_of(bones, numbers);
}

static const arap_report_entry entries[] = {
#define ARAP_REPORT_OF arap_report
#define ARAP_REPORT_SOLVER
#include "report.def"
};

/* Further values, which only the dictionary contains. */
static PyObject *made_entries(const solver_object *self, const arap_report *r,
                              const arap_usage *usage, const arap_bone_responses *all,
                              int *numbers) {
    return Py_BuildValue(
        "{s:N,s:N,s:d,s:n,s:d,s:N,s:N,s:N,s:N,s:N,s:N,s:d,s:[ddd]}", "unseen_parts",
        unseen_parts(r), "stage_starts", list_of(ARAP_MAX_STAGES, r->stage_start + 1),
        "energy_after", r->energies[r->energy_count - 1], "most_influences", (Py_ssize_t)usage->max,
        "mean_influences", usage->mean, "idle_bones", list_of(usage->idle_count, usage->idle),
        "held_bones", bones_of_kind(all, r->bones, HELD, numbers), "deaf_bones",
        bones_of_kind(all, r->bones, UNRESPONSIVE, numbers), "skinless_bones",
        bones_of_kind(all, r->bones, SKINLESS, numbers), "inner_bones",
        bones_of_kind(all, r->bones, INNER, numbers), "seconds",
        arap_stage_seconds(ARAP_TIMES, arap_timing_names, r->seconds), "shared_seconds",
        self->shared, "saved_seconds", self->saved[0], self->saved[1], self->saved[2]);
}

static PyObject *full_report(solver_object *self) {
    arap_report report;
    arap_usage usage = {0};
    arap_bone_responses all = {0};
    arap_call call;
    if (refresh_weights(self)) return NULL;
    arap_py_object_call(&self->base, &call);
    arap_context *context = &call.run.context;
    arap_solver_report(self->solver, &report);
    int *numbers = ARAP_NEW(int, report.bones);
    if (!numbers) call.status = arap_fail_memory(&context->error, "the report");
    if (!call.status)
        call.status = arap_solver_usage(context, self->solver, &self->weights, &usage);
    if (!call.status)
        call.status = arap_solver_responses(context, self->solver, &self->weights, &all);
    if (!call.status)
        arap_add_result(&call,
                        arap_report_dict(sizeof entries / sizeof *entries, entries, &report,
                                         made_entries(self, &report, &usage, &all, numbers)));
    arap_bone_responses_clear(&all);
    arap_free(usage.idle);
    arap_free(numbers);
    return arap_close(&call);
}

/* An array of the responses, NaN for bones without one. */
static PyObject *measured_responses(solver_object *self, int shares) {
    arap_bone_responses all = {0};
    arap_report report;
    arap_call call;
    if (refresh_weights(self)) return NULL;
    arap_py_object_call(&self->base, &call);
    arap_solver_report(self->solver, &report);
    call.status = arap_solver_responses(&call.run.context, self->solver, &self->weights, &all);
    npy_intp bones = call.status ? 0 : report.bones;
    double *values = shares ? all.share : all.response;
    for (npy_intp b = 0; b < bones; b++)
        if (values[b] < 0) values[b] = Py_NAN;
    arap_new_result(&call, NPY_DOUBLE, 1, &bones, values);
    arap_bone_responses_clear(&all);
    return arap_close(&call);
}

static PyObject *responses(solver_object *self) { return measured_responses(self, 0); }
static PyObject *shares(solver_object *self) { return measured_responses(self, 1); }

static PyObject *inside(solver_object *self) { return arap_inside_dict(self->solver); }

static PyMethodDef solver_methods[] = {
    {"iterate", (PyCFunction)solver_iterate, METH_VARARGS, DOC_Solver_iterate},
    {"edit", ARAP_KEYWORDS(solver_edit), DOC_Solver_edit},
    {"solve", (PyCFunction)solver_solve, METH_NOARGS, DOC_Solver_solve},
    {0}};

static PyGetSetDef solver_properties[] = {
    ARAP_PROPERTY("weights", dense_weights, "(vertices, bones) weights to use"),
    ARAP_PROPERTY("sparse_weights", sparse_weights,
                  "the same as (start, bones, weights) of the rows"),
    ARAP_PROPERTY("responses", responses,
                  "how far the own skin of each bone follows it, NaN: none"),
    ARAP_PROPERTY("shares", shares,
                  "the weight of each bone relative to its initial one, NaN: none"),
    ARAP_PROPERTY("energy", weights_energy, "relative energy of `weights`"),
    ARAP_PROPERTY("report", full_report, "a report of the work, as a dict"),
    ARAP_PROPERTY("energies", energy_history, "relative energies since the start"),
    ARAP_PROPERTY("initial_weights", initial_weights, "weights before any iteration"),
    ARAP_PROPERTY("sparse_initial_weights", sparse_initial_weights, "the same as rows"),
    ARAP_PROPERTY("raw_weights", raw_weights, "current weights before clipping"),
    ARAP_PROPERTY("constraint_rows", constraint_rows, "rows that keep weights at given values"),
    ARAP_PROPERTY("bone_springs", springs, "springs that tie vertices to bones"),
    ARAP_PROPERTY("rigid_parts", rigid_parts, "number of the rigid part of each vertex, or -1"),
    ARAP_PROPERTY("done", is_done, "whether all work is done"),
    ARAP_PROPERTY("_inside", inside, "arrays for the tests"),
    {0}};

static PyType_Slot solver_slots[] = {{Py_tp_new, arap_py_object_new},
                                     {Py_tp_init, solver_init},
                                     {Py_tp_dealloc, solver_dealloc},
                                     {Py_tp_traverse, arap_py_object_traverse},
                                     {Py_tp_clear, arap_py_object_clear},
                                     {Py_tp_methods, solver_methods},
                                     {Py_tp_getset, solver_properties},
                                     {Py_tp_doc, DOC_Solver},
                                     {0, NULL}};

static PyType_Spec solver_spec = {.name = "araplbs.Solver",
                                  .basicsize = sizeof(solver_object),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                           Py_TPFLAGS_IMMUTABLETYPE,
                                  .slots = solver_slots};

PyObject *arap_make_solver_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &solver_spec, NULL);
}
