/* As-rigid-as-desired local step (paper section 4.1): see desired_local_step.h.
 *
 * In each pose, with phi_kb the position to which spine b moves vertex k,
 *     cov = sum_b T_b M_b + sum_kb phi_kb m_kb^T = U S V^T
 *     R   = U diag(sigma) V^T,   sigma_j = sum_b w_ib |J_b v_j|
 * where b runs over the influences of the vertex itself, J_b is the Jacobian of bone b at the
 * vertex, and v_j are the columns of V. For a rigid bone, |J_b v_j| = 1. For a stretchable bone,
 * J_b = T_b, and this rule replaces that of stretch.h. Edges may therefore stretch as much as the
 * bones stretch space at the vertex. With Q the rotation nearest to cov, R = Q V diag(sigma) V^T.
 * The columns of V are the eigenvectors of cov^T cov. A vertex whose own influences are all rigid
 * gets R = Q, as in the other local steps.
 *
 * R is not the minimum over a fixed set, and sigma depends on the weights, so the energy may rise
 * from one iteration to the next. If two singular values are equal, V is any basis of their plane,
 * and R jumps with this basis unless the stretches are also equal.
 *
 * This step processes one pose after another in double precision, which takes about 1 us per pose,
 * compared with 20 ns in local_kernel.h. The step cannot fail. */
#include "energy/desired_local_step.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"
#include "linalg/jacobi.h"
#include "linalg/rotation.h"

#define SWEEPS 10

/* Compute the eigenvectors of the symmetric matrix s, which has no negative eigenvalues, as the
 * columns of v with the cyclic Jacobi method. */
static void eigenvectors(double s[3][3], double v[3][3]) {
    for (int i = 0; i < 9; i++) v[i / 3][i % 3] = i % 4 == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = fabs(s[0][1]) + fabs(s[0][2]) + fabs(s[1][2]);
        double all = s[0][0] + s[1][1] + s[2][2];
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) arap_annihilate(3, &s[0][0], &v[0][0], p, q);
        if (off <= 1e-8 * all) return; /* the error after that sweep is its square */
    }
}

static double stretch_along(const double *jacobian, const double *direction) {
    double moved[3];
    for (int r = 0; r < 3; r++) moved[r] = arap_dot(jacobian + 3 * r, direction);
    return sqrt(arap_dot(moved, moved));
}

/* Compute R of the pose from cov, and its contribution to the excess. rigid: weights of the rigid
 * bones; ring: sum_k a_ik e_ik e_ik^T. */
static double best_transform(const arap_desired_input *in, int pose, double rigid,
                             const double *ring, double *cov, double *out) {
    const arap_spines *spines = &in->poses->spines;
    const double *transform = in->poses->transform + 12 * (size_t)pose * (size_t)in->poses->columns;
    double stretch[3] = {rigid, rigid, rigid}, prior[9] = {0}, s[3][3], v[3][3], excess = 0;
    double rotation[9];
    for (int b = 0; b < in->bones; b++)
        for (int i = 0; i < 9; i++)
            prior[i] += in->weight[b] * transform[12 * in->bone[b] + i / 3 * 4 + i % 3];
    for (int k = 0; k < in->own_count; k++) {
        arap_own_spine *own = &in->own[k];
        arap_spine_jacobian(spines, in->mesh, pose, in->vertex, own->spine,
                            transform + 12 * spines->bone[own->spine], own->jacobian, rotation);
        for (int i = 0; i < 9; i++) prior[i] += own->weight * rotation[i];
    }
    for (int i = 0; i < 9; i++) cov[i] += in->prior_share * prior[i];
    arap_nearest_rotation(cov, out);
    if (!in->own_count && !in->poses->stretches.count) return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s[i][j] = cov[i] * cov[j] + cov[3 + i] * cov[3 + j] + cov[6 + i] * cov[6 + j];
    eigenvectors(s, v);
    for (int k = 0; k < in->own_count; k++)
        for (int j = 0; j < 3; j++) {
            double direction[3] = {v[0][j], v[1][j], v[2][j]};
            stretch[j] += in->own[k].weight * stretch_along(in->own[k].jacobian, direction);
        }
    for (int b = 0; b < in->bones; b++) {
        if (arap_stretches_of(&in->poses->stretches, in->bone[b]) < 0) continue;
        const double *t = transform + 12 * in->bone[b];
        double jacobian[9] = {t[0], t[1], t[2], t[4], t[5], t[6], t[8], t[9], t[10]};
        for (int j = 0; j < 3; j++) {
            double direction[3] = {v[0][j], v[1][j], v[2][j]};
            stretch[j] += in->weight[b] * stretch_along(jacobian, direction);
        }
    }
    double stretched[9] = {0}, turned[9];
    for (int j = 0; j < 3; j++)
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                stretched[3 * r + c] += v[r][j] * stretch[j] * v[c][j];
                excess += (stretch[j] * stretch[j] - 1) * v[r][j] * ring[3 * r + c] * v[c][j];
            }
    memcpy(turned, out, sizeof turned);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = turned[3 * r] * stretched[c] + turned[3 * r + 1] * stretched[3 + c] +
                             turned[3 * r + 2] * stretched[6 + c];
    return excess;
}

