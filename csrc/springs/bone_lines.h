/* Represents deforming bones as lines, and computes the distances of points from them. */
#ifndef ARAP_BONE_LINES_H
#define ARAP_BONE_LINES_H

#include "rig/skeleton.h"

typedef struct arap_bone_line {
    int bone; /* deforming */
    const double *head;
    double along[3], length;    /* unit vector; 0 for a bone without length */
    int head_joint, tail_joint; /* another deforming bone continues there */
} arap_bone_line;

typedef struct arap_bone_lines {
    int count;            /* one or more per bone: see skeleton.h */
    arap_bone_line *line; /* (count) in ascending order of bones */
    const int *start;     /* (bones + 1) the first line of each */
    double *lanes;        /* (7, count) copies of heads, unit vectors and lengths, side by side */
} arap_bone_lines;

/* Keeps a reference to the skeleton. */
arap_status arap_bone_lines_create(arap_context *context, const arap_skeleton *skeleton,
                                   arap_bone_lines *out);
void arap_bone_lines_clear(arap_bone_lines *lines);

/* The line of the bone nearest to p. */
int arap_nearest_line(const arap_bone_lines *lines, int bone, const double *p);

/* Distance of p from a line, the nearest point on it, and the position of that point along the
 * line. */
double arap_line_distance(const arap_bone_line *line, const double *p, double *place,
                          double *point);

/* Distances of p from all lines (count), with the same values, computed for several lines at
 * once. */
void arap_line_distances(const arap_bone_lines *lines, const double *p, double *out);

#endif
