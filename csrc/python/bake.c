/* The function bake of the module araplbs: see python/functions.h and the stubs. Frames are read
 * from a Python sequence one by one, with the GIL. The computation runs without the GIL. Other
 * arguments are copied. Cost and failures are those of bake/bake.h. Exceptions raised by the
 * sequence are passed on. */
#include "python/functions.h"

#include <stdio.h>
#include <string.h>

#include "bake/bake.h"
#include "python/report.h"

typedef struct frame_source {
    PyObject *sequence; /* borrowed */
    npy_intp vertices;
} frame_source;

/* Check a frame and copy it to out. Returns -1 with an exception on failure. */
static int copy_frame(const frame_source *source, int index, double *out) {
    char name[32];
    arap_arrays arrays = {0};
    arap_shape shape = {2, {-1, 3}};
    PyObject *item = PySequence_GetItem(source->sequence, index);
    if (!item) return -1;
    snprintf(name, sizeof name, "frames[%d]", index);
    const double *points = arap_doubles(&arrays, item, name, &shape);
    if (!points && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s is None: must be an array", name);
    if (points && shape.size[0] != source->vertices) {
        PyErr_Format(PyExc_ValueError,
                     "%s has %zd vertices, but the mesh has %zd: the topology differs", name,
                     shape.size[0], source->vertices);
        points = NULL;
    }
    if (points) memcpy(out, points, 3 * (size_t)source->vertices * sizeof *out);
    arap_arrays_release(&arrays);
    Py_DECREF(item);
    return points ? 0 : -1;
}

typedef struct frame {
    frame_source *source;
    int index;
    double *out;
} frame;

static int copy_asked(void *data) {
    const frame *f = data;
    return copy_frame(f->source, f->index, f->out);
}

/* Called without the GIL, on the thread that made the call. An exception is kept for that
 * thread. */
static arap_status read_frame(void *data, arap_error *error, int index, double *out) {
    if (!arap_ask_python(copy_asked, &(frame){data, index, out})) return ARAP_OK;
    arap_status status = arap_python_ends() ? ARAP_CANCELLED : ARAP_BAD_VALUE;
    return arap_fail(error, status, "frame %d cannot be read", index);
}

static int problem_from_call(arap_call *call, frame_source *source, arap_bake_problem *out) {
    arap_inputs *in = &call->in;
    *out = (arap_bake_problem){.geometry = call->geometry,
                               .transforms = in->transforms,
                               .bone_count = in->transforms ? (int)arap_input_size(in, 'm') : 0,
                               .locked_vertices = in->locked_vertices,
                               .candidates = in->candidates};
    if (!in->transforms && (in->weights || in->candidates)) {
        PyErr_Format(PyExc_ValueError, "%s needs transforms",
                     in->weights ? "weights" : "candidates");
        return -1;
    }
    if (arap_sparse_weights_from_inputs(in, &out->weights)) return -1;
    arap_shape bones = {1, {out->bone_count}};
    out->locked_bones = arap_bools(&in->arrays, in->locked_bones, "locked_bones", &bones);
    if (PyErr_Occurred()) return -1;
    if (!PySequence_Check(in->frames)) {
        PyErr_Format(PyExc_TypeError, "frames is %R: must be a sequence of arrays (n, 3)",
                     (PyObject *)Py_TYPE(in->frames));
        return -1;
    }
    Py_ssize_t count = PySequence_Size(in->frames);
    if (count < 0) return -1;
    if (count > 1000000) {
        PyErr_Format(PyExc_ValueError, "frames has %zd frames: must be at most 1000000", count);
        return -1;
    }
    if (in->transforms && count != arap_input_size(in, 'p')) {
        PyErr_Format(PyExc_ValueError, "frames has %zd frames, but transforms has %zd", count,
                     arap_input_size(in, 'p'));
        return -1;
    }
    *source = (frame_source){in->frames, out->geometry.vertex_count};
    out->frames = (arap_frames){(int)count, read_frame, source};
    return 0;
}

static PyObject *baked_dict(const arap_baked *baked) {
    npy_intp transforms[4] = {baked->frames, baked->bones, 3, 4}, centers[2] = {baked->bones, 3};
    npy_intp n = baked->vertices, iterations = baked->iterations;
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:d,s:d,s:d,s:(ii),s:i}", "weights",
                         arap_py_sparse_weights(&baked->weights), "transforms",
                         arap_new_doubles(4, transforms, baked->transforms), "centers",
                         arap_new_doubles(2, centers, baked->centers), "vertex_error",
                         arap_new_doubles(1, &n, baked->vertex_error), "history",
                         arap_new_doubles(1, &iterations, baked->history), "rms", baked->rms, "max",
                         baked->max, "size", baked->size, "worst", baked->worst_frame,
                         baked->worst_vertex, "iterations", baked->iterations);
}

PyObject *arap_py_bake(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {
        .function = "bake",
        .names = "vertices frames transforms= * triangles edges weights locked_vertices "
                 "locked_bones candidates ** progress threads",
        .tables = {&arap_bake_settings_table}};
    arap_bake_settings settings;
    void *const places[] = {&settings};
    arap_bake_problem problem;
    frame_source source;
    arap_baked baked = {0};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, places) ||
        problem_from_call(&call, &source, &problem))
        return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_bake(&call.run.context, &problem, &settings, &baked);
    ARAP_END_WORK
    if (!call.status) arap_add_result(&call, baked_dict(&baked));
    arap_baked_clear(&baked);
    return arap_close(&call);
}
