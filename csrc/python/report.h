/* Converts solver results to Python objects. Each function returns NULL with an exception when out
 * of memory. */
#ifndef ARAP_PYREPORT_H
#define ARAP_PYREPORT_H

#include "arap.h"
#include "python/array.h"

/* A dense array (count, bones) with zeros. */
PyObject *arap_dense_weights(const arap_influences *in, int bones);

/* (start, bones, weights) of the rows. */
PyObject *arap_py_sparse_weights(const arap_influences *in);

/* (vertices, bones, held, released) of springs. */
PyObject *arap_spring_arrays(size_t count, const arap_spring_view *springs);

/* An entry of a report: a member of its struct, or a value that is made for the dictionary. */
typedef struct arap_report_entry {
    const char *name;
    enum { ARAP_ENTRY_COUNT, ARAP_ENTRY_SIZE, ARAP_ENTRY_NUMBER, ARAP_ENTRY_MADE } kind;
    size_t offset;
} arap_report_entry;

/* A dictionary of the entries, in their order. made: a dictionary of all values of ARAP_ENTRY_MADE,
 * or NULL with an exception; takes the reference. */
PyObject *arap_report_dict(size_t count, const arap_report_entry *entries, const void *report,
                           PyObject *made);

/* A dictionary with the seconds of each stage. */
PyObject *arap_stage_seconds(int count, const char *const *names, const double *seconds);

#endif
