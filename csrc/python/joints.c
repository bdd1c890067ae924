/* The Python type araplbs.JointSolver: see the stubs for its documentation. Every method holds the
 * object's lock while it runs. Arguments are copied and the work runs without the GIL.
 * Cost and failures are those of the functions called. */
#include "python/functions.h"

#include "base/memory.h"
#include "joints/solver.h"
#include "python/engine_docs.h"
#include "python/input.h"
#include "python/object.h"
#include "python/report.h"
#include "solver/solver.h"

typedef struct joints_object {
    arap_py_object base;
    arap_joint_solver *solver;
} joints_object;

static arap_module_state *state_of(joints_object *self) {
    return arap_py_object_state(&self->base);
}

static PyObject *joints_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    return arap_py_object_new(type, "JointSolver");
}

static void joints_dealloc(joints_object *self) {
    PyObject_GC_UnTrack((PyObject *)self);
    arap_joint_solver_free(self->solver);
    arap_py_object_free((PyObject *)self);
}

const arap_signature arap_joint_solver_signature = {
    "JointSolver",
    "vertices triangles? bone_heads bone_tails bone_parents * edges bone_roll_axes bone_deform "
    "bone_limits bone_kinds bone_ranges poses pose_weights bends parameters symmetry weights "
    "progress pinned "
    "joint_stiffness tangential threads **",
    TEXT_JointSolver,
    {&arap_sampling_settings, &arap_common_settings, &arap_joint_settings_table}};

static int joints_init(joints_object *self, PyObject *args, PyObject *kwargs) {
    arap_inputs in;
    arap_settings settings;
    arap_joint_settings joint_settings;
    arap_problem problem = {0};
    arap_sparse_weights rows;
    arap_reflection reflection;
    arap_py_context run;
    arap_joint_solver *created = NULL;
    void *const places[] = {&settings.sampling, &settings, &joint_settings};
    int result = -1;
    arap_settings_default(&settings);
    arap_joint_settings_default(&joint_settings);
    arap_inputs_init(&in);
    if (arap_py_object_begin(&self->base)) return -1;
    if (arap_parse(&arap_joint_solver_signature, args, kwargs, &in, places) ||
        arap_py_context_init(&run, in.progress, in.threads) ||
        arap_problem_from_inputs(&in, &problem, &rows, &reflection))
        goto done;
    problem.start_from_weights = in.weights != NULL;
    joint_settings.pinned = in.pinned;
    joint_settings.end_joint_stiffness = in.joint_stiffness;
    joint_settings.end_tangential = in.tangential;

    ARAP_BEGIN_WORK
    arap_joint_solver_create(&run.context, &problem, &settings, &joint_settings, &created);
    ARAP_END_WORK
    if (!created) {
        arap_raise(state_of(self), &run.context);
        goto done;
    }
    self->solver = created;
    arap_py_object_created(&self->base, &run);
    result = 0;

done:
    arap_inputs_release(&in);
    arap_py_leave(&self->base.lock);
    return result;
}

static double energy_of(joints_object *self) {
    arap_joint_report report;
    arap_joint_solver_report(self->solver, &report);
    return report.energy;
}

/* Run `count` iterations and return the resulting energy. The lock must be held. */
static PyObject *iterate_locked(arap_py_object *object, int count) {
    joints_object *self = (joints_object *)object;
    arap_py_context run;
    arap_status status;
    arap_py_object_start(&self->base, &run);
    ARAP_BEGIN_WORK
    status = arap_joint_solver_iterate(&run.context, self->solver, count);
    ARAP_END_WORK
    if (status) return arap_raise(state_of(self), &run.context);
    return PyFloat_FromDouble(energy_of(self));
}

static int nothing_left(const arap_py_object *self) {
    return arap_joint_solver_done(((const joints_object *)self)->solver);
}

static PyObject *joints_iterate(arap_py_object *self, PyObject *args) {
    return arap_py_object_iterate(self, args, iterate_locked);
}

static PyObject *joints_solve(arap_py_object *self, PyObject *unused) {
    (void)unused;
    return arap_py_object_solve(self, iterate_locked, nothing_left);
}

/* (heads, tails) */
static PyObject *present_bones(joints_object *self) {
    npy_intp sizes[2] = {arap_joint_solver_joints(self->solver)->bones, 3};
    PyObject *heads = arap_new_doubles(2, sizes, NULL), *tails = arap_new_doubles(2, sizes, NULL);
    if (!heads || !tails) {
        Py_XDECREF(heads);
        Py_XDECREF(tails);
        return NULL;
    }
    arap_joint_solver_bones(self->solver, PyArray_DATA((PyArrayObject *)heads),
                            PyArray_DATA((PyArrayObject *)tails));
    return Py_BuildValue("(NN)", heads, tails);
}

