/* The mesh of a problem: welded, centered, scaled to a bounding box diagonal of 1, with the
 * one-rings and ARAP weights of the energy. */
#ifndef ARAP_MESH_H
#define ARAP_MESH_H

#include "arap.h"
#include "base/context.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

/* What an edge belongs to. An edge of several kinds gets the lowest one. */
enum arap_edge_kind {
    ARAP_EDGE_FACE,
    ARAP_EDGE_WIRE,      /* loose or drawn */
    ARAP_EDGE_LAYER,     /* a link between parts that lie on each other, such as clothes */
    ARAP_EDGE_LINK,      /* a link between a loose part and the surface on which it sits */
    ARAP_EDGE_COLLAPSED, /* only of faces without area and tets without volume */
    ARAP_EDGE_KINDS
};

/* A spring: an edge from a vertex to an interior point that a bone carries, see bone_springs.h. */
typedef struct arap_spring {
    int bone;
    int column[2]; /* of the poses, that move the point, and their shares; bendy.h */
    char whole; /* the part of the vertex surrounds no bone, so the whole part is attached to this
                   bone */
    char released; /* the user has released it */
    double share[2];
    double point[3];
    double strength, held; /* in the unit of a_ik, and its remaining share */
    double weight;         /* the effective strength */
} arap_spring;

typedef struct arap_mesh {
    int input_count;  /* vertices of the caller */
    int *weld;        /* (input_count) caller's vertex -> vertex */
    double center[3]; /* center of the bounding box, caller's units */
    double diagonal;  /* bounding box diagonal, caller's units; 1 for a point; center and
                         diagonal ignore distant vertices, see extent.h */
    double size;      /* square root of twice the area of the main surface, in units of v;
                       * about the diagonal for a body, but unaffected by rotations */
    int count;        /* vertices */
    char *main;       /* (count) whether a vertex is within the extent, and in a face, edge or
                         tet if any vertex is: a distant object does not count */
    int main_count;
    int far_count;          /* how many of these are far away and in no face, edge or tet */
    int *first;             /* (count) lowest caller's vertex welded into this one */
    int *next;              /* (input_count) next caller's vertex welded into the same vertex, or
                               -1 */
    double *v;              /* (count, 3) (caller's - center) / diagonal */
    size_t tet_count;       /* tets with four different vertices */
    int *tets;              /* (tet_count, 4) */
    size_t triangle_count;  /* triangles with three different vertices: the surface of the tets,
                               then those of no tet */
    int *triangles;         /* (triangle_count, 3) */
    size_t collapsed_count; /* the caller's triangles that had an area before welding but not after
                               it */
    size_t surface_count;   /* how many of them form the surface of the tets, which has no weight */
    double thickness;       /* factor that relates areas and lengths to volumes, see tets.c */
    size_t wire_count;      /* edges that belong to no face, then links between parts */
    size_t link_count;      /* how many of them are links */
    size_t layer_count;     /* how many of these, at the end, are between layers */
    int *wires;             /* (wire_count, 2) */
    int part_count;         /* components connected by faces and the caller's edges */
    int *part;              /* (count) */
    int face_part_count;    /* parts with at least one face or tet of non-zero size */

    /* One-rings, created by arap_mesh_connect: row i holds the neighbors of vertex i in ascending
     * order. */
    size_t *ring;        /* (count + 1) */
    int *neighbor;       /* (ring[count]) */
    uint32_t *reverse;   /* (ring[count]) position of i in the row of neighbor[e] */
    double *edge_weight; /* (ring[count]) a_ik = Lambda_i lambda_ik, directed, docs/energy.md 1 */
    double *edge_weight_sym; /* (ring[count]) a_ik + a_ki */
    char *kind;              /* (ring[count]) enum arap_edge_kind */
    double *area; /* (count) Lambda_i, barycentric cell area (for tets: volume); small for
                     wire vertices */
    size_t *
        spring_start; /* (count + 1) first spring of each vertex; NULL: there are no bone springs */
    arap_spring *spring;
    int largest_ring; /* maximum number of neighbors of a vertex */
    double unit; /* edge weights are areas times (unit / length)^2, see rings.c; 0: the paper's */
    double rest_energy; /* sum a_ik |e_ik|^2, including springs: the unit of the energy for one
                           pose */
    arap_arena arena;   /* of these arrays */
} arap_mesh;

/* Vertices closer than this share of the diagonal are merged. */
#define ARAP_WELD_TOLERANCE 1e-6

/* Coordinates are smaller than this multiple of the diagonal, because fourth powers of larger
 * numbers overflow. */
#define ARAP_FARTHEST 1e75

/* Check that coordinates are finite and indices are in range. The error names the first one that is
 * not. */
arap_status arap_check_geometry(arap_error *error, const arap_geometry *geometry);

/* Check, weld (unless the tolerance is negative), center and scale the mesh, and find its parts.
 * bones or NULL: they choose the main object, see extent.h. Errors name the first bad index or
 * coordinate. */
arap_status arap_mesh_create(arap_context *context, const arap_geometry *geometry,
                             const arap_bones *bones, double weld_tolerance, arap_mesh *mesh);

void arap_mesh_clear(arap_mesh *mesh);

/* Whether directed edge `e` is a link between parts. */
static inline int arap_mesh_is_link(const arap_mesh *mesh, size_t e) {
    return mesh->kind[e] == ARAP_EDGE_LINK || mesh->kind[e] == ARAP_EDGE_LAYER;
}

/* e_ik = v_k - v_i of directed edge `e` of vertex i. */
static inline void arap_mesh_edge(const arap_mesh *mesh, int i, size_t e, double *out) {
    const double *a = mesh->v + 3 * (size_t)i, *b = mesh->v + 3 * (size_t)mesh->neighbor[e];
    for (int c = 0; c < 3; c++) out[c] = b[c] - a[c];
}

/* The directed edge from vertex `from` to its neighbor `to`. */
static inline size_t arap_mesh_find_edge(const arap_mesh *mesh, int from, int to) {
    size_t lo = mesh->ring[from], hi = mesh->ring[from + 1];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (mesh->neighbor[mid] < to)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The springs of vertex i: *first is the first one, and the number of springs is returned. */
static inline int arap_mesh_springs(const arap_mesh *mesh, int i, const arap_spring **first) {
    *first = mesh->spring_start ? mesh->spring + mesh->spring_start[i] : NULL;
    return mesh->spring_start ? (int)(mesh->spring_start[i + 1] - mesh->spring_start[i]) : 0;
}

/* Sum of the spring weights at vertex i and, unless NULL, their rest energy in one pose. */
double arap_mesh_tie(const arap_mesh *mesh, int i, double *rest);

/* Normal of triangle t, with a length of twice its area; and normals of all vertices (count, 3),
 * the sums of the normals of their triangles. */
void arap_triangle_normal(const arap_mesh *mesh, size_t t, double *normal);
void arap_vertex_normals(const arap_mesh *mesh, double *normals);

/* Compute the area-weighted center and the area of every part. centers: (parts, 4), initially 0 */
void arap_part_centers(const arap_mesh *mesh, double *centers);

/* Separates closed solids of a mesh whose corners coincide (see solids.c): refines a weld that was
 * based on positions alone: `set` (input_count) gets disjoint sets (base/sets.h) of the caller's
 * vertices that form one vertex, and *apart becomes 1 if some coincident vertices remain separate.
 * Reads weld, first, next and count. points: (input_count, 3). Fails on out-of-memory. */
arap_status arap_solids_part(arap_context *context, const arap_geometry *geometry,
                             const double *points, const arap_mesh *mesh, int *set, int *apart);

#endif
