/* The functions and types of the module, documented in the stubs. A function that takes keywords
 * has one row here, and its texts in engine_docs.h. */
#ifndef ARAP_PYFUNCTIONS_H
#define ARAP_PYFUNCTIONS_H

#include "python/call.h"

#define ARAP_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(energy)                                                                               \
    FUNCTION(sample_poses)                                                                         \
    FUNCTION(embed)                                                                                \
    FUNCTION(prune)                                                                                \
    FUNCTION(bake)                                                                                 \
    FUNCTION(baseline_weights)                                                                     \
    FUNCTION(skin_owners)                                                                          \
    FUNCTION(posed_energy)                                                                         \
    FUNCTION(linear_skinning)                                                                      \
    FUNCTION(dual_quaternion_skinning)                                                             \
    FUNCTION(rotation_centers)                                                                     \
    FUNCTION(center_of_rotation_skinning)                                                          \
    FUNCTION(diffuse_parameters)                                                                   \
    FUNCTION(control_bones)                                                                        \
    FUNCTION(surface_strain)                                                                       \
    FUNCTION(deformation)                                                                          \
    FUNCTION(bone_directions)                                                                      \
    FUNCTION(elastic_poses)                                                                        \
    FUNCTION(mixed_elasticity)                                                                     \
    FUNCTION(nearest_points)                                                                       \
    FUNCTION(mesh_extent)                                                                          \
    FUNCTION(inspect_weights)                                                                      \
    FUNCTION(part_doubts)                                                                          \
    FUNCTION(inverse_kinematics)                                                                   \
    FUNCTION(reach_chains)                                                                         \
    FUNCTION(match_surfaces)                                                                       \
    FUNCTION(transfer_weights)                                                                     \
    FUNCTION(transfer_shapes)                                                                      \
    FUNCTION(optimize_joints)

#define ARAP_FUNCTION(name)                                                                        \
    PyObject *arap_py_##name(PyObject *module, PyObject *args, PyObject *kwargs);
ARAP_FUNCTIONS(ARAP_FUNCTION)
#undef ARAP_FUNCTION
PyObject *arap_py_forward_kinematics(PyObject *module, PyObject *args);
PyObject *arap_py_nearest_rotations(PyObject *module, PyObject *matrices);

/* The function and the flags of a PyMethodDef with keywords. */
#define ARAP_KEYWORDS(function)                                                                    \
    (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

extern const arap_signature arap_joint_solver_signature;
extern const arap_signature arap_solver_signature;

/* Create a type for the module; NULL with an exception on failure. */
PyObject *arap_make_deformation_type(PyObject *module);
PyObject *arap_make_joint_solver_type(PyObject *module);
PyObject *arap_make_solver_type(PyObject *module);

/* The internal state of a solver as a dict of arrays, for tests. */
PyObject *arap_inside_dict(const arap_solver *solver);

#endif
