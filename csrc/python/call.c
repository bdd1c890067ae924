/* The life cycle of a call: see python/call.h. Fails with a Python exception, after which a call
 * returns nothing. All functions need the GIL. */
#include "python/call.h"

void arap_call_init(arap_call *call, PyObject *self) {
    *call = (arap_call){.state = PyModule_Check(self) ? PyModule_GetState(self)
                                                      : PyType_GetModuleState(Py_TYPE(self))};
    arap_inputs_init(&call->in);
}

int arap_open(arap_call *call, const arap_signature *signature, PyObject *self, PyObject *args,
              PyObject *kwargs, void *const *settings) {
    arap_inputs *in = &call->in;
    const int reads = signature->reads;
    arap_call_init(call, self);
    for (int t = 0; t < ARAP_TABLES && signature->tables[t]; t++)
        arap_settings_fill(signature->tables[t], settings[t]);
    return arap_parse(signature, args, kwargs, in, settings) ||
                   arap_py_context_init(&call->run, in->progress, in->threads) ||
                   arap_geometry_from_inputs(in, &call->geometry) ||
                   ((reads & ARAP_READ_BONES) && arap_bones_from_inputs(in, &call->bones)) ||
                   ((reads & ARAP_READ_POSES) &&
                    arap_some_poses_from_inputs(in, &call->bones, &call->poses)) ||
                   ((reads & ARAP_READ_WEIGHTS) &&
                    arap_sparse_weights_from_inputs(in, &call->weights)) ||
                   (reads == ARAP_READ_WEIGHTS &&
                    arap_bones_of_weights(in, &call->weights, &call->bones))
               ? -1
               : 0;
}

void arap_add_result(arap_call *call, PyObject *object) {
    if (object) call->results[call->count++] = object;
}

void *arap_new_result(arap_call *call, int type, int dimensions, const npy_intp *sizes,
                      const void *data) {
    PyObject *array = PyErr_Occurred() ? NULL : arap_new_array(type, dimensions, sizes, data);
    arap_add_result(call, array);
    return array ? PyArray_DATA((PyArrayObject *)array) : NULL;
}

int arap_end(arap_call *call) {
    if (call->status) arap_raise(call->state, &call->run.context);
    arap_inputs_release(&call->in);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *arap_close(arap_call *call) {
    PyObject *result = NULL;
    if (!arap_end(call)) {
        if (call->count == 0)
            result = Py_NewRef(Py_None);
        else if (call->count == 1)
            result = Py_NewRef(call->results[0]);
        else
            result = PyTuple_New(call->count);
    }
    for (int k = 0; k < call->count; k++)
        if (result && call->count > 1)
            PyTuple_SetItem(result, k, call->results[k]); /* takes the reference */
        else
            Py_XDECREF(call->results[k]);
    return result;
}
