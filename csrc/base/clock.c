/* A monotonic clock, and timed waiting by the system clock: see clock.h. The functions have
 * constant cost and cannot fail. */
#include "base/clock.h"

#include <time.h>

double arap_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void arap_wait_for(pthread_cond_t *change, pthread_mutex_t *lock, double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * seconds);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(change, lock, &until);
}
