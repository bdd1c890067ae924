/* The Python type araplbs.JointSolver: see the stubs for its documentation. Every method holds the
 * object's lock while it runs. Arguments are copied and the work runs without the GIL.
 * Cost and failures are those of the functions called. */
#include "python/functions.h"

#include "joints/solver.h"
#include "python/engine_docs.h"
#include "python/object.h"
#include "python/report.h"
#include "solver/solver.h"

typedef struct joints_object {
    arap_py_object base;
    arap_joint_solver *solver;
} joints_object;

static void joints_dealloc(joints_object *self) {
    PyObject_GC_UnTrack((PyObject *)self);
    arap_joint_solver_free(self->solver);
    arap_py_object_free((PyObject *)self);
}

const arap_signature arap_joint_solver_signature = {
    .function = "JointSolver",
    .names = "vertices triangles? bone_heads bone_tails bone_parents * edges bone_roll_axes "
             "bone_deform bone_limits bone_kinds bone_ranges poses pose_weights bends parameters "
             "symmetry weights progress pinned joint_stiffness tangential threads **",
    .tables = {&arap_sampling_settings, &arap_common_settings, &arap_joint_settings_table}};

static int joints_init(joints_object *self, PyObject *args, PyObject *kwargs) {
    arap_settings settings;
    arap_joint_settings joint_settings = {0};
    arap_problem problem = {0};
    arap_sparse_weights rows;
    arap_reflection reflection;
    arap_call call;
    void *const places[] = {&settings.sampling, &settings, &joint_settings};
    if (arap_py_object_begin(&self->base)) return -1;
    arap_settings_default(&settings);
    if (!arap_open(&call, &arap_joint_solver_signature, (PyObject *)self, args, kwargs, places) &&
        !arap_problem_from_inputs(&call.in, &problem, &rows, &reflection)) {
        problem.start_from_weights = call.in.weights != NULL;
        joint_settings.pinned = call.in.pinned;
        joint_settings.end_joint_stiffness = call.in.joint_stiffness;
        joint_settings.end_tangential = call.in.tangential;
        ARAP_BEGIN_WORK
        call.status = arap_joint_solver_create(&call.run.context, &problem, &settings,
                                               &joint_settings, &self->solver);
        ARAP_END_WORK
        if (!call.status) arap_py_object_created(&self->base, &call.run);
    }
    arap_py_object_leave(&self->base);
    return arap_end(&call);
}

static double energy_of(joints_object *self) {
    arap_joint_report report;
    arap_joint_solver_report(self->solver, &report);
    return report.energy;
}

