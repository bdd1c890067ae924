/* Applies an artist's edits to a solver, in the form of marks, rows and excluded bones. */
#ifndef ARAP_APPLY_EDITS_H
#define ARAP_APPLY_EDITS_H

#include "solver/solver.h"

/* Replace the marks and rows of earlier edits by those of these edits, which have been checked. */
arap_status arap_take_edits(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* Find the peak and attachment rows that the marks release. */
void arap_release_constraints(arap_solver *solver);

/* Call arap_edit_influences with the solver's marks. */
arap_status arap_apply_edits(arap_context *context, const arap_solver *solver,
                             const arap_influences *offered, arap_influences *influences);

#endif
