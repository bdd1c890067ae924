/* Weights of the caller (arap_rows). */
#ifndef ARAP_ROWS_H
#define ARAP_ROWS_H

#include "base/status.h"

/* Bones in range and once a vertex, weights finite and >= 0. */
arap_status arap_check_rows(arap_error *error, const arap_rows *rows, int vertices, int bones);

#endif
