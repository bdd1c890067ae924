/* The clock used for all reported times, and timed waiting. */
#ifndef ARAP_CLOCK_H
#define ARAP_CLOCK_H

#include <pthread.h>

/* Time of a monotonic clock in seconds. */
double arap_seconds(void);

/* Wait until another thread signals a change or this time, less than a second, has passed. The lock
 * must be held. */
void arap_wait_for(pthread_cond_t *change, pthread_mutex_t *lock, double seconds);

#endif
