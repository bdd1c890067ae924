/* The clock by which reports tell seconds. */
#ifndef ARAP_CLOCK_H
#define ARAP_CLOCK_H

/* Seconds of a monotonic clock. */
double arap_seconds(void);

#endif
