/* The functions and types of the module, documented in the stubs. */
#ifndef ARAP_PYFUNCTIONS_H
#define ARAP_PYFUNCTIONS_H

#include "python/arguments.h"
#include "python/array.h"
#include "python/error.h"

PyObject *arap_py_energy(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_sample_poses(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_forward_kinematics(PyObject *module, PyObject *args);
PyObject *arap_py_nearest_rotations(PyObject *module, PyObject *matrices);
PyObject *arap_py_embed(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_prune(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_bake(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_baseline_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_skin_owners(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_posed_energy(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_linear_skinning(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_dual_quaternion_skinning(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_rotation_centers(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_center_of_rotation_skinning(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_diffuse_parameters(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_control_bones(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_surface_strain(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_deformation(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_bone_directions(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_elastic_poses(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_mixed_elasticity(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_nearest_points(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_mesh_extent(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_inspect_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_part_doubts(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_inverse_kinematics(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_reach_chains(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_match_surfaces(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_transfer_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_transfer_shapes(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *arap_py_optimize_joints(PyObject *module, PyObject *args, PyObject *kwargs);

extern const arap_signature arap_joint_solver_signature;
extern const arap_signature arap_solver_signature;

/* Create a type for the module; NULL with an exception on failure. */
PyObject *arap_make_deformation_type(PyObject *module);
PyObject *arap_make_joint_solver_type(PyObject *module);
PyObject *arap_make_solver_type(PyObject *module);

/* The internal state of a solver as a dict of arrays, for tests. */
PyObject *arap_inside_dict(const arap_solver *solver);

#endif
