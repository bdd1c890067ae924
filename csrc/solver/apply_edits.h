/* Applies an artist's edits to a solver: marks, rows, excluded bones. */
#ifndef ARAP_APPLY_EDITS_H
#define ARAP_APPLY_EDITS_H

#include "solver/solver.h"

/* Marks and rows of these edits, which were checked, in place of those of earlier ones. */
arap_status arap_take_edits(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* Rows of peaks and attachments that the marks release. */
void arap_release_constraints(arap_solver *solver);

/* arap_edit_influences with the solver's marks. */
arap_status arap_apply_edits(arap_context *context, const arap_solver *solver,
                             const arap_influences *offered, arap_influences *influences);

#endif
