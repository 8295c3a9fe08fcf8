#include <config.h>

#include "reports/measure.h"

#include <string.h>

/* Advance widths of ' ' to '~' in thousandths of the font size. */
static const short advance[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584,
};

static const double px_per_unit = 10.0 * 96 / 72 / 1000; /* 10 points at 96 dpi */
static const double bold_factor = 1.08;
static const double rounding = 1.03; /* programs round each glyph to whole pixels */

/* Width of the character that begins at text; 0 for the later bytes of one. */
static double
character_px(const char *text)
{
    unsigned char first = (unsigned char)*text;
    if (first >= ' ' && first <= '~')
        return advance[first - ' '] * px_per_unit;
    if (first == '\t')
        return 4 * advance[0] * px_per_unit;
    if (first < ' ' || (first & 0xC0) == 0x80)
        return 0;
    if (first < 0xE0) /* Latin, Greek, Cyrillic, Hebrew, Arabic */
        return 650 * px_per_unit;
    return (first < 0xF0 ? 1000 : 1300) * px_per_unit;
}

static double
factor(bool is_bold)
{
    return is_bold ? bold_factor * rounding : rounding;
}

/* Widest run of the text between any of the characters in `ends`. */
static double
widest(const char *text, const char *ends)
{
    double most = 0, now = 0;
    for (; *text != '\0'; text++) {
        now = strchr(ends, *text) != NULL ? 0 : now + character_px(text);
        most = now > most ? now : most;
    }
    return most;
}

double
measure_px(const char *text, bool is_bold)
{
    return widest(text, "\n") * factor(is_bold);
}

double
measure_longest_word_px(const char *text, bool is_bold)
{
    return widest(text, "\n ") * factor(is_bold);
}

int
measure_lines(const char *text, bool is_bold, double width_px)
{
    double width = width_px / factor(is_bold), line = 0, word = 0;
    int lines = 1;
    for (; *text != '\0'; text++) {
        double px = character_px(text);
        if (*text == '\n') {
            lines++;
            line = word = 0;
            continue;
        }
        if (line + px > width &&
            *text != ' ') { /* the word moves to the next line, or breaks there */
            lines++;
            line = word + px > width ? 0 : word;
            word = line;
        }
        line += px;
        word = *text == ' ' ? 0 : word + px;
    }
    return lines;
}
