#include <config.h>

#include "common/nearest.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MOST = 48 };

static size_t
least_of(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Levenshtein's distance without case; '_' and '-' are one. Long words are never close. */
static size_t
distance(const char *a, const char *b)
{
    size_t row[WORD_MOST + 1];
    size_t a_size = strlen(a), b_size = strlen(b);
    size_t i, j;

    if (a_size > WORD_MOST || b_size > WORD_MOST)
        return WORD_MOST;
    for (j = 0; j <= b_size; j++)
        row[j] = j;
    for (i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];
        int from = a[i - 1] == '_' ? '-' : tolower((unsigned char)a[i - 1]);

        row[0] = i;
        for (j = 1; j <= b_size; j++) {
            size_t above = row[j];
            size_t changed = diagonal + (from != tolower((unsigned char)b[j - 1]));

            row[j] = least_of(above + 1, row[j - 1] + 1, changed);
            diagonal = above;
        }
    }
    return row[b_size];
}

void
nearest_offer(struct nearest *nearest, const char *known)
{
    size_t found = distance(nearest->word, known);
    size_t allowed = strlen(nearest->word) / 3 + 1;

    if (found > allowed || (nearest->best && found >= nearest->distance))
        return;
    nearest->best = known;
    nearest->distance = found;
}
