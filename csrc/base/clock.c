/* A monotonic clock: see clock.h. Constant cost; it cannot fail. */
#include "base/clock.h"

#include <time.h>

double arap_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
