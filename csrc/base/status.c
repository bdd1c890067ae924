/* Status codes and error texts: see status.h. Texts that are too long are truncated. The cost is
 * constant. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

arap_status arap_fail(arap_error *error, arap_status status, const char *format, ...) {
    if (error->status == ARAP_OK) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
        error->status = status;
    }
    return status;
}

arap_status arap_fail_memory(arap_error *error, const char *what) {
    return arap_fail(error, ARAP_NO_MEMORY, "not enough memory for %s", what);
}
