/* The life cycle of a Python object that wraps an engine object and works without the GIL. The
 * object has a lock, a progress function and a number of threads. Its methods hold the lock while
 * they read or change the object. A type places an arap_py_object before its own members, and frees
 * its own members in its tp_dealloc before calling arap_py_object_free. */
#ifndef ARAP_PYOBJECT_H
#define ARAP_PYOBJECT_H

#include "python/call.h"

#include <pythread.h>

/* No thread waits for the lock while holding the GIL, so a working thread, which holds the lock but
 * not the GIL, can always call back into Python. Two threads that share an object take turns. */
typedef struct arap_py_object {
    PyObject_HEAD PyThread_type_lock lock;
    unsigned long owner; /* thread that holds the lock; 0: none */
    int created;         /* tp_init has succeeded */
    PyObject *progress;  /* callable or NULL */
    int threads;
} arap_py_object;

/* tp_new: everything is 0. */
PyObject *arap_py_object_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* tp_traverse and tp_clear of types with a progress function, and the end of every tp_dealloc. */
int arap_py_object_traverse(PyObject *self, visitproc visit, void *arg);
int arap_py_object_clear(PyObject *self);
void arap_py_object_free(PyObject *self);

/* For tp_init: acquire the lock of an object that is being created for the first time. Returns -1
 * with an exception otherwise. */
int arap_py_object_begin(arap_py_object *self);

/* Mark the object as created. The arguments in `run` are used from now on. */
void arap_py_object_created(arap_py_object *self, const arap_py_context *run);

/* Acquire the lock of a created object. Returns -1 with an exception otherwise. */
int arap_py_object_enter(arap_py_object *self);

/* Release the lock acquired by one of these functions. */
void arap_py_object_leave(arap_py_object *self);

/* Begin a call with the progress function and the number of threads of the object. */
void arap_py_object_call(arap_py_object *self, arap_call *call);

/* A property, which is read with the lock held. */
typedef PyObject *(*arap_py_reader)(arap_py_object *self);
PyObject *arap_py_object_get(PyObject *self, void *reader);
#define ARAP_PROPERTY(name, read, doc)                                                             \
    {                                                                                              \
        name, arap_py_object_get, NULL, doc, (void *)&(const arap_py_reader) {                     \
            (arap_py_reader)(read)                                                                 \
        }                                                                                          \
    }

/* Methods of iterating objects. step: runs up to `count` iterations with the lock held, and its
 * value is returned, or NULL with an exception; done: whether all work is done. */
typedef PyObject *(*arap_py_step)(arap_py_object *self, int count);
typedef int (*arap_py_done)(const arap_py_object *self);
PyObject *arap_py_object_iterate(arap_py_object *self, PyObject *args, arap_py_step step);
PyObject *arap_py_object_solve(arap_py_object *self, arap_py_step step, arap_py_done done);

#endif
