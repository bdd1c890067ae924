/* Converts statuses to exceptions and progress reports to calls: see python/error.h. Calls of
 * `progress` acquire the GIL. All other functions require the caller to hold the GIL. */
#include "python/error.h"

#include <stdlib.h>

void arap_raise(const arap_module_state *state, const arap_context *context) {
    if (PyErr_Occurred()) return;
    PyObject *type = PyExc_SystemError;
    switch (context->error.status) {
    case ARAP_NO_MEMORY:
        type = PyExc_MemoryError;
        break;
    case ARAP_BAD_VALUE:
        type = state->input_error;
        break;
    case ARAP_CANCELLED:
        type = arap_python_ends() ? PyExc_SystemExit : state->cancelled;
        break;
    case ARAP_NOT_FINITE:
    case ARAP_NOT_FACTORED:
    case ARAP_FAULT:
        type = state->solver_error;
        break;
    case ARAP_OK:
    case ARAP_STATUS_COUNT:
        break;
    }
    PyErr_SetString(type, context->error.text);
}

typedef struct report {
    PyObject *progress;
    const char *stage;
    double fraction;
} report;

static int ask_to_stop(void *data) {
    const report *r = data;
    int stop = PyErr_CheckSignals() != 0;
    if (stop || !r->progress) return stop;
    PyObject *answer = PyObject_CallFunction(r->progress, "sd", r->stage, r->fraction);
    stop = !answer || answer == Py_False ||
           (PyArray_IsScalar(answer, Bool) && !PyObject_IsTrue(answer));
    Py_XDECREF(answer);
    return stop;
}

/* Called without the GIL, between steps, on the thread that made the call. */
static int report_progress(void *data, const char *stage, double fraction) {
    const arap_py_context *self = data;
    return arap_ask_python(ask_to_stop, &(report){self->progress, stage, fraction});
}

/* The number of threads requested by the environment, in the first of the variables used by render
 * farms and other libraries; otherwise, the number of processors. A list has one number for each
 * nesting level. The first number is used. */
static int default_threads(void) {
    static const char *const names[] = {"ARAPLBS_THREADS", "OMP_NUM_THREADS"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *text = getenv(names[k]);
        char *end = NULL;
        long count = text ? strtol(text, &end, 10) : 0;
        if (count > 0 && (*end == '\0' || *end == ','))
            return count > ARAP_MAX_THREADS ? ARAP_MAX_THREADS : (int)count;
    }
    return arap_processors();
}

int arap_py_context_init(arap_py_context *self, PyObject *progress, int threads) {
    if (threads < 0) {
        PyErr_Format(PyExc_ValueError, "threads is %d: must be 0 (all processors) or more",
                     threads);
        return -1;
    }
    if (progress && progress != Py_None && !PyCallable_Check(progress)) {
        PyErr_Format(PyExc_TypeError, "progress must be callable, not %R",
                     (PyObject *)Py_TYPE(progress));
        return -1;
    }
    if (threads > ARAP_MAX_THREADS) threads = ARAP_MAX_THREADS;
    *self = (arap_py_context){.context = {.threads = threads ? threads : default_threads(),
                                          .progress = report_progress,
                                          .progress_data = self},
                              .progress = progress == Py_None ? NULL : progress};
    return 0;
}
