/* The module araplbs._engine, which combines the functions, the exceptions and the types. The texts
 * of help() are in engine_docs.h, which the build generates from the stubs. Loading takes
 * milliseconds, for the self-test of OpenBLAS. If loading fails, a Python exception is set, and the
 * import fails.
 * */
#define ARAP_IMPORT_ARRAY
#include "python/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "energy/local_kernels.h"
#include "linalg/blas.h"
#include "python/engine_docs.h"
#include "python/functions.h"

#ifdef ARAP_FAULT_INJECTION
static PyObject *module_fail_allocations_after(PyObject *module, PyObject *argument) {
    (void)module;
    long count = PyLong_AsLong(argument);
    if (PyErr_Occurred()) return NULL;
    arap_fail_allocations_after(count);
    return Py_NewRef(Py_None);
}

static PyObject *module_live_allocations(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromLong(arap_live_allocations());
}
#endif

#define METHOD(name) {#name, ARAP_KEYWORDS(arap_py_##name), DOC_##name},

static PyMethodDef methods[] = {
#ifdef ARAP_FAULT_INJECTION
    {"_fail_allocations_after", module_fail_allocations_after, METH_O, "For tests of clean-up."},
    {"_live_allocations", module_live_allocations, METH_NOARGS, "For tests of clean-up."},
#endif
    {"forward_kinematics", arap_py_forward_kinematics, METH_VARARGS, DOC_forward_kinematics},
    {"nearest_rotations", arap_py_nearest_rotations, METH_O, DOC_nearest_rotations},
    ARAP_FUNCTIONS(METHOD){0}};

/* A separate type with a signature, which PyErr_NewException() does not provide. */
static int add_exception(PyObject *module, const char *name, const char *full, const char *doc,
                         PyObject *base, PyObject **out) {
    PyType_Slot with_doc[] = {{Py_tp_doc, (void *)doc}, {0, NULL}};
    PyType_Spec spec = {
        .name = full, .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .slots = with_doc};
    *out = PyType_FromModuleAndSpec(module, &spec, base);
    return *out ? PyModule_AddObjectRef(module, name, *out) : -1;
}

/* araplbs.SETTINGS */
static int add_settings(PyObject *module) {
    PyObject *all =
        Py_BuildValue("{s:N,s:N}", "Solver", arap_signature_settings(&arap_solver_signature),
                      "JointSolver", arap_signature_settings(&arap_joint_solver_signature));
    PyObject *proxy = all ? PyDictProxy_New(all) : NULL;
    int failed = !proxy || PyModule_AddObjectRef(module, "SETTINGS", proxy);
    Py_XDECREF(all);
    Py_XDECREF(proxy);
    return failed;
}

static int add_type(PyObject *module, const char *name, PyObject *type) {
    int failed = !type || PyModule_AddObjectRef(module, name, type);
    Py_XDECREF(type);
    return failed;
}

/* Use plain loops if OpenBLAS gives wrong results, with a warning, or if $ARAPLBS_LINEAR_ALGEBRA is
 * "plain". The value "wrong ROUTINE" is for tests and simulates a faulty routine. */
static int choose_linear_algebra(PyObject *module) {
    const char *wish = getenv("ARAPLBS_LINEAR_ALGEBRA");
    int plain = wish && strcmp(wish, "plain") == 0;
    const char *wrong = arap_blas_wrong(wish && !strncmp(wish, "wrong ", 6) ? wish + 6 : NULL);
    if (plain || wrong) arap_blas_use_plain_loops();
    if (wrong && PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                                  "OpenBLAS gives wrong results on this processor (%s): araplbs "
                                  "uses plain loops, which are correct but slower",
                                  wrong) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "linear_algebra",
                                      plain || wrong ? "plain loops" : "OpenBLAS");
}

/* Users import functions from the package, so the functions report the package as their module. */
static int name_package(PyObject *module) {
    PyObject *name = PyUnicode_FromString("araplbs");
    int failed = !name;
    for (const PyMethodDef *method = methods; !failed && method->ml_name; method++) {
        PyObject *function = PyObject_GetAttrString(module, method->ml_name);
        failed = !function || PyObject_SetAttrString(function, "__module__", name);
        Py_XDECREF(function);
    }
    Py_XDECREF(name);
    return failed ? -1 : 0;
}

static int module_exec(PyObject *module) {
    arap_module_state *state = PyModule_GetState(module);
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    arap_blas_single_thread();
    if (choose_linear_algebra(module) < 0 || name_package(module) < 0 || arap_watch_ending() < 0)
        return -1;
    state->joint_solver_type = arap_make_joint_solver_type(module);
    if (add_type(module, "Solver", arap_make_solver_type(module)) || !state->joint_solver_type ||
        PyModule_AddObjectRef(module, "JointSolver", state->joint_solver_type) ||
        add_type(module, "Deformation", arap_make_deformation_type(module)) ||
        add_exception(module, "InputError", "araplbs.InputError", DOC_InputError, PyExc_ValueError,
                      &state->input_error) ||
        add_exception(module, "SolverError", "araplbs.SolverError", DOC_SolverError,
                      PyExc_ArithmeticError, &state->solver_error) ||
        add_exception(module, "Cancelled", "araplbs.Cancelled", DOC_Cancelled, PyExc_Exception,
                      &state->cancelled) ||
        add_settings(module) ||
        PyModule_AddStringConstant(module, "__version__", ARAPLBS_VERSION) ||
        PyModule_AddStringConstant(module, "simd", arap_kernel_name()))
        return -1;
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    arap_module_state *state = PyModule_GetState(module);
    Py_VISIT(state->input_error);
    Py_VISIT(state->solver_error);
    Py_VISIT(state->cancelled);
    Py_VISIT(state->joint_solver_type);
    return 0;
}

static int module_clear(PyObject *module) {
    arap_module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->input_error);
    Py_CLEAR(state->solver_error);
    Py_CLEAR(state->cancelled);
    Py_CLEAR(state->joint_solver_type);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "araplbs._engine",
                                 .m_doc = "Skinning weights that keep the posed mesh rigid.",
                                 .m_size = sizeof(arap_module_state),
                                 .m_methods = methods,
                                 .m_slots = slots,
                                 .m_traverse = module_traverse,
                                 .m_clear = module_clear};

PyMODINIT_FUNC PyInit__engine(void) { return PyModuleDef_Init(&definition); }
