/* The tables of settings, with their defaults and range checks: see base/settings.h.
 *
 * An enum is read and written as an int of the same size. The check requires each number to be
 * inside its range, so NaN never passes. If a number is outside its range, the message names it.
 * The functions take O(settings). */
#include "base/settings.h"

#include <string.h>

#include "base/status.h"

_Static_assert(sizeof(arap_filter) == sizeof(int), "enums are as large as ints");

#define TABLE(rows) {sizeof rows / sizeof *rows, rows}

static const arap_setting sampling[] = {
#define ARAP_SETTINGS_OF arap_sampling
#define ARAP_SETTINGS_SAMPLING
#include "settings.def"
};
static const arap_setting pruning[] = {
#define ARAP_SETTINGS_OF arap_pruning
#define ARAP_SETTINGS_PRUNING
#include "settings.def"
};
static const arap_setting common[] = {
#define ARAP_SETTINGS_OF arap_settings
#define ARAP_SETTINGS_COMMON
#include "settings.def"
};
static const arap_setting solver[] = {
#define ARAP_SETTINGS_OF arap_settings
#define ARAP_SETTINGS_SOLVER
#include "settings.def"
};

const arap_setting_table arap_sampling_settings = TABLE(sampling);
const arap_setting_table arap_pruning_settings = TABLE(pruning);
const arap_setting_table arap_common_settings = TABLE(common);
const arap_setting_table arap_solver_settings = TABLE(solver);

void arap_settings_fill(const arap_setting_table *table, void *settings) {
    for (const arap_setting *s = table->settings; s < table->settings + table->count; s++) {
        void *to = (char *)settings + s->offset;
        if (s->type == ARAP_SETTING_TUPLE) {
            arap_settings_fill(s->parts, to);
        } else if (s->type == ARAP_SETTING_REAL) {
            *(double *)to = s->default_value;
        } else if (s->type == ARAP_SETTING_SEED) {
            *(uint64_t *)to = 0;
        } else {
            int value = (int)s->default_value;
            memcpy(to, &value, sizeof value);
        }
    }
}

/* group: name of the tuple that contains the settings, or NULL. */
static arap_status check(arap_error *error, const arap_setting_table *table, const void *settings,
                         const char *group) {
    for (const arap_setting *s = table->settings; s < table->settings + table->count; s++) {
        const void *from = (const char *)settings + s->offset;
        double value;
        if (s->type == ARAP_SETTING_TUPLE) {
            arap_status status = check(error, s->parts, from, s->name);
            if (status) return status;
            continue;
        } else if (s->type == ARAP_SETTING_REAL) {
            value = *(const double *)from;
        } else if (s->type == ARAP_SETTING_INTEGER) {
            value = *(const int *)from;
        } else {
            continue;
        }
        if (!(value >= s->min && value <= s->max))
            return arap_fail(error, ARAP_BAD_VALUE, "%s%s%s is %g: must be from %g to %g", s->name,
                             group ? " of " : "", group ? group : "", value, s->min, s->max);
    }
    return ARAP_OK;
}

arap_status arap_settings_check(arap_error *error, const arap_setting_table *table,
                                const void *settings) {
    return check(error, table, settings, NULL);
}
