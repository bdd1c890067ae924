/* Tests whether OpenBLAS and plain loops agree on this processor. */
#ifndef ARAP_BLAS_TEST_H
#define ARAP_BLAS_TEST_H

/* Return the name of the routine of the linked OpenBLAS that gives wrong results, "memory" if there
 * is too little memory for the test, or NULL if all results are correct. Takes milliseconds.
 * `spoiled`, for tests: a routine whose result is altered in the tenth digit of one number, or
 * NULL. */
const char *arap_blas_wrong(const char *spoiled);

#endif