void arap_desired_local_step(const arap_desired_input *in, double *product, double *excess) {
    const arap_poses *poses = in->poses;
    const arap_mesh *mesh = in->mesh;
    double ring[9] = {0}, rigid = 0, edge[3];
    for (size_t r = mesh->ring[in->vertex]; r < mesh->ring[in->vertex + 1]; r++) {
        arap_mesh_edge(mesh, in->vertex, r, edge);
        for (int i = 0; i < 9; i++) ring[i] += mesh->edge_weight[r] * edge[i / 3] * edge[i % 3];
    }
    double unit = ring[0] + ring[4] + ring[8], scale = unit > 0 ? 1 / unit : 0;
    for (int b = 0; b < in->bones; b++)
        if (arap_stretches_of(&poses->stretches, in->bone[b]) < 0) rigid += in->weight[b];
    memset(product, 0, 12 * (size_t)in->bones * sizeof *product);
    for (int k = 0; k < in->pairs; k++) memset(in->pair[k].product, 0, sizeof in->pair[k].product);
    *excess = 0;
    for (int p = 0; p < poses->count; p++) {
        const double *transform = poses->transform + 12 * (size_t)p * (size_t)poses->columns;
        double cov[9] = {0}, best[9];
        for (int b = 0; b < in->bones; b++) {
            const double *t = transform + 12 * in->bone[b], *m = in->moment + 16 * b;
            for (int r = 0; r < 3; r++)
                for (int k = 0; k < 4; k++)
                    for (int c = 0; c < 3; c++) cov[3 * r + c] += t[4 * r + k] * m[4 * k + c];
        }
        for (int k = 0; k < in->pairs; k++) {
            const double *point = in->pair[k].points + 3 * p, *m = in->pair[k].moment;
            for (int i = 0; i < 9; i++) cov[i] += point[i / 3] * m[i % 3];
        }
        for (int i = 0; i < 9; i++) cov[i] *= scale;
        double w = arap_pose_weight(poses, p);
        *excess += w * best_transform(in, p, rigid, ring, cov, best);
        if (in->best) memcpy(in->best + 9 * (size_t)p, best, sizeof best);
        for (int i = 0; i < 9; i++) best[i] *= w;
        for (int b = 0; b < in->bones; b++) {
            const double *t = transform + 12 * in->bone[b];
            double *out = product + 12 * b;
            for (int r = 0; r < 3; r++)
                for (int k = 0; k < 4; k++)
                    for (int c = 0; c < 3; c++) out[4 * c + k] += t[4 * r + k] * best[3 * r + c];
        }
        for (int k = 0; k < in->pairs; k++) {
            const double *point = in->pair[k].points + 3 * p;
            for (int c = 0; c < 3; c++)
                in->pair[k].product[c] +=
                    point[0] * best[c] + point[1] * best[3 + c] + point[2] * best[6 + c];
        }
    }
}
