/* The life of a Python object that works on something of the engine without the GIL: a lock, a
 * progress function, a number of threads. Its methods hold the lock while they look at or change
 * it. A type puts an arap_py_object in front of its own members, and frees those in its own
 * tp_dealloc before arap_py_object_free. */
#ifndef ARAP_PYOBJECT_H
#define ARAP_PYOBJECT_H

#include "python/error.h"
#include "python/lock.h"

typedef struct arap_py_object {
    PyObject_HEAD arap_py_lock lock;
    const char *name;   /* of the type, for messages */
    int created;        /* tp_init has succeeded */
    PyObject *progress; /* callable or NULL */
    int threads;
} arap_py_object;

/* tp_new of a type, except for its name: everything else is 0. */
PyObject *arap_py_object_new(PyTypeObject *type, const char *name);

/* tp_traverse and tp_clear of types with a progress function, and the end of every tp_dealloc. */
int arap_py_object_traverse(PyObject *self, visitproc visit, void *arg);
int arap_py_object_clear(PyObject *self);
void arap_py_object_free(PyObject *self);

/* For tp_init: take the lock of an object that is created now, for the first time; -1 with an
 * exception otherwise. Release it with arap_py_leave. */
int arap_py_object_begin(arap_py_object *self);

/* It works: what `run` was given is used from now on. */
void arap_py_object_created(arap_py_object *self, const arap_py_context *run);

arap_module_state *arap_py_object_state(arap_py_object *self);

/* Take the lock of an object that was created; -1 with an exception otherwise. Release it with
 * arap_py_leave. */
int arap_py_object_enter(arap_py_object *self);

/* A context with the progress function and the threads of the object. */
void arap_py_object_start(arap_py_object *self, arap_py_context *run);

/* Methods of objects that iterate. step: up to `count` iterations with the lock held; its value is
 * returned, NULL with an exception; done: nothing is left to do. */
typedef PyObject *(*arap_py_step)(arap_py_object *self, int count);
typedef int (*arap_py_done)(const arap_py_object *self);
PyObject *arap_py_object_iterate(arap_py_object *self, PyObject *args, arap_py_step step);
PyObject *arap_py_object_solve(arap_py_object *self, arap_py_step step, arap_py_done done);

#endif
