/* A call of a function, a constructor or a method, from its arguments to the objects that it
 * returns:
 *
 *     static const arap_signature signature = {...};
 *     arap_call call;
 *     if (arap_open(&call, &signature, self, args, kwargs, NULL)) return arap_close(&call);
 *     double *out = arap_new_result(&call, NPY_DOUBLE, 1, &size, NULL);
 *     if (!out) return arap_close(&call);
 *     ARAP_BEGIN_WORK
 *     call.status = work(&call.run.context, &call.geometry, out);
 *     ARAP_END_WORK
 *     return arap_close(&call);
 */
#ifndef ARAP_PYCALL_H
#define ARAP_PYCALL_H

#include "python/error.h"
#include "python/input.h"

#define ARAP_MAX_RESULTS 6
typedef struct arap_call {
    const arap_module_state *state;
    arap_inputs in;
    arap_py_context run;
    arap_geometry geometry;
    arap_bones bones; /* their number is that of the weights if only these are read */
    arap_given_poses poses;
    arap_sparse_weights weights;
    arap_status status; /* of the work */
    int count;
    PyObject *results[ARAP_MAX_RESULTS]; /* owned, or NULL until it is known */
} arap_call;

/* Begin a call with no arguments given. self: the module, or an object of one of its types. */
void arap_call_init(arap_call *call, PyObject *self);

/* Begin a call, and parse its arguments. Fill the structs of `settings`, one for each table of the
 * signature, with their defaults and the given values. Read the geometry and what the signature
 * reads. 0, or -1 with an exception. The call must be closed in any case. */
int arap_open(arap_call *call, const arap_signature *signature, PyObject *self, PyObject *args,
              PyObject *kwargs, void *const *settings);

/* Add a new object to those that the call returns, and take over this reference. NULL: its creation
 * has failed, with an exception. */
void arap_add_result(arap_call *call, PyObject *object);

/* Add a new array with a copy of the data, or without values if `data` is NULL. Returns the data of
 * the array, or NULL with an exception. Does nothing after an earlier exception. */
void *arap_new_result(arap_call *call, int type, int dimensions, const npy_intp *sizes,
                      const void *data);

/* Release the arguments of a call, and raise the exception of its status. 0, or -1 with an
 * exception. */
int arap_end(arap_call *call);

/* End a call. Returns its result, or a tuple of its results, or None without any; NULL with an
 * exception. */
PyObject *arap_close(arap_call *call);

#endif
