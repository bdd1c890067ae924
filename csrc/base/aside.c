/* Work beside other work: see aside.h. A thread costs about 20 us. Cannot fail but as the work
 * does: without a thread the caller does it. */
#include "base/aside.h"

#define LEAST 2000 /* ordered or analyzed in some 100 us */

static void *run(void *argument) {
    arap_aside *aside = argument;
    aside->status = aside->work(&aside->context, aside->data);
    return NULL;
}

void arap_aside_begin(const arap_context *context, int size, arap_aside_fn work, void *data,
                      arap_aside *out) {
    *out = (arap_aside){
        .work = work, .data = data, .context = {.threads = 1, .deaf = 2}, .is_under_way = 1};
    out->has_thread =
        context->threads > 1 && size >= LEAST && pthread_create(&out->thread, NULL, run, out) == 0;
    if (!out->has_thread) run(out);
}

arap_status arap_aside_end(arap_context *context, arap_aside *aside) {
    if (!aside->is_under_way) return ARAP_OK;
    if (aside->has_thread) pthread_join(aside->thread, NULL);
    aside->is_under_way = 0;
    if (aside->status && !context->error.status) context->error = aside->context.error;
    return aside->status;
}
