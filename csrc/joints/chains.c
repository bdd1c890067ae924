/* Computes sums along the chains of joints: see chains.h. Takes O(deforming bones^2), and cannot
 * fail. */
#include "joints/system.h"

#include <string.h>

void arap_joint_chains(arap_joint_system *system) {
    const arap_joints *joints = system->joints;
    int n = joints->deforming;
    memset(system->chain, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int d = 0; d < n; d++)
        for (int a = d; joints->up[a] >= 0; a = joints->up[a]) system->chain[d * n + a] = 1;
    for (int a = 0; a < n; a++) {
        double sum = 0, count = 0;
        for (int d = 0; d < n; d++)
            if (joints->component[d] == joints->component[a]) {
                sum += joints->segments[d] * system->chain[d * n + a];
                count += joints->segments[d];
            }
        for (int d = 0; d < n; d++)
            if (joints->component[d] == joints->component[a])
                system->chain[d * n + a] -= sum / count;
    }
}

void arap_joint_push_down(const arap_joint_system *system, const double *in, double *out) {
    int n = system->joints->deforming;
    memset(out, 0, 3 * (size_t)n * sizeof(double));
    for (int d = 0; d < n; d++)
        for (int a = 0; a < n; a++) {
            double x = system->chain[d * n + a];
            for (int r = 0; x != 0 && r < 3; r++) out[3 * a + r] += x * in[3 * d + r];
        }
}

void arap_joint_carry_down(const arap_joint_system *system, const double *in, double *out) {
    int n = system->joints->deforming;
    memset(out, 0, 3 * (size_t)n * sizeof(double));
    for (int d = 0; d < n; d++)
        for (int a = 0; a < n; a++)
            for (int r = 0; r < 3; r++) out[3 * d + r] += system->chain[d * n + a] * in[3 * a + r];
}
