/* Whose project a job was, as far as its owner said. */
#include <config.h>

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "ingest/slurm.h"

enum { KEY_LETTERS_MOST = 20, KEY_DIGITS_MOST = 8 };

const char *
slurm_text_of(struct arena *arena, struct field cell)
{
    cell = csv_trim(cell);
    if (cell.size == 0 || (cell.size == 6 && memcmp(cell.text, "(null)", 6) == 0)) {
        return NULL;
    }
    return arena_strndup(arena, cell.text, cell.size);
}

static bool
is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of PROJ-42 at the start of a text; 0 when none stands there. Upper case alone counts but
 * where the whole text is the key. */
static size_t
key_length(struct field text, bool is_whole)
{
    size_t at = 0, digits;

    while (at < text.size && (is_letter(text.text[at]) || (at > 0 && (is_digit(text.text[at]) || text.text[at] == '_')))) {
        if (!is_whole && islower((unsigned char)text.text[at])) {
            return 0;
        }
        at++;
    }
    if (at < 2 || at > KEY_LETTERS_MOST || at >= text.size || text.text[at] != '-') {
        return 0;
    }
    digits = ++at;
    while (at < text.size && is_digit(text.text[at])) {
        at++;
    }
    if (at == digits || at - digits > KEY_DIGITS_MOST || (at < text.size && (is_letter(text.text[at]) || text.text[at] == '_'))) {
        return 0;
    }
    return is_whole && at != text.size ? 0 : at;
}

/* may_be_whole: a text that is a key from end to end counts in lower case too; of names of jobs it
 * does not, since resnet-50 is none. */
static const char *
issue_in(struct arena *arena, struct field text, bool may_be_whole)
{
    size_t size = may_be_whole ? key_length(text, true) : 0;

    for (size_t at = 0; !size && at < text.size; at++) {
        bool is_start = at == 0 || !(is_letter(text.text[at - 1]) || is_digit(text.text[at - 1]) ||
                                     text.text[at - 1] == '_' || text.text[at - 1] == '-');

        size = is_start ? key_length((struct field){text.text + at, text.size - at}, false) : 0;
        if (size) {
            text.text += at;
        }
    }
    if (!size) {
        return NULL;
    }
    char *key = arena_strndup(arena, text.text, size);

    for (size_t i = 0; i < size; i++) {
        key[i] = (char)toupper((unsigned char)key[i]);
    }
    return key;
}

/* "gpu-project:x", "project=x" somewhere in a comment. */
static const char *
project_in(struct arena *arena, struct field comment)
{
    static const char *const words[] = {"gpu-project", "gpu_project", "project", NULL};

    for (size_t w = 0; words[w]; w++) {
        size_t size = strlen(words[w]);

        for (size_t at = 0; at + size + 1 < comment.size; at++) {
            bool is_start = at == 0 || strchr(" ,;\t", comment.text[at - 1]);
            char sign = comment.text[at + size];

            if (is_start && (sign == ':' || sign == '=') && strncasecmp(comment.text + at, words[w], size) == 0) {
                struct field rest = {comment.text + at + size + 1, comment.size - at - size - 1};
                size_t end = 0;

                while (end < rest.size && rest.text[end] && !strchr(" ,;\t\r\n", rest.text[end])) {
                    end++;
                }
                return end ? arena_strndup(arena, rest.text, end) : NULL;
            }
        }
    }
    return NULL;
}

/* A star marks the user's default key. */
void
slurm_hints(struct arena *arena, struct field wckey, struct field comment, struct field name, struct allocation_job *job)
{
    wckey = csv_trim(wckey);
    if (wckey.size > 0 && wckey.text[0] == '*') {
        wckey = (struct field){wckey.text + 1, wckey.size - 1};
    }
    job->project_hint = slurm_text_of(arena, wckey);
    if (!job->project_hint) {
        job->project_hint = project_in(arena, comment);
    }
    job->issue_hint = issue_in(arena, csv_trim(comment), true);
    if (!job->issue_hint) {
        job->issue_hint = issue_in(arena, wckey, true);
    }
    if (!job->issue_hint) {
        job->issue_hint = issue_in(arena, csv_trim(name), false);
    }
}
