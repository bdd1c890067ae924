/* The functions inverse_kinematics and reach_chains of the module: see python/functions.h. */
#include "python/functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "extras/ik_methods.h"
#include "python/error.h"
#include "python/input.h"
#include "rig/chains.h"

/* A mesh that only defines units: coordinates of the skeleton are not scaled. */
static const arap_mesh unit_mesh = {.diagonal = 1};

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
        .tables = {&arap_ik_settings_table, &arap_sampling_settings}};
    PyObject *result = NULL, *rotations = NULL, *errors = NULL, *counts = NULL;
    arap_ik_settings settings;
    arap_sampling sampling;
    void *const places[] = {&settings, &sampling};
    arap_inputs in;
    arap_bones bones;
    arap_skeleton skeleton = {0};
    arap_ik_work work = {0};
    arap_ik_chain chain;
    chain_room room = {0};
    arap_py_context run;
    arap_settings_fill(&arap_ik_settings_table, &settings);
    arap_settings_fill(&arap_sampling_settings, &sampling);
    arap_inputs_init(&in);
    arap_py_context_init(&run, NULL, 1);
    if (arap_parse(&signature, args, kwargs, &in, places) || arap_bones_from_inputs(&in, &bones))
        goto done;
    npy_intp count = arap_input_size(&in, 'k');
    if (check_targets(in.targets, 3 * count)) goto done;
    if (arap_settings_check(&run.context.error, &arap_ik_settings_table, &settings) ||
        arap_settings_check(&run.context.error, &arap_sampling_settings, &sampling) ||
        arap_skeleton_create(&run.context, &bones, &unit_mesh, &skeleton) ||
        make_chain(&run.context, &skeleton, &sampling, in.effector, in.chain_count, &room,
                   &chain) ||
        arap_ik_work_create(&run.context, chain.count, &work)) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    npy_intp sizes[4] = {count, bones.count, 3, 3};
    rotations = arap_new_doubles(4, sizes, NULL);
    errors = rotations ? arap_new_doubles(1, &count, NULL) : NULL;
    counts = errors ? arap_new_ints(1, &count, NULL) : NULL;
    if (!counts) goto done;
    double *out = PyArray_DATA((PyArrayObject *)rotations);
    double *error = PyArray_DATA((PyArrayObject *)errors);
    int *used = PyArray_DATA((PyArrayObject *)counts);
    size_t stride = 9 * (size_t)bones.count;
    ARAP_BEGIN_WORK
    for (npy_intp k = 0; k < count; k++) {
        double *pose = out + stride * (size_t)k;
        for (size_t i = 0; i < stride; i++) pose[i] = i % 9 % 4 == 0;
        memset(work.joint_rotations, 0, 3 * (size_t)chain.count * sizeof(double));
        error[k] = arap_ik_solve(&chain, arap_ik_steps[settings.method], &settings,
                                 in.targets + 3 * k, &work, used + k);
        for (int i = 0; i < chain.count; i++)
            arap_turn_to_rotation(chain.axes + 9 * i, work.joint_rotations + 3 * i,
                                  pose + 9 * room.bone[i]);
    }
    ARAP_END_WORK
    result = Py_BuildValue("(OOO)", rotations, errors, counts);

done:
    Py_XDECREF(rotations);
    Py_XDECREF(errors);
    Py_XDECREF(counts);
    arap_ik_work_clear(&work);
    free_room(&room);
    arap_skeleton_clear(&skeleton);
    arap_inputs_release(&in);
    return result;
}

PyObject *arap_py_reach_chains(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "reach_chains", .names = "bone_heads bone_tails bone_parents * bone_deform"};
    PyObject *result = NULL;
    arap_inputs in;
    arap_bones bones;
    arap_skeleton skeleton = {0};
    arap_chains chains = {0};
    arap_py_context run;
    arap_inputs_init(&in);
    arap_py_context_init(&run, NULL, 1);
    if (arap_parse(&signature, args, kwargs, &in, NULL) || arap_bones_from_inputs(&in, &bones))
        goto done;
    if (arap_skeleton_create(&run.context, &bones, &unit_mesh, &skeleton) ||
        arap_chains_find(&run.context, &skeleton, &chains)) {
        arap_raise(PyModule_GetState(module), &run.context);
        goto done;
    }
    result = PyList_New(chains.count);
    for (int c = 0; c < chains.count && result; c++) {
        npy_intp size = chains.start[c + 1] - chains.start[c], three = 3;
        PyObject *bone = arap_new_ints(1, &size, chains.bone + chains.start[c]);
        PyObject *place = bone ? arap_new_doubles(1, &three, chains.effector + 3 * c) : NULL;
        PyObject *pair = place ? PyTuple_Pack(2, bone, place) : NULL;
        Py_XDECREF(bone);
        Py_XDECREF(place);
        if (!pair || PyList_SetItem(result, c, pair)) Py_CLEAR(result);
    }

done:
    arap_chains_clear(&chains);
    arap_skeleton_clear(&skeleton);
    arap_inputs_release(&in);
    return result;
}
