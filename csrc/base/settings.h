/* Settings as data. Contains the rows of settings.def, and functions that work on any struct of
 * settings. */
#ifndef ARAP_SETTINGS_H
#define ARAP_SETTINGS_H

#include "arap.h"

typedef enum arap_setting_type {
    ARAP_SETTING_INTEGER, /* int */
    ARAP_SETTING_REAL,    /* double */
    ARAP_SETTING_FLAG,    /* int, 0 or 1 */
    ARAP_SETTING_SEED,    /* uint64_t */
    ARAP_SETTING_CHOICE,  /* an enum: an index into choices */
    ARAP_SETTING_TUPLE    /* a struct of parts */
} arap_setting_type;

typedef struct arap_setting_table arap_setting_table;

typedef struct arap_setting {
    const char *name;
    arap_setting_type type;
    size_t offset; /* in the struct */
    double default_value, min, max;
    const char *const *choices; /* in the order of the enum, then NULL */
    const arap_setting_table *parts;
    const char *description;
} arap_setting;

struct arap_setting_table {
    int count;
    const arap_setting *settings;
};

extern const arap_setting_table arap_sampling_settings; /* of arap_sampling */
extern const arap_setting_table arap_pruning_settings;  /* of arap_pruning */
extern const arap_setting_table arap_common_settings;   /* of arap_settings */
extern const arap_setting_table arap_solver_settings;   /* of arap_settings, the remaining ones */

/* Set all settings of a struct to their defaults. */
void arap_settings_fill(const arap_setting_table *table, void *settings);

/* Check all settings of a struct: returns ARAP_BAD_VALUE with the name, value and range of the
 * first number that is out of range. */
arap_status arap_settings_check(arap_error *error, const arap_setting_table *table,
                                const void *settings);

#endif
