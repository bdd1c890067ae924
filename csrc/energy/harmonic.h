/* The harmonic term of the weights (paper Eq. 13), which makes weights smoother at the expense of a
 * higher energy. */
#ifndef ARAP_HARMONIC_H
#define ARAP_HARMONIC_H

#include "mesh/two_rings.h"
#include "weights/influences.h"

/* delta sum_i c_i sum_b |(L w_b)_i|^2 = w'Hw, delta c_i = strength Lambda_i, with h_kl between the
 * influences of vertices k and l that share a bone. All NULL: no such term. smoothed (count) or
 * NULL: adds, for some vertices, smoothed_i row Lambda_i sum_b |(L w_b)_i / L_ii|^2, whose strength
 * does not depend on edge lengths. */
arap_status arap_harmonic_create(arap_context *context, const arap_mesh *mesh, double strength,
                                 const double *smoothed, double row, arap_two_rings *out);

/* Compute out[e] = (H w)_e for every influence. */
arap_status arap_harmonic_product(arap_context *context, const arap_two_rings *harmonic,
                                  const arap_influences *in, double *out);

#endif
