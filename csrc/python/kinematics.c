/* The functions sample_poses, forward_kinematics, inverse_kinematics and reach_chains of the
 * module: see the stubs. Arguments are copied. Only inverse_kinematics releases the GIL, because
 * the others are short. Cost and failures are those of the functions called. */
#include "python/functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "extras/ik_methods.h"
#include "rig/chains.h"
#include "rig/poses.h"

/* A mesh that only defines units: coordinates of the skeleton are not scaled. */
static const arap_mesh unit_mesh = {.diagonal = 1};

PyObject *arap_py_sample_poses(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "sample_poses",
        .names = "bone_heads bone_tails bone_parents count * bone_roll_axes bone_deform "
                 "bone_limits bone_kinds bone_ranges bone_segments symmetry seed swing twist "
                 "reach_poses",
        .tables = {&arap_sampling_settings},
        .reads = ARAP_READ_BONES};
    arap_sampling sampling;
    void *const places[] = {&sampling};
    arap_skeleton skeleton = {0};
    arap_reflection reflection;
    arap_symmetry symmetry = {0};
    arap_reach reach = {0};
    double *joint_rotations = NULL, *local = NULL, *posed = NULL, *bends = NULL;
    int mirrored = 0;
    arap_call call;
    arap_context *context = &call.run.context;
    if (arap_open(&call, &signature, module, args, kwargs, places) ||
        arap_reflection_from_inputs(&call.in, &reflection, &mirrored))
        return arap_close(&call);
    if (call.in.count < 0) {
        PyErr_Format(PyExc_ValueError, "count is %d: must be 0 or more", call.in.count);
        return arap_close(&call);
    }
    sampling.pose_count = call.in.count;
    npy_intp sizes[4] = {sampling.pose_count, call.bones.count, 3, 4};
    npy_intp bend_sizes[3] = {sampling.pose_count, call.bones.count, ARAP_BEND};
    size_t m = (size_t)call.bones.count;
    call.status = arap_settings_check(&context->error, &arap_sampling_settings, &sampling);
    if (!call.status)
        call.status = arap_skeleton_create(context, &call.bones, &unit_mesh, &skeleton);
    if (!call.status && mirrored)
        call.status = arap_symmetry_bones(context, &reflection, &skeleton, &unit_mesh, &symmetry);
    if (!call.status) call.status = arap_reach_create(context, &skeleton, &sampling, &reach);
    if (call.status) goto done;
    joint_rotations = ARAP_NEW(double, arap_sample_size(&skeleton, &sampling));
    local = ARAP_NEW(double, 9 * m);
    posed = arap_new_result(&call, NPY_DOUBLE, 4, sizes, NULL);
    bends = arap_new_result(&call, NPY_DOUBLE, 3, bend_sizes, NULL);
    call.status = joint_rotations && local ? arap_sample_rotations(context, &skeleton, &symmetry,
                                                                   &sampling, joint_rotations)
                                           : arap_fail_memory(&context->error, "the poses");
    if (call.status || !bends) goto done;
    for (int p = 0; p < sampling.pose_count; p++, posed += 12 * m, bends += ARAP_BEND * m) {
        arap_sample_pose(&skeleton, &symmetry, &sampling, &reach, joint_rotations, p, local, bends);
        arap_forward_kinematics(&skeleton, local, bends, posed);
    }
    if (!call.bones.kinds) Py_DECREF(call.results[--call.count]); /* the bends of rigid bones */

done:
    arap_free(joint_rotations);
    arap_free(local);
    arap_reach_clear(&reach);
    arap_symmetry_clear(&symmetry);
    arap_skeleton_clear(&skeleton);
    return arap_close(&call);
}

