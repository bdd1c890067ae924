/* Products with the Gram matrices of poses (rig/poses.h) for rows with many influences, computed
 * directly from the poses. */
#ifndef ARAP_WIDE_PRODUCTS_H
#define ARAP_WIDE_PRODUCTS_H

#include "rig/poses.h"
#include "weights/influences.h"

/* Whether this is faster for a row of this many influences. Never with spines, whose points are not
 * a linear function of the vertex. */
int arap_is_wide(const arap_poses *poses, size_t influences);

/* Create work space for a few vertices at a time on each thread; NULL if no row is wide. It keeps
 * references to the context and the poses. */
typedef struct arap_wide arap_wide;
arap_status arap_wide_create(arap_context *context, const arap_poses *poses,
                             const arap_influences *in, arap_wide **out);
void arap_wide_free(arap_wide *wide);

/* Maximum number of vectors that are multiplied at once. */
#define ARAP_WIDE_MOMENTS 32

/* For this many vectors m of four numbers per bone, first name all of their bones, then set their
 * numbers, which are initially 0. */
void arap_wide_begin(arap_wide *wide, int worker, int moments);
void arap_wide_name(arap_wide *wide, int worker, int bone);
void arap_wide_start(arap_wide *wide, int worker);
double *arap_wide_moment(arap_wide *wide, int worker, int k, int bone);

/* Then compute p_b = sum over the named bones c of G_bc m_c, for each vector and each named bone
 * b. */
void arap_wide_multiply(arap_wide *wide, int worker);
const double *arap_wide_product(const arap_wide *wide, int worker, int k, int bone);

#endif
