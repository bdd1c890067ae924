/* The global step: see system.h.
 *
 * With fixed rotations, the energy is quadratic, with the same matrix for all poses and
 * coordinates:
 *     (K + C^T G C) x = b + C^T G y
 * K is sparse. It contains the terms of the elements with their anchors, and the pulls h_i on the
 * diagonal. Each row of C computes the mean of a limb, and G = diag(g_l). C^T G C is dense for
 * large limbs, so only K is factorized, and the formula of Sherman, Morrison and Woodbury gives x =
 * z + Y S^-1 (y - C z) with z = K^-1 b, the response Y = K^-1 C^T, and S = G^-1 + C Y.
 *
 * The factorization takes O(vertices^1.5), and each solve takes O(vertices log vertices + limbs
 * vertices). Y takes 8 bytes of memory per vertex and limb. Fails on out-of-memory, and if K is not
 * positive definite. */
#include "elastic/system.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"

/* K, with rows in elimination order. */
static arap_status assemble(arap_context *context, const arap_body *body,
                            const arap_bone_hold *hold, const arap_elastic_system *system,
                            arap_matrix *out) {
    const arap_mesh *mesh = &body->mesh;
    size_t edges = mesh->ring[mesh->count];
    double *own = ARAP_NEW(double, mesh->count), *edge = ARAP_NEW_ZERO(double, edges);
    *out = (arap_matrix){.size = system->size,
                         .start = ARAP_NEW(int, system->size + 1),
                         .row = ARAP_NEW(int, (size_t)system->size + edges / 2),
                         .value = ARAP_NEW(double, (size_t)system->size + edges / 2)};
    if (!own || !edge || !out->start || !out->row || !out->value) {
        arap_free(own);
        arap_free(edge);
        arap_matrix_clear(out);
        return arap_fail_memory(&context->error, "the elastic system");
    }
    memcpy(own, hold->strength, (size_t)mesh->count * sizeof *own);
    arap_body_stiffness(body, hold->anchor_weight, own, edge);
    int fill = 0;
    for (int j = 0; j < system->size; j++) {
        int i = system->vertex[j];
        out->start[j] = fill;
        out->row[fill] = j;
        out->value[fill++] = own[i];
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            int row = system->place[mesh->neighbor[e]], at = fill;
            if (row < j) continue;
            for (; at > out->start[j] + 1 && out->row[at - 1] > row; at--) {
                out->row[at] = out->row[at - 1];
                out->value[at] = out->value[at - 1];
            }
            out->row[at] = row;
            out->value[at] = edge[e];
            fill++;
        }
    }
    out->start[system->size] = fill;
    arap_free(own);
    arap_free(edge);
    return ARAP_OK;
}

/* Y and the factor of S. */
static arap_status respond(arap_context *context, const arap_bone_hold *hold,
                           arap_elastic_system *system) {
    size_t n = (size_t)system->size, limbs = (size_t)hold->limbs;
    system->response = ARAP_NEW_ZERO(double, limbs * n);
    system->compliance = ARAP_NEW_ZERO(double, limbs * limbs);
    if (!system->response || !system->compliance)
        return arap_fail_memory(&context->error, "the elastic system");
    for (size_t l = 0; l < limbs; l++)
        for (size_t k = hold->start[l]; k < hold->start[l + 1]; k++)
            system->response[l * n + (size_t)system->place[hold->vertex[k]]] +=
                1 / (double)(hold->start[l + 1] - hold->start[l]);
    arap_status status =
        arap_factor_solve_all(context, system->factor, hold->limbs, system->response);
    if (status) return status;
    for (size_t l = 0; l < limbs; l++)
        for (size_t m = 0; m < limbs; m++) {
            double sum = 0, count = (double)(hold->start[l + 1] - hold->start[l]);
            for (size_t k = hold->start[l]; k < hold->start[l + 1]; k++)
                sum += system->response[m * n + (size_t)system->place[hold->vertex[k]]];
            system->compliance[l * limbs + m] =
                sum / count + (l == m ? 1 / hold->limb_strength[l] : 0);
        }
    if (!arap_cholesky(hold->limbs, system->compliance))
        return arap_fail(&context->error, ARAP_NOT_FACTORED,
                         "the limbs cannot be held: their system is not positive definite");
    return ARAP_OK;
}

arap_status arap_elastic_system_create(arap_context *context, const arap_body *body,
                                       const arap_bone_hold *hold, arap_elastic_system *system) {
    arap_matrix matrix = {0};
    const arap_mesh *mesh = &body->mesh;
    *system = (arap_elastic_system){.size = mesh->count,
                                    .vertex = ARAP_NEW(int, mesh->count),
                                    .place = ARAP_NEW(int, mesh->count)};
    arap_status status = system->vertex && system->place
                             ? arap_fill_reducing_order(context, mesh->count, mesh->ring,
                                                        mesh->neighbor, system->vertex)
                             : arap_fail_memory(&context->error, "the elastic system");
    if (status) goto done;
    for (int k = 0; k < system->size; k++) system->place[system->vertex[k]] = k;
    status = assemble(context, body, hold, system, &matrix);
    if (!status) status = arap_factor_create(context, &matrix, &system->factor);
    if (!status && hold->limbs) status = respond(context, hold, system);

done:
    arap_matrix_clear(&matrix);
    if (status) arap_elastic_system_clear(system);
    return status;
}

void arap_elastic_system_clear(arap_elastic_system *system) {
    arap_free(system->vertex);
    arap_free(system->place);
    arap_factor_free(system->factor);
    arap_free(system->response);
    arap_free(system->compliance);
    *system = (arap_elastic_system){0};
}

void arap_elastic_gather(const arap_elastic_system *system, const double *b, double *columns) {
    size_t n = (size_t)system->size;
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < 3; c++) columns[c * n + k] = b[3 * (size_t)system->vertex[k] + c];
}

void arap_elastic_finish(const arap_elastic_system *system, const arap_bone_hold *hold,
                         const double *aim, double *columns, double *x, double *scratch) {
    size_t n = (size_t)system->size, limbs = (size_t)hold->limbs;
    for (size_t l = 0; l < limbs; l++)
        for (size_t c = 0; c < 3; c++) {
            double sum = 0, count = (double)(hold->start[l + 1] - hold->start[l]);
            for (size_t k = hold->start[l]; k < hold->start[l + 1]; k++)
                sum += columns[c * n + (size_t)system->place[hold->vertex[k]]];
            scratch[c * limbs + l] = aim[3 * l + c] - sum / count;
        }
    if (limbs) {
        arap_cholesky_solve(hold->limbs, system->compliance, 3, scratch);
        arap_add_product(3, hold->limbs, system->size, scratch, system->response, columns);
    }
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < 3; c++) x[3 * (size_t)system->vertex[k] + c] = columns[c * n + k];
}
