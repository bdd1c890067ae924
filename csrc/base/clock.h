/* The clock of all reported times, and waiting. */
#ifndef ARAP_CLOCK_H
#define ARAP_CLOCK_H

#include <pthread.h>

/* Seconds of a monotonic clock. */
double arap_seconds(void);

/* Wait until others change something, or for this long, below a second; the lock is held. */
void arap_wait_for(pthread_cond_t *change, pthread_mutex_t *lock, double seconds);

#endif
