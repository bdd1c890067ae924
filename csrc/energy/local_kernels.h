/* The inner loop of the local step for one vertex, with the widest SIMD instructions of this
 * machine. */
#ifndef ARAP_LOCAL_KERNELS_H
#define ARAP_LOCAL_KERNELS_H

#include <stddef.h>

/* Poses are padded to a multiple of this many lanes. */
#define ARAP_LANES 16

/* Bytes of scratch a kernel needs per bone. */
#define ARAP_KERNEL_SCRATCH (12 * 64)

/* The edge directions of a one-ring: arbitrary, all parallel, or nearly parallel. */
enum arap_ring_shape { ARAP_RING_SOLID, ARAP_RING_LINE, ARAP_RING_THIN };

typedef struct arap_kernel_input {
    const void *transform; /* (all bones, 12, lanes) */
    int lanes;
    int poses;            /* lanes in use */
    int bones;            /* bones of the one-ring */
    const int *bone;      /* (bones) */
    const void *moments;  /* (bones, 12) M_b, scaled so that cov is about 1 */
    const double *weight; /* (bones) weights of the vertex itself */
    int shape;            /* arap_ring_shape; for a thin ring, the first axis of the coordinates of
                             e is its direction, and M_b already includes the prior */
    double prior_share;   /* weight of the blended bone rotations where cov does not determine R */
    void *scratch;        /* (bones * ARAP_KERNEL_SCRATCH) bytes, aligned to 64 bytes */
    /* Stretchable influences of the vertex itself (stretch.h): */
    int stretches;
    const void *stretch;          /* (all stretchable bones, 6, lanes) U_b - I */
    const int *stretch_place;     /* (stretches) */
    const double *stretch_weight; /* (stretches) */
    const double *ring;           /* (6) sum_k a_ik e_ik e_ik^T, with a trace of 1 */
    double *excess;               /* out: sum over poses of w_p tr((U^2 - I) ring) */
    void *pull;                   /* (all bones, 3, lanes) or NULL: see below */
    double pull_scale;
    const void *pose_weight; /* (lanes) w_p, 0 in padding lanes; NULL: all 1 */
} arap_kernel_input;

/* out (bones, 3, 4): P_b = sum over poses of w_p T_b^T R, transposed. With `pull`, R m_b of every
 * pose (m_b: the last row of M_b times pull_scale, without w_p) is added to `pull` instead of
 * computing P_b, and out[0] is the sum over poses of w_p tr(R^T cov). */
typedef void (*arap_kernel)(const arap_kernel_input *in, double *out);

/* The kernel for this processor. */
arap_kernel arap_kernel_single(void);
arap_kernel arap_kernel_double(void);

/* Names of the instruction sets that this processor can run, widest first, and a kernel lookup by
 * name for tests and benchmarks: NULL for a set that it cannot run. */
arap_kernel arap_kernel_named(const char *name, int is_double);
const char *arap_kernel_name(void);

/* For callers in other languages that mirror arap_kernel_input. */
size_t arap_kernel_input_size(void);

#endif