static PyObject *one_end(joints_object *self, Py_ssize_t which) {
    PyObject *both = present_bones(self);
    PyObject *end = both ? Py_NewRef(PyTuple_GetItem(both, which)) : NULL;
    Py_XDECREF(both);
    return end;
}

static PyObject *present_heads(joints_object *self) { return one_end(self, 0); }
static PyObject *present_tails(joints_object *self) { return one_end(self, 1); }

static PyObject *present_poses(joints_object *self) {
    arap_joint_report report;
    arap_joint_solver_report(self->solver, &report);
    npy_intp sizes[4] = {report.poses, arap_joint_solver_joints(self->solver)->bones, 3, 4};
    PyObject *poses = arap_new_doubles(4, sizes, NULL);
    if (poses) arap_joint_solver_poses(self->solver, PyArray_DATA((PyArrayObject *)poses));
    return poses;
}

static PyObject *present_bends(joints_object *self) {
    arap_joint_report report;
    arap_joint_solver_report(self->solver, &report);
    npy_intp sizes[3] = {report.poses, arap_joint_solver_joints(self->solver)->bones, ARAP_BEND};
    PyObject *bends = arap_new_doubles(3, sizes, NULL);
    if (bends) arap_joint_solver_bends(self->solver, PyArray_DATA((PyArrayObject *)bends));
    return bends;
}

static int take_weights(joints_object *self, arap_influences *weights) {
    arap_py_context run;
    arap_status status;
    arap_py_context_init(&run, NULL, self->base.threads);
    run.context.progress = NULL;
    ARAP_BEGIN_WORK
    status = arap_solver_weights(&run.context, arap_joint_solver_inner(self->solver), weights);
    ARAP_END_WORK
    if (!status) return 0;
    arap_raise(state_of(self), &run.context);
    return -1;
}

static PyObject *dense_weights(joints_object *self) {
    arap_influences in = {0};
    if (take_weights(self, &in)) return NULL;
    PyObject *array = arap_dense_weights(&in, arap_joint_solver_joints(self->solver)->bones);
    arap_influences_clear(&in);
    return array;
}

static PyObject *sparse_weights(joints_object *self) {
    arap_influences in = {0};
    if (take_weights(self, &in)) return NULL;
    PyObject *rows = arap_py_sparse_weights(&in);
    arap_influences_clear(&in);
    return rows;
}

static PyObject *present_energy(joints_object *self) { return PyFloat_FromDouble(energy_of(self)); }

static PyObject *energy_history(joints_object *self) {
    arap_joint_report report;
    arap_joint_solver_report(self->solver, &report);
    npy_intp count = report.energy_count;
    return arap_new_doubles(1, &count, report.energies);
}

static PyObject *is_done(joints_object *self) {
    return PyBool_FromLong(arap_joint_solver_done(self->solver));
}

/* A report and the further values that only its dictionary contains. */
typedef struct whole_report {
    arap_joint_report report;
    const arap_joints *joints;
    double most_moved, mean_moved;
} whole_report;

static PyObject *make_energy_before(const void *all) {
    const arap_joint_report *r = all;
    return PyFloat_FromDouble(r->energy_count ? r->energies[0] : r->energy);
}

static PyObject *make_energy_after(const void *all) {
    const arap_joint_report *r = all;
    return PyFloat_FromDouble(r->energy_count ? r->energies[r->energy_count - 1] : r->energy);
}

static PyObject *make_most_moved(const void *all) {
    return PyFloat_FromDouble(((const whole_report *)all)->most_moved);
}

static PyObject *make_mean_moved(const void *all) {
    return PyFloat_FromDouble(((const whole_report *)all)->mean_moved);
}

static PyObject *make_joint_of_head(const void *all) {
    const arap_joints *joints = ((const whole_report *)all)->joints;
    npy_intp bones = joints->bones;
    return arap_new_ints(1, &bones, joints->head);
}

static PyObject *make_joint_of_tail(const void *all) {
    const arap_joints *joints = ((const whole_report *)all)->joints;
    npy_intp bones = joints->bones;
    return arap_new_ints(1, &bones, joints->tail);
}

static PyObject *make_seconds(const void *all) {
    return arap_stage_seconds(ARAP_JOINT_TIMES, arap_joint_timing_names,
                              ((const arap_joint_report *)all)->seconds);
}

static const arap_report_entry entries[] = {
#define ARAP_REPORT_OF arap_joint_report
#define ARAP_REPORT_JOINTS
#include "report.def"
};

