/* For CHOLMOD's numeric factorization alone, which is compiled with this file in front of it: where
 * it calls BLAS, in functions that all have a variable Common, it calls factor.c instead, which
 * looks whether to stop and then calls BLAS. */
#ifndef ARAP_LISTENING_CHOLMOD_H
#define ARAP_LISTENING_CHOLMOD_H

#ifdef ARAP_IN_CHOLMOD
#include <cholmod_internal.h>

#include <cholmod_supernodal.h>
#else
#include <cholmod.h>
#endif

void arap_cholmod_potrf(cholmod_common *common, const char *uplo, const int *n, double *a,
                        const int *lda, int *info);

#ifdef ARAP_IN_CHOLMOD /* the name that -D gives to dpotrf_, in the calls that come */
#define scipy_dpotrf_(...) arap_cholmod_potrf(Common, __VA_ARGS__)
#endif

#endif