PyObject *arap_py_forward_kinematics(PyObject *module, PyObject *args) {
    static const arap_signature signature = {.function = "forward_kinematics",
                                             .names = "bone_heads bone_tails bone_parents "
                                                      "rotations bends=",
                                             .reads = ARAP_READ_BONES};
    char *kinds = NULL;
    arap_skeleton skeleton = {0};
    arap_spines none = {0};
    arap_call call;
    arap_context *context = &call.run.context;
    if (arap_open(&call, &signature, module, args, NULL, NULL)) return arap_close(&call);
    npy_intp poses = arap_input_size(&call.in, 'p'), sizes[4] = {poses, call.bones.count, 3, 4};
    if (arap_check_finite(call.in.rotations, poses * 9 * call.bones.count, "rotations"))
        return arap_close(&call);
    size_t m = (size_t)call.bones.count;
    call.bones.kinds = kinds = ARAP_NEW(char, m);
    if (kinds)
        memset(kinds, ARAP_BONE_SPINE, m);
    else
        call.status = arap_fail_memory(&context->error, "the kinds of bones");
    if (!call.status)
        call.status = arap_skeleton_create(context, &call.bones, &unit_mesh, &skeleton);
    if (!call.status)
        call.status =
            arap_spines_take_bends(&context->error, &skeleton, 0, (int)poses, call.in.bends, &none);
    double *out = call.status ? NULL : arap_new_result(&call, NPY_DOUBLE, 4, sizes, NULL);
    for (size_t p = 0; out && p < (size_t)poses; p++)
        arap_forward_kinematics(&skeleton, call.in.rotations + 9 * m * p,
                                call.in.bends ? call.in.bends + ARAP_BEND * m * p : NULL,
                                out + 12 * m * p);
    arap_free(kinds);
    arap_skeleton_clear(&skeleton);
    return arap_close(&call);
}

/* The arrays of a chain, for free_room to release. */
typedef struct chain_room {
    int *bone; /* the root first */
    double *points, *axes;
    arap_joint_range *ranges;
} chain_room;

static void free_room(chain_room *room) {
    arap_free(room->bone);
    arap_free(room->points);
    arap_free(room->axes);
    arap_free(room->ranges);
}

/* The chain of `count` bones, 0: all, that ends with the tail of bone `effector`. */
static arap_status make_chain(arap_context *context, const arap_skeleton *s,
                              const arap_sampling *sampling, int effector, int count,
                              chain_room *room, arap_ik_chain *chain) {
    int found = 0;
    if (effector < 0 || effector >= s->count)
        return arap_fail(&context->error, ARAP_BAD_VALUE, "effector is %d, but there are %d bones",
                         effector, s->count);
    if (count < 0)
        return arap_fail(&context->error, ARAP_BAD_VALUE, "chain_count is %d: must be 0 or more",
                         count);
    for (int b = effector; b >= 0 && (!count || found < count); b = s->parents[b]) found++;
    *room = (chain_room){ARAP_NEW(int, found), ARAP_NEW(double, 3 * (found + 1)),
                         ARAP_NEW(double, 9 * found), ARAP_NEW(arap_joint_range, found)};
    if (!room->bone || !room->points || !room->axes || !room->ranges)
        return arap_fail_memory(&context->error, "inverse kinematics");
    memcpy(room->points + 3 * found, s->tails + 3 * effector, 3 * sizeof(double));
    for (int i = found - 1, b = effector; i >= 0; i--, b = s->parents[b]) {
        room->bone[i] = b;
        memcpy(room->points + 3 * i, s->heads + 3 * b, 3 * sizeof(double));
        memcpy(room->axes + 9 * i, s->axes + 9 * b, 9 * sizeof(double));
        arap_joint_range_of(s, sampling, b, room->ranges + i);
    }
    *chain = (arap_ik_chain){found, room->points, room->axes, room->ranges, 0};
    for (int i = 0; i < found; i++)
        chain->length += sqrt(arap_distance2(room->points + 3 * i, room->points + 3 * (i + 1)));
    if (chain->length > 0) return ARAP_OK;
    return arap_fail(&context->error, ARAP_BAD_VALUE, "the chain of bone %d has no length",
                     effector);
}

static int check_targets(const double *targets, npy_intp numbers) {
    for (npy_intp i = 0; i < numbers; i++) {
        if (fabs(targets[i]) <= ARAP_FARTHEST) continue;
        char text[32];
        snprintf(text, sizeof text, "%g", targets[i]);
        PyErr_Format(PyExc_ValueError, "targets[%zd, %zd] is %s: %s", i / 3, i % 3, text,
                     isfinite(targets[i]) ? "too far away" : "not finite");
        return -1;
    }
    return 0;
}