static PyObject *full_report(joints_object *self) {
    whole_report all = {.joints = arap_joint_solver_joints(self->solver)};
    struct arap_test_state inside;
    arap_joint_solver_report(self->solver, &all.report);
    arap_solver_inside(arap_joint_solver_inner(self->solver), &inside);
    int count = all.joints->count;
    for (int j = 0; j < count; j++) {
        double d = inside.mesh->diagonal * arap_joint_distance(all.joints, j);
        all.mean_moved += d;
        if (d > all.most_moved) all.most_moved = d;
    }
    if (count) all.mean_moved /= count;
    return arap_report_dict(sizeof entries / sizeof *entries, entries, &all);
}

/* (A_J, B_J, unit, diagonal) */
static PyObject *inside(joints_object *self) {
    npy_intp size = 3 * arap_joint_solver_joints(self->solver)->count, sizes[2] = {size, size};
    PyObject *matrix = arap_new_doubles(2, sizes, NULL), *right = arap_new_doubles(1, &size, NULL);
    arap_py_context run;
    double unit;
    struct arap_test_state weights;
    arap_solver_inside(arap_joint_solver_inner(self->solver), &weights);
    arap_py_context_init(&run, NULL, self->base.threads);
    if (!matrix || !right) goto failed;
    if (!arap_joint_solver_inside(&run.context, self->solver, PyArray_DATA((PyArrayObject *)matrix),
                                  PyArray_DATA((PyArrayObject *)right), &unit))
        return Py_BuildValue("(NNdd)", matrix, right, unit, weights.mesh->diagonal);
    arap_raise(state_of(self), &run.context);

failed:
    Py_XDECREF(matrix);
    Py_XDECREF(right);
    return NULL;
}

static PyObject *get_property(joints_object *self, void *closure) {
    PyObject *(*const *read)(joints_object *) = closure;
    if (arap_py_object_enter(&self->base)) return NULL;
    PyObject *value = (*read)(self);
    arap_py_leave(&self->base.lock);
    return value;
}

static PyMethodDef joints_methods[] = {
    {"iterate", (PyCFunction)joints_iterate, METH_VARARGS, DOC_JointSolver_iterate},
    {"solve", (PyCFunction)joints_solve, METH_NOARGS, DOC_JointSolver_solve},
    {0}};

typedef PyObject *(*reader)(joints_object *);
#define PROPERTY(name, read, doc)                                                                  \
    {                                                                                              \
        name, (getter)get_property, NULL, doc, (void *)&(const reader) { read }                    \
    }

static PyGetSetDef joints_properties[] = {
    PROPERTY("heads", present_heads, "(bones, 3) current heads"),
    PROPERTY("tails", present_tails, "(bones, 3) current tails"),
    PROPERTY("poses", present_poses, "(poses, bones, 3, 4) the poses with the joints moved"),
    PROPERTY("bends", present_bends, "(poses, bones, 4) bends of these poses"),
    PROPERTY("weights", dense_weights, "(vertices, bones) weights to use"),
    PROPERTY("sparse_weights", sparse_weights, "the same as (start, bones, weights) of the rows"),
    PROPERTY("energy", present_energy, "relative energy of joints and weights"),
    PROPERTY("energies", energy_history, "energies with all terms since the start"),
    PROPERTY("report", full_report, "a report of the work, as a dict"),
    PROPERTY("done", is_done, "whether all work is done"),
    PROPERTY("_inside", inside, "state for the tests"),
    {0}};

static PyType_Slot joints_slots[] = {{Py_tp_new, joints_new},
                                     {Py_tp_init, joints_init},
                                     {Py_tp_dealloc, joints_dealloc},
                                     {Py_tp_traverse, arap_py_object_traverse},
                                     {Py_tp_clear, arap_py_object_clear},
                                     {Py_tp_methods, joints_methods},
                                     {Py_tp_getset, joints_properties},
                                     {0, NULL}};

static PyType_Spec joints_spec = {.name = "araplbs.JointSolver",
                                  .basicsize = sizeof(joints_object),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                           Py_TPFLAGS_IMMUTABLETYPE,
                                  .slots = joints_slots};

PyObject *arap_make_joint_solver_type(PyObject *module) {
    return arap_make_type(module, &joints_spec, &arap_joint_solver_signature);
}

PyObject *arap_py_optimize_joints(PyObject *module, PyObject *args, PyObject *kwargs) {
    arap_module_state *state = PyModule_GetState(module);
    PyObject *solver = PyObject_Call(state->joint_solver_type, args, kwargs);
    PyObject *energy = solver ? PyObject_CallMethod(solver, "solve", NULL) : NULL, *result = NULL;
    if (energy) {
        PyObject *both = present_bones((joints_object *)solver);
        PyObject *report = both ? full_report((joints_object *)solver) : NULL;
        if (report)
            result =
                Py_BuildValue("(OON)", PyTuple_GetItem(both, 0), PyTuple_GetItem(both, 1), report);
        Py_XDECREF(both);
    }
    Py_XDECREF(energy);
    Py_XDECREF(solver);
    return result;
}
