/* Text files embedded at build time by build-aux/sql2c.awk: every file of sql/, templates/,
 * catalog data and samples, by its path in the source tree ("sql/0001_base.sql"). */
#ifndef COMMON_ASSET_H
#define COMMON_ASSET_H

#include <stddef.h>

struct asset {
    const char *name, *text;
    size_t size;
};

extern const struct asset assets[]; /* ends with a NULL name; in the order of Makefile.am */

const char *asset_text(const char *name); /* aborts when there is none: a bug */

#endif
