/* Runs work without the GIL, and ends this work when Python exits. */
#ifndef ARAP_PYENDING_H
#define ARAP_PYENDING_H

#include "python/array.h"

/* Used instead of Py_BEGIN_ALLOW_THREADS and Py_END_ALLOW_THREADS around calls of the engine. */
typedef struct arap_py_work {
    PyThreadState *thread;
    long process;
} arap_py_work;
arap_py_work arap_begin_work(void);
void arap_end_work(arap_py_work work);
#define ARAP_BEGIN_WORK                                                                            \
    {                                                                                              \
        const arap_py_work at_work = arap_begin_work();
#define ARAP_END_WORK                                                                              \
    arap_end_work(at_work);                                                                        \
    }

/* During work, call question(data) with the GIL and return its value. When Python exits, return 1
 * without a call and without an exception, because the work must stop. */
int arap_ask_python(int (*question)(void *data), void *data);

/* Whether this is a thread whose work stops because Python is exiting. */
int arap_python_ends(void);

/* Register a handler that, when Python exits, asks working threads to stop and waits for them.
 * Returns -1 with an exception on failure. */
int arap_watch_ending(void);

#endif
