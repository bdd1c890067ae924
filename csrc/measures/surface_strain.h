/* Measures how much a posed surface is stretched and compressed, triangle by triangle. */
#ifndef ARAP_SURFACE_STRAIN_H
#define ARAP_SURFACE_STRAIN_H

#include "base/context.h"
#include "base/memory.h"

#include <stddef.h>

/* The triangles of a surface at rest whose strain is measured; triangles without area, or with an
 * altitude below 1e-4 of their longest edge, are excluded. */
typedef struct arap_surface {
    size_t triangle_count; /* of the caller */
    size_t count;          /* measured */
    size_t *triangle;      /* (count) index of the caller */
    int *corner;           /* (count, 3) */
    double *area;          /* (count) */
    double *length;        /* (count) length of the edge from corner 0 to corner 1 */
    double *along;         /* (count) position of corner 2 along that edge */
    double *height;        /* (count) distance of corner 2 from that edge */
    arap_arena arena;      /* of the arrays */
} arap_surface;

/* vertices (n, 3), triangles (triangle_count, 3), already checked. */
arap_status arap_surface_create(arap_context *context, const double *vertices, const int *triangles,
                                size_t triangle_count, arap_surface *surface);
void arap_surface_clear(arap_surface *surface);

/* Add the squared strain of every triangle in each of these poses, given as points in pose lanes,
 * to strain2 (count), pose by pose. */
arap_status arap_surface_add(arap_context *context, const arap_surface *surface, int poses,
                             int vertices, const double *points, double *strain2);

/* Compute roots of means of strain2 (count), which holds sums over `poses` poses; NaN if nothing is
 * measured. area: triangles are weighted by area; face: all equally; p99: 99th percentile over
 * triangles of the root mean square over poses, linear between order statistics. */
typedef struct arap_surface_summary {
    double area, face, p99;
} arap_surface_summary;
arap_status arap_surface_summarize(arap_context *context, const arap_surface *surface, int poses,
                                   const double *strain2, arap_surface_summary *out);

/* Compute the strain of the caller's triangles (triangle_count) as the root mean square over the
 * poses. Also compute the strain at its vertices (vertices) as the root of the area-weighted mean
 * over the adjacent triangles; 0 where nothing is measured. */
void arap_triangle_strain(const arap_surface *surface, int poses, const double *strain2,
                          double *out);
arap_status arap_vertex_strain(arap_context *context, const arap_surface *surface, int poses,
                               const double *strain2, int vertices, double *out);

#endif
