/* Lock for a Python object whose methods run without the GIL.
 *
 * No thread waits for the lock while holding the GIL, so a working thread, which holds the lock but
 * not the GIL, can always call back into Python. Two threads that share an object take turns. */
#ifndef ARAP_PYLOCK_H
#define ARAP_PYLOCK_H

#include "python/array.h"

#include <pythread.h>

typedef struct arap_py_lock {
    PyThread_type_lock lock;
    unsigned long owner; /* thread that holds the lock; 0: none */
} arap_py_lock;

/* Acquire the lock. Returns -1 with an exception if this thread already holds it. */
static inline int arap_py_take(arap_py_lock *self, const char *name) {
    unsigned long me = PyThread_get_thread_ident();
    if (self->owner == me) {
        PyErr_Format(PyExc_RuntimeError, "the %s is running: its progress function cannot use it",
                     name);
        return -1;
    }
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(self->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    self->owner = me;
    return 0;
}

static inline void arap_py_leave(arap_py_lock *self) {
    self->owner = 0;
    PyThread_release_lock(self->lock);
}

#endif
