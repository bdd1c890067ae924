/* The clock of all reported times, and waiting. */
#ifndef ARAP_CLOCK_H
#define ARAP_CLOCK_H

#include <pthread.h>

/* Seconds of a monotonic clock. */
double arap_seconds(void);

/* Until others change something, or for so long, below a second; the lock is held. */
void arap_wait_for(pthread_cond_t *change, pthread_mutex_t *lock, double seconds);

#endif
