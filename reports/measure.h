/*
 * How much room a text takes in the workbook's font (Arial 10 at 96 dots per inch), so that columns
 * fit what they hold and wrapped rows are as high as they must be.
 */
#ifndef REPORTS_MEASURE_H
#define REPORTS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* Widest line of the text, in pixels. */
double measure_px(const char *text, bool is_bold);
double measure_longest_word_px(const char *text, bool is_bold);
/* Lines the text takes when wrapped at width; words longer than a line are broken. */
int measure_lines(const char *text, bool is_bold, double width_px);

#endif
