/* The life cycle of objects whose methods run without the GIL: see object.h. Each call acquires a
 * lock. Fails with an exception if an object is used from within its own work. */
#include "python/object.h"

#include "python/arguments.h"

PyObject *arap_py_object_new(PyTypeObject *type, const char *name) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    arap_py_object *self = (arap_py_object *)allocate(type, 0);
    if (!self) return NULL;
    self->name = name;
    self->lock.lock = PyThread_allocate_lock();
    if (!self->lock.lock) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

int arap_py_object_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT((PyObject *)Py_TYPE(self));
    Py_VISIT(((arap_py_object *)self)->progress);
    return 0;
}

int arap_py_object_clear(PyObject *self) {
    Py_CLEAR(((arap_py_object *)self)->progress);
    return 0;
}

void arap_py_object_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    arap_py_lock *lock = &((arap_py_object *)self)->lock;
    arap_py_object_clear(self);
    if (lock->lock) PyThread_free_lock(lock->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF((PyObject *)type);
}

int arap_py_object_begin(arap_py_object *self) {
    if (arap_py_take(&self->lock, self->name)) return -1;
    if (!self->created) return 0;
    arap_py_leave(&self->lock);
    PyErr_Format(PyExc_RuntimeError, "a %s can be created only once", self->name);
    return -1;
}

void arap_py_object_created(arap_py_object *self, const arap_py_context *run) {
    self->threads = run->context.threads;
    Py_XINCREF(run->progress);
    self->progress = run->progress;
    self->created = 1;
}

arap_module_state *arap_py_object_state(arap_py_object *self) {
    return PyType_GetModuleState(Py_TYPE((PyObject *)self));
}

int arap_py_object_enter(arap_py_object *self) {
    if (self->created) return arap_py_take(&self->lock, self->name);
    PyErr_Format(PyExc_RuntimeError, "the %s has not been created", self->name);
    return -1;
}

void arap_py_object_start(arap_py_object *self, arap_py_context *run) {
    arap_py_context_init(run, self->progress, self->threads);
}

PyObject *arap_py_object_iterate(arap_py_object *self, PyObject *args, arap_py_step step) {
    PyObject *given = NULL;
    int count = 1;
    if (!PyArg_ParseTuple(args, "|O:iterate", &given) ||
        (given && arap_read_int(given, "count", &count)))
        return NULL;
    if (count < 0) return PyErr_Format(PyExc_ValueError, "iterate(%d): cannot go back", count);
    if (arap_py_object_enter(self)) return NULL;
    PyObject *energy = step(self, count);
    arap_py_leave(&self->lock);
    return energy;
}

PyObject *arap_py_object_solve(arap_py_object *self, arap_py_step step, arap_py_done done) {
    PyObject *energy = NULL;
    if (arap_py_object_enter(self)) return NULL;
    do {
        Py_XDECREF(energy);
        energy = step(self, 1);
    } while (energy && !done(self));
    arap_py_leave(&self->lock);
    return energy;
}
