/* The clock of all reported times. */
#ifndef ARAP_CLOCK_H
#define ARAP_CLOCK_H

/* Seconds of a monotonic clock. */
double arap_seconds(void);

#endif
