/* Python arguments as the structures of arap.h. Every function returns 0, or -1 with an
 * exception that names the argument. */
#ifndef ARAP_PYINPUT_H
#define ARAP_PYINPUT_H

#include "arap.h"
#include "python/array.h"

/* For PyArg_Parse's O&: an int / a seed that names itself when it is out of range. */
typedef struct arap_int_argument {
    const char *name;
    int value;
} arap_int_argument;
int arap_read_int(PyObject *object, void *argument);
int arap_read_seed(PyObject *object, void *seed); /* unsigned long long */

/* vertices (n, 3); triangles (f, 3), edges (e, 2), tets (t, 4) or None. */
int arap_geometry_from_python(arap_arrays *arrays, PyObject *vertices, PyObject *triangles,
                              PyObject *edges, PyObject *tets, arap_geometry *geometry);

/* heads (m, 3), tails (m, 3), parents (m,); roll axes (m, 3), deform (m,), limits (m, 3, 2) or
 * None. */
int arap_bones_from_python(arap_arrays *arrays, PyObject *heads, PyObject *tails, PyObject *parents,
                           PyObject *roll_axes, PyObject *deform, PyObject *limits,
                           arap_bones *bones);

/* bone_kinds, a sequence (m,) of "rigid", "stb", "spine" or "bendy", bone_ranges (m, 4, 2),
 * bone_segments (m,) and bone_stretch (m,), or None: into bones whose number is known. */
int arap_kinds_from_python(arap_arrays *arrays, PyObject *kinds, PyObject *ranges,
                           PyObject *segments, PyObject *stretch, arap_bones *bones);

/* bends (poses, bones, 4), segment_poses (poses, joints, 3 or 4, 4) and parameters (vertices,
 * bones), or None: into the poses. */
int arap_bends_from_python(arap_arrays *arrays, PyObject *bends, PyObject *segment_poses,
                           PyObject *parameters, npy_intp vertices, const arap_bones *bones,
                           arap_given_poses *poses);

/* (start, bones, weights), rows of a sparse matrix, or a dense (vertices, bones) array, whose
 * non-zeros count; None: *given = 0. */
int arap_rows_from_python(arap_arrays *arrays, PyObject *argument, npy_intp vertices,
                          npy_intp bones, arap_rows *rows, int *given);

/* constraints (vertices, bones, targets), influences (vertices, bones, allowed) and released
 * (vertices, bones): tuples of arrays (k,), or None. */
int arap_edits_from_python(arap_arrays *arrays, PyObject *constraints, PyObject *influences,
                           PyObject *released, arap_edits *edits);

/* (bone partners (m,), plane point (3,), plane normal (3,)); None: *given = 0. */
int arap_reflection_from_python(arap_arrays *arrays, PyObject *argument, npy_intp bones,
                                arap_reflection *reflection, int *given);

/* Transforms (count, bones, 3, 4) or (count, bones, 4, 4); None: *out = NULL, *count = 0. */
int arap_transforms_from_python(arap_arrays *arrays, PyObject *argument, npy_intp bones,
                                const double **out, int *count);

/* The same of any number of bones, where there must be some. */
int arap_some_transforms_from_python(arap_arrays *arrays, PyObject *argument, npy_intp *bones,
                                     const double **out, int *count);

#endif
