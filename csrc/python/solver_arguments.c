/* The keyword arguments of a Solver as settings: see solver_arguments.h. Ranges are checked by
 * arap_solver_create. */
#include "python/solver_arguments.h"

#include <string.h>

#include "python/input.h"

static int choose(const char *value, const char *name, const char *const *choices, int *out) {
    for (int i = 0; choices[i]; i++)
        if (!strcmp(value, choices[i])) {
            *out = i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "%s is '%s': no such choice", name, value);
    return -1;
}

int arap_parse_solver(PyObject *args, PyObject *kwargs, arap_solver_arguments *a, arap_settings *s,
                      int *threads) {
    static char *names[] = {"vertices",
                            "triangles",
                            "bone_heads",
                            "bone_tails",
                            "bone_parents",
                            "edges",
                            "tets",
                            "bone_roll_axes",
                            "bone_deform",
                            "bone_limits",
                            "bone_kinds",
                            "bone_ranges",
                            "bone_segments",
                            "bone_stretch",
                            "poses",
                            "bends",
                            "segment_poses",
                            "parameters",
                            "weights",
                            "start_from_weights",
                            "locked_vertices",
                            "locked_bones",
                            "vertex_sets",
                            "constraints",
                            "influences",
                            "released",
                            "mirror",
                            "progress",
                            "threads",
                            "precision",
                            "pose_count",
                            "seed",
                            "swing",
                            "twist",
                            "max_influences",
                            "widenings",
                            "least_weight",
                            "iterations",
                            "tolerance",
                            "acceleration",
                            "coarsen",
                            "rotation_clusters",
                            "heat_floor",
                            "support",
                            "link_parts",
                            "hold",
                            "attach",
                            "neumann",
                            "positivity",
                            "filter",
                            "constraint_strength",
                            "harmonic",
                            "damping",
                            "initial",
                            "edge_power",
                            "truss",
                            "least_worth",
                            NULL};
    static const char *const precisions[] = {"double", "single", NULL};
    static const char *const positivities[] = {"clip", "penalty", "none", NULL};
    static const char *const filters[] = {"none", "all", "extrema", NULL};
    static const char *const initials[] = {"heat", "bbw", NULL};
    int choice;
    arap_int_argument threads_given = {"threads", *threads},
                      count = {"pose_count", s->sampling.count},
                      most = {"max_influences", s->max_influences},
                      widenings = {"widenings", s->widenings},
                      iterations = {"iterations", s->iterations},
                      acceleration = {"acceleration", s->acceleration},
                      coarsen = {"coarsen", s->coarsen};
    *a = (arap_solver_arguments){
        .precision = "single", .positivity = "clip", .filter = "none", .initial = "heat"};
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "OOOOO|$OOOOOOOOOOOOOOpOOOOOOOOO&sO&O&ddO&O&dO&dO&O&ddOpdppssdddsddd:Solver",
            names, &a->vertices, &a->triangles, &a->heads, &a->tails, &a->parents, &a->edges,
            &a->tets, &a->roll_axes, &a->deform, &a->limits, &a->kinds, &a->ranges, &a->segments,
            &a->stretch, &a->poses, &a->bends, &a->segment_poses, &a->parameters, &a->weights,
            &a->start_from_weights, &a->locked_vertices, &a->locked_bones, &a->vertex_sets,
            &a->constraints, &a->influences, &a->released, &a->mirror, &a->progress, arap_read_int,
            &threads_given, &a->precision, arap_read_int, &count, arap_read_seed, &a->seed,
            &s->sampling.swing, &s->sampling.twist, arap_read_int, &most, arap_read_int, &widenings,
            &s->least_weight, arap_read_int, &iterations, &s->tolerance, arap_read_int,
            &acceleration, arap_read_int, &coarsen, &s->rotation_clusters, &s->heat_floor,
            &a->support, &s->link_parts, &s->hold, &s->attach, &s->neumann, &a->positivity,
            &a->filter, &s->strength, &s->harmonic, &s->damping, &a->initial,
            &s->edge_power, &s->truss, &s->least_worth))
        return -1;
    *threads = threads_given.value;
    s->sampling.count = count.value;
    s->max_influences = most.value;
    s->widenings = widenings.value;
    s->iterations = iterations.value;
    s->acceleration = acceleration.value;
    s->coarsen = coarsen.value;
    s->sampling.seed = a->seed;
    if (choose(a->precision, "precision", precisions, &choice)) return -1;
    s->single_precision = choice;
    if (choose(a->positivity, "positivity", positivities, &choice)) return -1;
    s->positivity = (arap_positivity)choice;
    if (choose(a->filter, "filter", filters, &choice)) return -1;
    s->filter = (arap_filter)choice;
    if (choose(a->initial, "initial", initials, &choice)) return -1;
    s->initial = (arap_initial)choice;
    if (a->support && a->support != Py_None &&
        !(PyTuple_Check(a->support) &&
          PyArg_ParseTuple(a->support, "idd", &s->pruning.least, &s->pruning.kept_sum,
                           &s->pruning.relative))) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "support is %R, expected (least, kept_sum, relative)",
                     a->support);
        return -1;
    }
    return 0;
}

int arap_parse_locks(arap_arrays *arrays, const arap_solver_arguments *a, arap_problem *problem) {
    int several = a->vertex_sets && a->vertex_sets != Py_None;
    npy_intp m = problem->bones.count;
    arap_shape per_vertex = {1, {problem->geometry.vertex_count}}, bones = {1, {m}},
               per_set = {2, {-1, m}}, *shape = several ? &per_set : &bones;
    problem->locked_vertices =
        arap_bools(arrays, a->locked_vertices, "locked_vertices", &per_vertex);
    if (PyErr_Occurred()) return -1;
    problem->vertex_set = arap_ints(arrays, a->vertex_sets, "vertex_sets", &per_vertex);
    if (PyErr_Occurred()) return -1;
    problem->locked_bones = arap_bools(arrays, a->locked_bones, "locked_bones", shape);
    if (PyErr_Occurred()) return -1;
    if (several && !problem->locked_bones) {
        PyErr_SetString(PyExc_ValueError, "vertex_sets needs locked_bones of shape (sets, bones)");
        return -1;
    }
    if (several && !per_set.size[0]) {
        PyErr_SetString(PyExc_ValueError,
                        "locked_bones has no rows: vertex_sets needs at least one");
        return -1;
    }
    problem->set_count = several ? (int)per_set.size[0] : 1;
    return 0;
}
