/* Ensures that every bone moves its own skin by adding rows that hold unresponsive bones. */
#ifndef ARAP_RESPONSE_H
#define ARAP_RESPONSE_H

#include "solver/solver.h"

#define ARAP_MAX_OF_VERTEX 0.5

/* Find the own skin of the bones, which each bone should move: (vertex, bone) with its initial
 * weight. Minor bones, which have most of their weight on the skin of others, have own skin with
 * weights of ARAP_MAX_OF_VERTEX or less. */
arap_status arap_own_skin(arap_context *context, const arap_solver *solver, arap_influences *out);

/* After the last stage of a level, measure the responses and hold bones below the minimum. If there
 * are any, stage.last is increased to add another stage. */
arap_status arap_response_rows_review(arap_context *context, arap_solver *solver);

/* Before the last stage of the coarsest level, hold bones that are already below the minimum if
 * the mesh is a single body. */
arap_status arap_response_rows_foresee(arap_context *context, arap_solver *solver);

/* Add the influences held by the rows, with weight 0. `patterns` is replaced. */
arap_status arap_response_rows_offer(arap_context *context, const arap_solver *solver,
                                     arap_influences *patterns);

/* Hold the bones held on the coarser level, with the same strength, and the bones that do not
 * respond on this level with the weights of the coarser one. */
arap_status arap_response_rows_inherit(arap_context *context, arap_solver *solver,
                                       const arap_influences *weights);

/* The approximate cost of holding these bones, as a share of the current energy. */
double arap_response_rows_cost(const arap_solver *solver);

/* After an edit, keep the rows that remain valid and reset the number of rounds. */
arap_status arap_response_rows_renew(arap_context *context, arap_solver *solver);

void arap_response_rows_clear(arap_response_rows *rows);

/* Measure how far the skin of each bone follows when the bone turns, and the bone's share of the
 * weights. own: own_skin.c. response (deforming bones): how far own skin follows, relative to the
 * initial weights. share (deforming bones): the weight of the bone on all skin, as a share of its
 * initial one. ARAP_NO_SKIN for bones without own skin. ignored (vertices): vertices that do not
 * count as skin; NULL: all count. */
arap_status arap_responses(arap_context *context, const arap_solver *solver,
                           const arap_influences *own, const arap_influences *weights,
                           const char *ignored, double *response, double *share);

#endif
