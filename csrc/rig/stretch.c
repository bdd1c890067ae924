/* Stretchable bones: see stretch.h.
 *
 * A bone that is scaled in a pose stretches its skin on purpose, so edges near it should have the
 * stretched length, not their length at rest. The target of the edges of vertex i is therefore R_i
 * U_i e_ik instead of R_i e_ik, where U_b is the right stretch tensor of influence b, R_i is a
 * rotation (as rigid as desired), and
 *     U_b = (T_b' T_b)^(1/2)
 *     U_i = I + sum_b w_ib (U_b - I)
 * If all T_b are equal, the energy is 0. The best R_i is the rotation nearest to cov_i U_i
 * (local_kernel.h).
 *
 * Two rules exist. Instead of U_i, section 4.1 of the paper uses sigma_k = sum_b w_ib |T_b v_k|
 * along the axes v_k of the covariance. U_i is exact for any one-ring and never jumps. However, if
 * an STB or spine moves a vertex or one of its neighbors, no constant transform has the stretch of
 * this bone. The paper's rule then applies to all influences of this vertex (desired_local_step.c).
 * The energy jumps between the two rules, even for a small weight of a spine.
 *
 * Takes O(columns x poses). Columns are processed in parallel. Fails on out-of-memory, or when
 * cancelled. */
#include "rig/stretch.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/jacobi.h"

#define SWEEPS 12
#define CHUNK 16

void arap_stretch_tensor(const double *transform, double *out) {
    double s[9], v[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s[3 * i + j] = transform[i] * transform[j] + transform[4 + i] * transform[4 + j] +
                           transform[8 + i] * transform[8 + j];
    for (int sweep = 0; sweep < SWEEPS && (s[1] != 0 || s[2] != 0 || s[5] != 0); sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) arap_annihilate(3, s, v, p, q);
    int fill = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double sum = i == j ? -1 : 0;
            for (int k = 0; k < 3; k++)
                sum += v[3 * i + k] * v[3 * j + k] * sqrt(fmax(s[4 * k], 0));
            out[fill++] = sum;
        }
}

typedef struct stretch_task {
    int columns, poses;
    const double *transform;
    arap_stretches *out;
} stretch_task;

/* An arap_task. */
static void stretch_columns(void *data, int chunk, int worker) {
    (void)worker;
    const stretch_task *task = data;
    size_t poses = (size_t)task->poses;
    int end = arap_chunk_end(chunk, CHUNK, task->columns);
    for (int c = chunk * CHUNK; c < end; c++) {
        int place = task->out->place[c];
        for (size_t p = 0; p < poses && place >= 0; p++)
            arap_stretch_tensor(task->transform + 12 * (p * (size_t)task->columns + (size_t)c),
                                task->out->tensor + ARAP_SYMMETRIC * ((size_t)place * poses + p));
    }
}

arap_status arap_stretches_create(arap_context *context, const arap_skeleton *skeleton,
                                  const arap_bendy *bendy, int columns, int poses,
                                  const double *transform, arap_stretches *stretches) {
    *stretches = (arap_stretches){0};
    int any = 0;
    for (int d = 0; d < skeleton->deform_count; d++)
        any |= skeleton->stretch[skeleton->deform_bone[d]];
    if (!any) return ARAP_OK;
    stretches->place = ARAP_NEW(int, columns);
    if (!stretches->place) return arap_fail_memory(&context->error, "the stretchable bones");
    for (int c = 0; c < columns; c++) stretches->place[c] = -1;
    for (int d = 0; d < skeleton->deform_count; d++) {
        int k = bendy->count ? bendy->place[d] : -1;
        if (!skeleton->stretch[skeleton->deform_bone[d]]) continue;
        stretches->place[d] = stretches->count++;
        for (int j = 0; k >= 0 && j < bendy->segments[k]; j++)
            stretches->place[bendy->further[k] + j] = stretches->count++;
    }
    stretches->tensor = ARAP_NEW(double, ARAP_SYMMETRIC * (size_t)stretches->count * (size_t)poses);
    if (!stretches->tensor) {
        arap_stretches_clear(stretches);
        return arap_fail_memory(&context->error, "the stretchable bones");
    }
    stretch_task task = {columns, poses, transform, stretches};
    arap_status status =
        arap_parallel(context, arap_chunks(columns, CHUNK), stretch_columns, &task);
    if (status) arap_stretches_clear(stretches);
    return status;
}

void arap_stretches_clear(arap_stretches *stretches) {
    arap_free(stretches->place);
    arap_free(stretches->tensor);
    *stretches = (arap_stretches){0};
}
