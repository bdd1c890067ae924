/* Handles the shutdown of Python: see ending.h.
 *
 * Python can shut down while daemon threads are still working. A thread that requests the GIL
 * during the shutdown is terminated immediately (pthread_exit, until Python 3.13), and its stack
 * disappears together with the parallel section of its helpers. An exit handler (atexit), which
 * runs while threads can still acquire the GIL, therefore
 *
 *  1. announces the shutdown: from then on, no report of another thread reaches Python, and each
 *     report stops the work of its thread;
 *  2. releases the GIL and waits until no thread works. All work either reports progress or ends.
 *     If a thread does not return from its progress function, the wait for this thread ends after
 *     PATIENCE;
 *  3. leaves the threads to Python, which may terminate them at any point, but no longer within the
 *     work of the engine.
 *
 * The work of such a thread ends with SystemExit, which ends a thread silently. A thread that never
 * returns from its progress function sleeps forever instead of ending, as in Python 3.14, so its
 * stack stays.
 *
 * The state for this procedure belongs to the process, because Python shuts down with the process,
 * and is the only global state of the engine. Only the main interpreter needs this state, because
 * other interpreters end without threads. A forked process does not inherit its parent's threads,
 * so each process counts its own.
 * */
#include "python/ending.h"

#include <pthread.h>
#include <pythread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"

#define PATIENCE 1.0 /* seconds to wait for a progress function that does not return */
#define LOOK 0.05    /* seconds between two checks */

static struct {
    atomic_int working;  /* threads at work */
    atomic_int asking;   /* number of these threads that call Python */
    atomic_int is_ended; /* set by the thread `ender` */
    unsigned long ender;
    atomic_long process;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* once it has ended */
    pthread_cond_t never;
} ending = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .changed = PTHREAD_COND_INITIALIZER,
            .never = PTHREAD_COND_INITIALIZER};

int arap_python_ends(void) {
    return atomic_load(&ending.is_ended) && ending.ender != PyThread_get_thread_ident();
}

/* With the GIL. */
static void count_own_process(void) {
    if (ending.process == (long)getpid()) return;
    ending.process = (long)getpid();
    atomic_store(&ending.working, 0);
    atomic_store(&ending.asking, 0);
}

static void announce(void) {
    if (!atomic_load(&ending.is_ended)) return;
    pthread_mutex_lock(&ending.lock);
    pthread_cond_broadcast(&ending.changed);
    pthread_mutex_unlock(&ending.lock);
}

arap_py_work arap_begin_work(void) {
    count_own_process();
    atomic_fetch_add(&ending.working, 1);
    return (arap_py_work){.process = ending.process, .thread = PyEval_SaveThread()};
}

void arap_end_work(arap_py_work work) {
    if (work.process == ending.process) atomic_fetch_sub(&ending.working, 1);
    announce();
    PyEval_RestoreThread(work.thread);
}

/* Let a thread that Python would otherwise end sleep forever. */
static void sleep_for_good(void *unused) {
    (void)unused;
    pthread_mutex_lock(&ending.lock);
    for (;;) pthread_cond_wait(&ending.never, &ending.lock);
}

int arap_ask_python(int (*question)(void *data), void *data) {
    if (arap_python_ends()) return 1;
    int answer;
    const long process = ending.process;
    atomic_fetch_add(&ending.asking, 1);
    pthread_cleanup_push(sleep_for_good, NULL);
    PyGILState_STATE gil = PyGILState_Ensure();
    answer = question(data);
    PyGILState_Release(gil);
    pthread_cleanup_pop(0);
    if (process == ending.process) atomic_fetch_sub(&ending.asking, 1);
    announce();
    return answer;
}

/* Called at exit, with the GIL. */
static PyObject *end_work(PyObject *unused, PyObject *unused_too) {
    (void)unused;
    (void)unused_too;
    count_own_process();
    ending.ender = PyThread_get_thread_ident();
    atomic_store(&ending.is_ended, 1);
    Py_BEGIN_ALLOW_THREADS
    double begin = arap_seconds();
    pthread_mutex_lock(&ending.lock);
    for (int working; (working = atomic_load(&ending.working)) > 0;) {
        int all_ask = atomic_load(&ending.asking) >= working;
        if (all_ask && arap_seconds() - begin > PATIENCE) break;
        arap_wait_for(&ending.changed, &ending.lock, LOOK);
    }
    pthread_mutex_unlock(&ending.lock);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

int arap_watch_ending(void) {
    static PyMethodDef method = {"end_work", end_work, METH_NOARGS, "Ends the work of threads."};
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) return 0;
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *function = atexit ? PyCFunction_New(&method, NULL) : NULL;
    PyObject *kept = function ? PyObject_CallMethod(atexit, "register", "O", function) : NULL;
    Py_XDECREF(atexit);
    Py_XDECREF(function);
    Py_XDECREF(kept);
    return kept ? 0 : -1;
}
