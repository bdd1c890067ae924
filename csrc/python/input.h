/* Converts Python arguments to the structures of arap.h. Every function returns 0, or -1 with an
 * exception that names the argument. */
#ifndef ARAP_PYINPUT_H
#define ARAP_PYINPUT_H

#include "arap.h"
#include "python/arguments.h"

/* The mesh among the arguments of a call. */
int arap_geometry_from_inputs(const arap_inputs *in, arap_geometry *geometry);

/* The skeleton of m bones; bone_kinds is a sequence (m,) of "rigid", "stb", "spine" or "bendy", or
 * None. */
int arap_bones_from_inputs(arap_inputs *in, arap_bones *bones);

/* poses, bends, segment_poses (poses, joints, 3 or 4, 4) and parameters of these bones. */
int arap_poses_from_inputs(arap_inputs *in, const arap_bones *bones, arap_given_poses *poses);

/* The same, but bends and segment_poses require bone_kinds, and there must be poses. */
int arap_some_poses_from_inputs(arap_inputs *in, const arap_bones *bones, arap_given_poses *poses);

/* posed (poses, n, 3) or, with one_pose, also (n, 3), where n is that of the inputs; NULL with an
 * exception on failure. */
const double *arap_posed_from_inputs(arap_inputs *in, int one_pose, npy_intp *poses);

/* weights: (start, bones, weights), rows of a sparse matrix, or a dense (n, m) array, whose
 * non-zeros count; None: no rows. */
int arap_sparse_weights_from_inputs(arap_inputs *in, arap_sparse_weights *rows);

/* Bones of which only the number is known: the columns of dense weights, or the bones in the rows.
 */
int arap_bones_of_weights(const arap_inputs *in, const arap_sparse_weights *rows,
                          arap_bones *bones);

/* constraints (vertices, bones, targets), influences (vertices, bones, allowed), smoothed
 * (vertices, strengths) and released (vertices, bones): tuples of arrays (k,), or None. */
int arap_edits_from_inputs(arap_inputs *in, arap_edits *edits);

/* locked_vertices (n,); locked_bones (m,), or (sets, m) with vertex_sets (n,). */
int arap_locks_from_inputs(arap_inputs *in, arap_problem *problem);

/* symmetry: (bone partners (m,), plane point (3,), plane normal (3,)); None: *given = 0. */
int arap_reflection_from_inputs(arap_inputs *in, arap_reflection *reflection, int *given);

/* Common input of Solver and JointSolver: geometry, bones, poses, weights and symmetry. The problem
 * keeps references to `rows` and `reflection` if they are given. */
int arap_problem_from_inputs(arap_inputs *in, arap_problem *problem, arap_sparse_weights *rows,
                             arap_reflection *reflection);

#endif
