/* Work without the GIL, and how it stops when Python ends. */
#ifndef ARAP_PYENDING_H
#define ARAP_PYENDING_H

#include "python/array.h"

/* In place of Py_BEGIN_ALLOW_THREADS and Py_END_ALLOW_THREADS around work of the engine. */
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

/* During work: the value of question(data), called with the GIL. 1 without a call, and with no
 * exception, when Python ends: the work is to stop. */
int arap_ask_python(int (*question)(void *data), void *data);

/* Is this a thread whose work stops because Python ends? */
int arap_python_ends(void);

/* When Python ends, threads that work are asked to stop and waited for. -1 with an exception. */
int arap_watch_ending(void);

#endif
