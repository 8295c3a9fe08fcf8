# sql2c.awk -v srcdir=DIR FILE...
#
# Prints the C table `assets` (common/asset.h) of text files, named by their path without
# `srcdir/`. Run with LC_ALL=C, so that a character is a byte. Bytes are printed as numbers, not as
# a string literal: no text needs escaping and no compiler limit on the length of a literal is met.

BEGIN {
    for (i = 1; i < 256; i++)
        byte[sprintf("%c", i)] = i
    print "/* Written by build-aux/sql2c.awk from the lists in Makefile.am. */"
    print "#include <config.h>\n\n#include \"common/asset.h\"\n"
    # Files are read by hand, since an empty one would not show up as a FILENAME.
    for (i = 1; i < ARGC; i++)
        embed(ARGV[i], i)
    print "const struct asset assets[] = {"
    for (i = 1; i < ARGC; i++)
        printf "    {\"%s\", (const char *)text_%d, %d},\n", name[i], i, size[i]
    print "    {0, 0, 0},\n};"
    exit failed
}

function embed(file, number,    line, status, column, prefix) {
    prefix = srcdir "/"
    name[number] = index(file, prefix) == 1 ? substr(file, length(prefix) + 1) : file
    size[number] = 0
    printf "static const unsigned char text_%d[] = {\n", number
    while ((status = (getline line < file)) > 0) {
        for (column = 1; column <= length(line); column++)
            printf "%d,", byte[substr(line, column, 1)]
        print "10,"
        size[number] += length(line) + 1
    }
    print "0};\n"
    if (status < 0) {
        printf "sql2c.awk: could not read \"%s\"\n", file > "/dev/stderr"
        failed = 1
    }
    close(file)
}