/* Run `count` iterations and return the resulting energy. The lock must be held. */
static PyObject *iterate_locked(arap_py_object *object, int count) {
    joints_object *self = (joints_object *)object;
    arap_call call;
    arap_py_object_call(object, &call);
    ARAP_BEGIN_WORK
    call.status = arap_joint_solver_iterate(&call.run.context, self->solver, count);
    ARAP_END_WORK
    arap_add_result(&call, PyFloat_FromDouble(energy_of(self)));
    return arap_close(&call);
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
    if (heads && tails)
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

/* The weights as rows or dense. */
static PyObject *present_weights(joints_object *self, int sparse) {
    arap_influences weights = {0};
    arap_call call;
    arap_py_object_call(&self->base, &call);
    call.run.context.progress = NULL;
    ARAP_BEGIN_WORK
    call.status =
        arap_solver_weights(&call.run.context, arap_joint_solver_inner(self->solver), &weights);
    ARAP_END_WORK
    if (!call.status) {
        int bones = arap_joint_solver_joints(self->solver)->bones;
        arap_add_result(&call, sparse ? arap_py_sparse_weights(&weights)
                                      : arap_dense_weights(&weights, bones));
    }
    arap_influences_clear(&weights);
    return arap_close(&call);
}

static PyObject *dense_weights(joints_object *self) { return present_weights(self, 0); }
static PyObject *sparse_weights(joints_object *self) { return present_weights(self, 1); }

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

static const arap_report_entry entries[] = {
#define ARAP_REPORT_OF arap_joint_report
#define ARAP_REPORT_JOINTS
#include "report.def"
};

static PyObject *full_report(joints_object *self) {
    const arap_joints *joints = arap_joint_solver_joints(self->solver);
    arap_joint_report r;
    struct arap_test_state inside;
    double most_moved = 0, mean_moved = 0;
    npy_intp bones = joints->bones;
    arap_joint_solver_report(self->solver, &r);
    arap_solver_inside(arap_joint_solver_inner(self->solver), &inside);
    for (int j = 0; j < joints->count; j++) {
        double d = inside.mesh->diagonal * arap_joint_distance(joints, j);
        mean_moved += d;
        if (d > most_moved) most_moved = d;
    }
    if (joints->count) mean_moved /= joints->count;
    PyObject *made = Py_BuildValue(
        "{s:d,s:d,s:d,s:d,s:N,s:N,s:N}", "energy_before", r.energy_count ? r.energies[0] : r.energy,
        "energy_after", r.energy_count ? r.energies[r.energy_count - 1] : r.energy, "most_moved",
        most_moved, "mean_moved", mean_moved, "joint_of_head",
        arap_new_ints(1, &bones, joints->head), "joint_of_tail",
        arap_new_ints(1, &bones, joints->tail), "seconds",
        arap_stage_seconds(ARAP_JOINT_TIMES, arap_joint_timing_names, r.seconds));
    return arap_report_dict(sizeof entries / sizeof *entries, entries, &r, made);
}

/* (A_J, B_J, unit, diagonal) */
static PyObject *inside(joints_object *self) {
    npy_intp size = 3 * arap_joint_solver_joints(self->solver)->count, sizes[2] = {size, size};
    double unit;
    struct arap_test_state weights;
    arap_call call;
    arap_py_object_call(&self->base, &call);
    arap_solver_inside(arap_joint_solver_inner(self->solver), &weights);
    double *matrix = arap_new_result(&call, NPY_DOUBLE, 2, sizes, NULL),
           *right = arap_new_result(&call, NPY_DOUBLE, 1, &size, NULL);
    if (!right) return arap_close(&call);
    call.status = arap_joint_solver_inside(&call.run.context, self->solver, matrix, right, &unit);
    if (!call.status) {
        arap_add_result(&call, PyFloat_FromDouble(unit));
        arap_add_result(&call, PyFloat_FromDouble(weights.mesh->diagonal));
    }
    return arap_close(&call);
}

static PyMethodDef joints_methods[] = {
    {"iterate", (PyCFunction)joints_iterate, METH_VARARGS, DOC_JointSolver_iterate},
    {"solve", (PyCFunction)joints_solve, METH_NOARGS, DOC_JointSolver_solve},
    {0}};

static PyGetSetDef joints_properties[] = {
    ARAP_PROPERTY("heads", present_heads, "(bones, 3) current heads"),
    ARAP_PROPERTY("tails", present_tails, "(bones, 3) current tails"),
    ARAP_PROPERTY("poses", present_poses, "(poses, bones, 3, 4) the poses with the joints moved"),
    ARAP_PROPERTY("bends", present_bends, "(poses, bones, 4) bends of these poses"),
    ARAP_PROPERTY("weights", dense_weights, "(vertices, bones) weights to use"),
    ARAP_PROPERTY("sparse_weights", sparse_weights,
                  "the same as (start, bones, weights) of the rows"),
    ARAP_PROPERTY("energy", present_energy, "relative energy of joints and weights"),
    ARAP_PROPERTY("energies", energy_history, "energies with all terms since the start"),
    ARAP_PROPERTY("report", full_report, "a report of the work, as a dict"),
    ARAP_PROPERTY("done", is_done, "whether all work is done"),
    ARAP_PROPERTY("_inside", inside, "state for the tests"),
    {0}};

static PyType_Slot joints_slots[] = {{Py_tp_new, arap_py_object_new},
                                     {Py_tp_init, joints_init},
                                     {Py_tp_dealloc, joints_dealloc},
                                     {Py_tp_traverse, arap_py_object_traverse},
                                     {Py_tp_clear, arap_py_object_clear},
                                     {Py_tp_methods, joints_methods},
                                     {Py_tp_getset, joints_properties},
                                     {Py_tp_doc, DOC_JointSolver},
                                     {0, NULL}};

static PyType_Spec joints_spec = {.name = "araplbs.JointSolver",
                                  .basicsize = sizeof(joints_object),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                           Py_TPFLAGS_IMMUTABLETYPE,
                                  .slots = joints_slots};

PyObject *arap_make_joint_solver_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &joints_spec, NULL);
}

PyObject *arap_py_optimize_joints(PyObject *module, PyObject *args, PyObject *kwargs) {
    arap_module_state *state = PyModule_GetState(module);
    PyObject *solver = PyObject_Call(state->joint_solver_type, args, kwargs);
    PyObject *energy = solver ? PyObject_CallMethod(solver, "solve", NULL) : NULL;
    PyObject *both = energy ? present_bones((joints_object *)solver) : NULL, *result = NULL;
    if (both)
        result = Py_BuildValue("(OON)", PyTuple_GetItem(both, 0), PyTuple_GetItem(both, 1),
                               full_report((joints_object *)solver));
    Py_XDECREF(both);
    Py_XDECREF(energy);
    Py_XDECREF(solver);
    return result;
}
