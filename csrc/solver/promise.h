/* Makes sure that every bone moves its own skin, by rows that hold bones that do not respond. */
#ifndef ARAP_PROMISE_H
#define ARAP_PROMISE_H

#include "solver/solver.h"

/* After the last stage of a level: measure the responses, and hold what is below the floor. Then
 * another stage is to come, and stage.last has grown. */
arap_status arap_promise_review(arap_context *context, arap_solver *solver);

/* Before the last stage of the coarsest level: hold what is below the floor already, if the mesh is
 * one body. */
arap_status arap_promise_foresee(arap_context *context, arap_solver *solver);

/* The influences that the rows hold, added with weight 0. `patterns` is replaced. */
arap_status arap_promise_offer(arap_context *context, const arap_solver *solver,
                               arap_influences *patterns);

/* Hold what the coarser level holds, as strongly, and what does not answer with its weights for
 * this one. */
arap_status arap_promise_inherit(arap_context *context, arap_solver *solver,
                                 const arap_influences *weights);

/* The approximate cost of holding these bones, as a share of the present energy. */
double arap_promise_cost(const arap_solver *solver);

/* After an edit: the rows that it leaves, and rounds as at the start. */
arap_status arap_promise_renew(arap_context *context, arap_solver *solver);

void arap_promise_clear(arap_promise *promise);

#endif
