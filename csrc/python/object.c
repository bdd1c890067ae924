/* The life cycle of objects whose methods run without the GIL: see object.h. Each call acquires a
 * lock. Fails with an exception if an object is used from within its own work. */
#include "python/object.h"

PyObject *arap_py_object_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    arap_py_object *self = (arap_py_object *)allocate(type, 0);
    if (!self) return NULL;
    self->lock = PyThread_allocate_lock();
    if (!self->lock) {
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
    PyThread_type_lock lock = ((arap_py_object *)self)->lock;
    arap_py_object_clear(self);
    if (lock) PyThread_free_lock(lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF((PyObject *)type);
}

/* Raise a RuntimeError with the name of the type. Returns -1. */
static int refuse(arap_py_object *self, const char *format) {
    PyObject *name = PyType_GetName(Py_TYPE((PyObject *)self));
    if (name) PyErr_Format(PyExc_RuntimeError, format, name);
    Py_XDECREF(name);
    return -1;
}

/* Acquire the lock. Returns -1 with an exception if this thread already holds it. */
static int take(arap_py_object *self) {
    unsigned long me = PyThread_get_thread_ident();
    if (self->owner == me)
        return refuse(self, "the %U is running: its progress function cannot use it");
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(self->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    self->owner = me;
    return 0;
}

int arap_py_object_begin(arap_py_object *self) {
    if (take(self)) return -1;
    if (!self->created) return 0;
    arap_py_object_leave(self);
    return refuse(self, "a %U can be created only once");
}

void arap_py_object_created(arap_py_object *self, const arap_py_context *run) {
    self->threads = run->context.threads;
    Py_XINCREF(run->progress);
    self->progress = run->progress;
    self->created = 1;
}

int arap_py_object_enter(arap_py_object *self) {
    return self->created ? take(self) : refuse(self, "the %U has not been created");
}

void arap_py_object_leave(arap_py_object *self) {
    self->owner = 0;
    PyThread_release_lock(self->lock);
}

void arap_py_object_call(arap_py_object *self, arap_call *call) {
    arap_call_init(call, (PyObject *)self);
    arap_py_context_init(&call->run, self->progress, self->threads);
}

PyObject *arap_py_object_get(PyObject *self, void *reader) {
    arap_py_object *object = (arap_py_object *)self;
    if (arap_py_object_enter(object)) return NULL;
    PyObject *value = (*(const arap_py_reader *)reader)(object);
    arap_py_object_leave(object);
    return value;
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
    arap_py_object_leave(self);
    return energy;
}

PyObject *arap_py_object_solve(arap_py_object *self, arap_py_step step, arap_py_done done) {
    PyObject *energy = NULL;
    if (arap_py_object_enter(self)) return NULL;
    do {
        Py_XDECREF(energy);
        energy = step(self, 1);
    } while (energy && !done(self));
    arap_py_object_leave(self);
    return energy;
}
