/* Random forests for csrc/base/forest.c: is the work of each node done once, after that of all
 * nodes below it, and does every run end? The work itself is empty; threads, locks and waiting are
 * the real ones.
 *
 * usage: forest_model FIRST COUNT    forests FIRST to FIRST + COUNT - 1, on 1 to 8 threads
 * The result is 0, or 1 with a line about the forest that broke the promise. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/forest.h"

#define MOST 200
#define EVENTS                                                                                     \
    8 /* every so many-th forest each: a run that is stopped, and two that are spoiled             \
       */

typedef struct model {
    int count, parent[MOST], times[MOST];
    atomic_int done[MOST], early;
    double cost[MOST], part;
    unsigned long long state;
    int stop_at; /* a node, or -1 */
    int lingers; /* at every so many-th node, 0: never */
} model;

static unsigned draw(model *m, unsigned below) {
    m->state = m->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((m->state >> 33) % below);
}

/* A subtree in postorder of at most `room` nodes from `first` on. Returns its root. */
static int grow(model *m, int first, int room, int style) {
    int end = first, children[MOST], many = 0;
    while (end - first < room - 1 && (style == 2 || draw(m, 4))) {
        int left = room - 1 - (end - first);
        int size = style == 0 ? left : style == 1 ? 1 : 1 + (int)draw(m, (unsigned)left);
        end = children[many++] = grow(m, end, size, style);
        end++;
    }
    for (int k = 0; k < many; k++) m->parent[children[k]] = end;
    m->parent[end] = -1;
    return end;
}

static void make(model *m, unsigned long long seed) {
    m->state = seed * 0x9e3779b97f4a7c15ULL + 1;
    int room = 1 + (int)draw(m, draw(m, 3) ? 30 : MOST);
    m->count = 0;
    while (m->count < room) {
        int most = 1 + (int)draw(m, (unsigned)(room - m->count));
        m->count = grow(m, m->count, most, (int)draw(m, 4)) + 1;
    }
    double total = 0;
    for (int s = 0; s < m->count; s++) {
        total += m->cost[s] = draw(m, 8) ? draw(m, 100) : draw(m, 100000); /* few are large */
        m->times[s] = 0;
        atomic_init(&m->done[s], 0);
    }
    atomic_init(&m->early, 0);
    m->part = draw(m, 8) ? total / (1 + draw(m, 100)) : 0;
    m->stop_at = seed % EVENTS == 1 ? (int)draw(m, (unsigned)m->count) : -1;
    m->lingers = draw(m, 16) ? 0 : 1 + (int)draw(m, 9);
}

static arap_status work(void *data, int node, int worker) {
    model *m = data;
    for (int s = 0; s < node; s++)
        if (m->parent[s] == node && !atomic_load(&m->done[s])) atomic_store(&m->early, 1);
    m->times[node]++; /* two workers at one node are a race, too */
    if (m->lingers && node % m->lingers == 0) sched_yield();
    atomic_store(&m->done[node], 1);
    return node == m->stop_at && worker == 0 ? ARAP_CANCELLED : ARAP_OK;
}

/* A run that waits for too much, or for too little, does not wait: it ends with a fault. */
static arap_status run_spoiled(arap_context *context, arap_forest *forest, model *m, int more) {
    int t = (int)draw(m, (unsigned)forest->task_count);
    forest->waits[t] += more ? 1 : -1;
    arap_status status = arap_forest_run(context, forest, work, m);
    forest->waits[t] += more ? -1 : 1;
    return status;
}

static const char *check(unsigned long long seed, arap_thread_pool *pool, model *m) {
    arap_context context = {.threads = 1 + (int)(seed / EVENTS % 8), .pool = pool};
    arap_forest forest;
    const char *wrong = NULL;
    make(m, seed);
    if (arap_forest_divide(&context, m->count, m->parent, m->cost, m->part, &forest))
        return "it is not divided";
    if (seed % EVENTS == 2 || seed % EVENTS == 3) {
        if (run_spoiled(&context, &forest, m, seed % EVENTS == 2) != ARAP_FAULT)
            wrong = "a fault was not found";
    } else {
        arap_status status = arap_forest_run(&context, &forest, work, m);
        int may_stop = m->stop_at >= 0 && status == ARAP_CANCELLED;
        if (status && !may_stop) wrong = status == ARAP_FAULT ? "a fault" : "it failed";
        for (int s = 0; s < m->count && !wrong; s++)
            if (m->times[s] > 1 || (!status && !m->times[s])) wrong = "not once";
        if (atomic_load(&m->early)) wrong = "a parent before its child";
    }
    arap_forest_clear(&forest);
    return wrong;
}

int main(int argc, char **argv) {
    unsigned long long first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned long long count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    static model m;
    static arap_thread_pool pool;
    const char *wrong = NULL;
    arap_thread_pool_begin(&pool);
    for (unsigned long long seed = first; seed < first + count && !wrong; seed++) {
        wrong = check(seed, &pool, &m);
        if (wrong) printf("forest %llu: %s\n", seed, wrong);
    }
    arap_thread_pool_end(&pool);
    if (!wrong) printf("%llu forests\n", count);
    return wrong != NULL;
}
