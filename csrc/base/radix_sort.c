/* Radix sort: see radix_sort.h. Sorts by one digit after the other, beginning with the lowest, and
 * skips digits in which all keys agree. Takes O(count). Fails only if it is cancelled. */
#include "base/radix_sort.h"

#include <string.h>

#define DIGIT 11 /* bits sorted per pass */
#define DIGITS (1 << DIGIT)
#define SLICE 65536 /* items between two polls for cancellation */
#define SIGN ((uint64_t)1 << 63)

uint64_t arap_key_of(double number) {
    uint64_t bits;
    number += 0.0; /* -0 is 0 */
    memcpy(&bits, &number, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

double arap_number_of(uint64_t key) {
    uint64_t bits = key & SIGN ? key ^ SIGN : ~key;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

arap_status arap_radix_sort(arap_context *context, size_t count, arap_keyed **items,
                            arap_keyed **scratch) {
    arap_status status = ARAP_OK;
    for (int shift = 0; shift < 64 && count && !status; shift += DIGIT) {
        arap_keyed *in = *items, *out = *scratch;
        size_t place[DIGITS] = {0}, sum = 0;
        for (size_t k = 0; k < count; k++) place[in[k].key >> shift & (DIGITS - 1)]++;
        if (place[in[0].key >> shift & (DIGITS - 1)] == count) continue;
        for (int d = 0; d < DIGITS; d++) {
            size_t size = place[d];
            place[d] = sum;
            sum += size;
        }
        for (size_t first = 0; first < count && !status; first += SLICE) {
            size_t end = count - first < SLICE ? count : first + SLICE;
            for (size_t k = first; k < end; k++)
                out[place[in[k].key >> shift & (DIGITS - 1)]++] = in[k];
            status = arap_poll_cancel(context);
        }
        *items = out;
        *scratch = in;
    }
    return status;
}
