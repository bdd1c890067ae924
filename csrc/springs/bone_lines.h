/* The deforming bones as lines, and how far points are from them. */
#ifndef ARAP_BONE_LINES_H
#define ARAP_BONE_LINES_H

#include "rig/skeleton.h"

typedef struct arap_bone_line {
    int bone; /* deforming */
    const double *head;
    double along[3], length;    /* unit vector; 0 for a bone without length */
    int head_joint, tail_joint; /* another deforming bone goes on there */
} arap_bone_line;

typedef struct arap_bone_lines {
    int count;            /* one of each bone, or more: see skeleton.h */
    arap_bone_line *line; /* (count) ascending by bone */
    const int *start;     /* (bones + 1) the first line of each */
    double *lanes;        /* (7, count) heads, unit vectors, lengths once more, side by side */
} arap_bone_lines;

/* Keeps a reference to the skeleton. */
arap_status arap_bone_lines_create(arap_context *context, const arap_skeleton *skeleton,
                                   arap_bone_lines *out);
void arap_bone_lines_clear(arap_bone_lines *lines);

/* The line of the bone that is nearest to p. */
int arap_nearest_line(const arap_bone_lines *lines, int bone, const double *p);

/* Distance of p from a line, its nearest point and how far along the line that is. */
double arap_line_distance(const arap_bone_line *line, const double *p, double *place,
                          double *point);

/* Distances of p from all lines (count): the same numbers, several lines at once. */
void arap_line_distances(const arap_bone_lines *lines, const double *p, double *out);

#endif
