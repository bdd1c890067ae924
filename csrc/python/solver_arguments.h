/* The keyword arguments of araplbs.Solver. */
#ifndef ARAP_PYSOLVER_ARGUMENTS_H
#define ARAP_PYSOLVER_ARGUMENTS_H

#include "arap.h"
#include "python/array.h"

/* The parsed keyword arguments that need more than one step. */
typedef struct arap_solver_arguments {
    PyObject *vertices, *triangles, *heads, *tails, *parents;
    PyObject *edges, *tets, *roll_axes, *deform, *limits, *kinds, *ranges, *segments, *stretch,
        *poses, *bends, *segment_poses, *parameters, *weights, *locked_vertices, *locked_bones,
        *vertex_sets, *constraints, *influences, *released, *mirror, *progress, *support;
    const char *precision, *positivity, *filter, *initial;
    int start_from_weights;
    unsigned long long seed;
} arap_solver_arguments;

/* Both return -1 with an exception. settings and threads come with their defaults; a holds the
 * objects by borrowed reference. */
int arap_parse_solver(PyObject *args, PyObject *kwargs, arap_solver_arguments *a,
                      arap_settings *settings, int *threads);

/* locked_vertices (n,); locked_bones (m,), or (sets, m) with vertex_sets (n,). The problem has its
 * vertices and bones. */
int arap_parse_locks(arap_arrays *arrays, const arap_solver_arguments *a, arap_problem *problem);

#endif
