/* Weight constraints: penalty rows stiffness (w - target)^2 (paper section 4.3). */
#ifndef ARAP_CONSTRAINTS_H
#define ARAP_CONSTRAINTS_H

#include "initial/visibility.h"
#include "weights/influences.h"

/* Penalties of all influences. Rows for the same influence are added. */
typedef struct arap_penalties {
    double *stiffness; /* (entries) */
    double *aim;       /* (entries) stiffness * target */
} arap_penalties;

arap_status arap_penalties_create(arap_context *context, const arap_influences *influences,
                                  arap_penalties *penalties);
void arap_penalties_clear(arap_penalties *penalties);

/* A row w(vertex, bone) = target with stiffness strength Lambda_i. */
typedef struct arap_constraint {
    int vertex, bone;
    double target, strength;
    int released; /* disabled */
} arap_constraint;

typedef struct arap_constraint_list {
    int count, capacity;
    arap_constraint *rows;
} arap_constraint_list;

arap_status arap_append_constraint(arap_context *context, arap_constraint_list *list,
                                   arap_constraint row);
void arap_constraint_list_clear(arap_constraint_list *list);

/* Rows with target 1 that attach bones. On a surface, they are at vertices that see the bone as
 * their nearest one and where `heat` (all bones, before pruning) has a strict local maximum above
 * 0.5. In a volume, they are at all vertices on the bone itself. */
arap_status arap_find_attachments(arap_context *context, const arap_mesh *mesh,
                                  const arap_visibility *visibility, const arap_influences *heat,
                                  double strength, arap_constraint_list *rows);

/* Rows that keep a bone useful. Among the vertices that see the bone as their nearest one, those
 * whose heat weight is within 5 % of the largest such weight keep their weight. Without such rows,
 * the energy alone would let bones fade, because a mesh that follows fewer bones is more rigid. A
 * root outside the mesh gets no rows if other bones are inside, because such a root is a control
 * bone, for example on the floor.
 */
arap_status arap_find_peaks(arap_context *context, const arap_mesh *mesh,
                            const arap_visibility *visibility, const arap_influences *heat,
                            const arap_skeleton *skeleton, double strength,
                            arap_constraint_list *rows);

/* Add rows to the penalties if the influence patterns still contain their bones. */
void arap_add_constraints(const arap_mesh *mesh, const arap_influences *influences,
                          const arap_constraint_list *rows, double unit, arap_penalties *penalties);

/* Release the attachments that hold a vertex against its neighbors, whose mean weight of the bone
 * is at most 0.5, and remove them from the penalties. Among the rows of a bone, those with the
 * largest such mean stay. Returns the number of released rows. The cost is O(rows x ring), plus the
 * same for each such row. */
int arap_drop_attachments(const arap_mesh *mesh, const arap_influences *influences, double unit,
                          arap_constraint *rows, int count, arap_penalties *penalties);

/* The energy of the first `count` rows at the current weights, without its constant part and
 * without rows for entries where `except` is set. */
double arap_constraints_cost(const arap_mesh *mesh, const arap_influences *influences,
                             const arap_constraint_list *rows, int count, double unit,
                             const char *except);

/* Add rows with target 0 and c_i where a neighbor is not influenced by the bone (zero gradient at
 * the border of its influence). Returns the number of rows. */
int arap_add_neumann(const arap_mesh *mesh, const arap_influences *influences, double strength,
                     arap_penalties *penalties);

/* Rows with target 0 and c_i that keep weights from turning negative; `active` (entries) marks the
 * entries with such a row. Both functions return the number of changes. The first function adds
 * rows for weights that are negative and not yet active: all of them, or the local minima below
 * -1e-3 (the paper's positivity rows). The second function releases weights that the descent
 * direction (entries), the negative gradient of the energy, would make positive. */
int arap_activate_bounds(const arap_mesh *mesh, const arap_influences *influences, double strength,
                         int minima, char *active, arap_penalties *penalties);
int arap_release_bounds(const arap_mesh *mesh, const arap_influences *influences,
                        const double *descent, double strength, char *active,
                        arap_penalties *penalties);

/* A weak pull of every weight toward its current value, share * Lambda_i. The pull determines
 * weights that the energy leaves undetermined (parts without edges to others, bones that always
 * move in the same way). */
void arap_add_damping(const arap_mesh *mesh, const arap_influences *influences, double share,
                      arap_penalties *penalties);

#endif
