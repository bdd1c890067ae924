/* Sheets: see loose_parts.h.
 *
 * Let l1 >= l2 >= l3 be the variances of a part's area along its axes. The thickness of the part,
 * as a share of its width, is sqrt(l3 / l2). A part with a thickness of FLAT or more is not a
 * sheet. Below FLAT, a part counts as a sheet to a degree that rises smoothly as the part gets
 * thinner. A part whose width is 0 is a line, not a sheet.
 *
 * Takes O(vertices + parts) time and memory. Fails only on out-of-memory. */
#include "mesh/loose_parts.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/jacobi.h"

#define FLAT 0.05     /* thickness of a part, of its width, from which on it is not a sheet */
#define ROUNDING 1e-9 /* width of a line, of its length */
#define SWEEPS 8      /* sweeps of Jacobi's method, more than necessary */

/* Rises smoothly from 0 at 0 to 1 at FLAT. */
static double rise(double thickness) {
    double share = fmin(1, thickness / FLAT);
    return share * share * (3 - 2 * share);
}

static double thickness(double *k) {
    double v[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        arap_annihilate(3, k, v, 0, 1);
        arap_annihilate(3, k, v, 0, 2);
        arap_annihilate(3, k, v, 1, 2);
    }
    double min = fmin(k[0], fmin(k[4], k[8])), max = fmax(k[0], fmax(k[4], k[8]));
    double middle = k[0] + k[4] + k[8] - min - max;
    return middle > ROUNDING * max ? sqrt(fmax(min, 0) / middle) : FLAT;
}

arap_status arap_part_thickness(arap_context *context, const arap_mesh *mesh, double *thick) {
    arap_arena arena = {0};
    size_t parts = (size_t)mesh->part_count;
    double *sums = ARAP_TAKE_ZERO(&arena, 4 * parts, double),
           *products = ARAP_TAKE_ZERO(&arena, 9 * parts, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the thickness of the parts");
    if (status) goto done;
    arap_part_centers(mesh, sums);
    for (int i = 0; i < mesh->count; i++) {
        double *k = products + 9 * (size_t)mesh->part[i], from[3];
        arap_sub(mesh->v + 3 * (size_t)i, sums + 4 * mesh->part[i], from);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) k[3 * r + c] += mesh->area[i] * from[r] * from[c];
    }
    for (size_t p = 0; p < parts; p++) thick[p] = rise(thickness(products + 9 * p));

done:
    arap_arena_clear(&arena);
    return status;
}
