/* Old names: see old_names.h. The functions take O(1) time and need the GIL. A warning fails on
 * out-of-memory, or if the caller has turned warnings into errors. The exception is then set. */
#include "python/old_names.h"

#include <string.h>

static const struct {
    const char *old, *now;
} renamed[] = {{"truss", "bone_spring_stiffness"}, {"least_worth", "min_gain"},
               {"widenings", "expansion_rounds"},  {"least_weight", "min_weight"},
               {"least_length", "min_length"},     {"support", "pruning"},
               {"least", "min_influences"},        {"kept_sum", "prune_sum"},
               {"relative", "prune_ratio"}};

const char *arap_new_name(const char *name) {
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i].old, name)) return renamed[i].now;
    return NULL;
}

int arap_warn_old_name(const char *owner, const char *old, const char *now) {
    return PyErr_WarnFormat(PyExc_DeprecationWarning, 1, "%s: %s is now %s", owner, old, now);
}
