#include <config.h>

#include "common/asset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
asset_text(const char *name)
{
    for (const struct asset *asset = assets; asset->name != NULL; asset++) {
        if (strcmp(asset->name, name) == 0)
            return asset->text;
    }
    fprintf(stderr, "gpu-audit: no embedded file \"%s\": is it in a list of Makefile.am?\n", name);
    abort();
}
