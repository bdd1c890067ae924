/* Tests whether OpenBLAS and plain loops agree on this processor. */
#ifndef ARAP_BLAS_TEST_H
#define ARAP_BLAS_TEST_H

/* The routine of the linked OpenBLAS that computes wrongly, "memory" if there is too little for
 * the test, NULL if all is right. Takes milliseconds. `spoiled`, for tests: a routine one number of
 * whose results is changed in its tenth digit, or NULL. */
const char *arap_blas_wrong(const char *spoiled);

#endif