PyObject *arap_py_inverse_kinematics(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "inverse_kinematics",
        .names = "bone_heads bone_tails bone_parents effector targets * chain_count bone_roll_axes "
                 "bone_limits method tolerance iterations swing twist",
        .tables = {&arap_ik_settings_table, &arap_sampling_settings},
        .reads = ARAP_READ_BONES};
    arap_ik_settings settings;
    arap_sampling sampling;
    void *const places[] = {&settings, &sampling};
    arap_skeleton skeleton = {0};
    arap_ik_work work = {0};
    arap_ik_chain chain;
    chain_room room = {0};
    arap_call call;
    arap_context *context = &call.run.context;
    if (arap_open(&call, &signature, module, args, kwargs, places)) return arap_close(&call);
    npy_intp count = arap_input_size(&call.in, 'k'), sizes[4] = {count, call.bones.count, 3, 3};
    if (check_targets(call.in.targets, 3 * count)) return arap_close(&call);
    call.status = arap_settings_check(&context->error, &arap_ik_settings_table, &settings);
    if (!call.status)
        call.status = arap_settings_check(&context->error, &arap_sampling_settings, &sampling);
    if (!call.status)
        call.status = arap_skeleton_create(context, &call.bones, &unit_mesh, &skeleton);
    if (!call.status)
        call.status = make_chain(context, &skeleton, &sampling, call.in.effector,
                                 call.in.chain_count, &room, &chain);
    if (!call.status) call.status = arap_ik_work_create(context, chain.count, &work);
    if (call.status) goto done;
    double *pose = arap_new_result(&call, NPY_DOUBLE, 4, sizes, NULL);
    double *error = arap_new_result(&call, NPY_DOUBLE, 1, &count, NULL);
    int *used = arap_new_result(&call, NPY_INT, 1, &count, NULL);
    if (!used) goto done;
    size_t stride = 9 * (size_t)call.bones.count;
    ARAP_BEGIN_WORK
    for (npy_intp k = 0; k < count; k++, pose += stride) {
        for (size_t i = 0; i < stride; i++) pose[i] = i % 9 % 4 == 0;
        memset(work.joint_rotations, 0, 3 * (size_t)chain.count * sizeof(double));
        error[k] = arap_ik_solve(&chain, arap_ik_steps[settings.method], &settings,
                                 call.in.targets + 3 * k, &work, used + k);
        for (int i = 0; i < chain.count; i++)
            arap_turn_to_rotation(chain.axes + 9 * i, work.joint_rotations + 3 * i,
                                  pose + 9 * room.bone[i]);
    }
    ARAP_END_WORK

done:
    arap_ik_work_clear(&work);
    free_room(&room);
    arap_skeleton_clear(&skeleton);
    return arap_close(&call);
}

PyObject *arap_py_reach_chains(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "reach_chains",
                                             .names =
                                                 "bone_heads bone_tails bone_parents * bone_deform",
                                             .reads = ARAP_READ_BONES};
    arap_skeleton skeleton = {0};
    arap_chains chains = {0};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    call.status = arap_skeleton_create(&call.run.context, &call.bones, &unit_mesh, &skeleton);
    if (!call.status) call.status = arap_chains_find(&call.run.context, &skeleton, &chains);
    PyObject *list = call.status ? NULL : PyList_New(chains.count);
    for (int c = 0; list && c < chains.count; c++) {
        npy_intp size = chains.start[c + 1] - chains.start[c], three = 3;
        PyObject *pair =
            Py_BuildValue("(NN)", arap_new_ints(1, &size, chains.bone + chains.start[c]),
                          arap_new_doubles(1, &three, chains.effector + 3 * c));
        if (!pair || PyList_SetItem(list, c, pair)) Py_CLEAR(list);
    }
    arap_add_result(&call, list);
    arap_chains_clear(&chains);
    arap_skeleton_clear(&skeleton);
    return arap_close(&call);
}
