/* The tables written from the lists of Makefile.am, and the embedded files. */
#include <config.h>

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/rule.h"
#include "cli/command.h"
#include "common/asset.h"
#include "ingest/source.h"
#include "reports/sheet.h"

static bool
is_name(const char *name)
{
    if (name == NULL || !islower((unsigned char)name[0]))
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static bool
is_line(const char *text)
{
    return text != NULL && text[0] != '\0' && strpbrk(text, "\r\n\t") == NULL;
}

static void
commands_are_named_once_and_run(void **state)
{
    (void)state;
    assert_non_null(commands[0]);
    for (size_t i = 0; commands[i] != NULL; i++) {
        assert_true(is_name(commands[i]->name));
        assert_true(is_line(commands[i]->title));
        assert_non_null(commands[i]->arguments);
        assert_non_null(commands[i]->run);
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(commands[i]->name, commands[other]->name);
    }
}

static void
sources_have_a_format_and_a_way_in(void **state)
{
    (void)state;
    assert_non_null(sources[0]);
    for (size_t i = 0; sources[i] != NULL; i++) {
        const struct source *source = sources[i];
        assert_true(is_name(source->format));
        assert_true(is_line(source->title));
        assert_true(is_name(source_kind_name(source->kind)));
        /* Billing formats map records for the shared loader. */
        assert_int_equal(source->kind == SOURCE_BILLING, source->bill != NULL);
        assert_non_null(source->ingest);
        for (size_t other = 0; other < i; other++)
            assert_false(source->kind == sources[other]->kind && strcmp(source->format, sources[other]->format) == 0);
    }
}

static void
rules_are_named_once(void **state)
{
    (void)state;
    assert_non_null(rules[0]);
    for (size_t i = 0; rules[i] != NULL; i++) {
        assert_true(is_name(rules[i]->name));
        assert_true(is_line(rules[i]->title));
        assert_non_null(rules[i]->run);
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(rules[i]->name, rules[other]->name);
    }
}

/* A spreadsheet refuses long tabs, some characters, and two that differ in case only. */
static void
sheets_have_tabs_a_spreadsheet_takes(void **state)
{
    (void)state;
    assert_non_null(sheets[0]);
    for (size_t i = 0; sheets[i] != NULL; i++) {
        const char *tab = sheets[i]->tab;
        assert_true(is_line(tab));
        assert_true(strlen(tab) <= 31);
        assert_null(strpbrk(tab, "[]:*?/\\"));
        assert_true(is_line(sheets[i]->title));
        assert_non_null(sheets[i]->fill);
        for (size_t other = 0; other < i; other++)
            assert_int_not_equal(strcasecmp(tab, sheets[other]->tab), 0);
    }
}

static const char *
source_tree(void)
{
    const char *srcdir = getenv("srcdir"); /* set by make check */
    return srcdir != NULL ? srcdir : ".";
}

/* Whether `asset` is byte for byte the file it was made from. */
static void
assert_is_its_file(const struct asset *asset)
{
    char path[4096];
    assert_true(snprintf(path, sizeof(path), "%s/%s", source_tree(), asset->name) < (int)sizeof(path));
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("no file %s: run the test by make check, or in the source tree", path);
    char *bytes = malloc(asset->size + 1);
    assert_non_null(bytes);
    size_t size = fread(bytes, 1, asset->size + 1, file);
    fclose(file);
    assert_int_equal(size, asset->size);
    assert_memory_equal(bytes, asset->text, size);
    free(bytes);
}

static void
assets_are_their_files(void **state)
{
    (void)state;
    assert_non_null(assets[0].name);
    for (const struct asset *asset = assets; asset->name != NULL; asset++) {
        assert_int_equal(strlen(asset->text), asset->size);
        assert_is_its_file(asset);
    }
}

static void
assets_are_found_by_name(void **state)
{
    (void)state;
    for (const struct asset *asset = assets; asset->name != NULL; asset++)
        assert_ptr_equal(asset_text(asset->name), asset->text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_named_once_and_run),
        cmocka_unit_test(sources_have_a_format_and_a_way_in),
        cmocka_unit_test(rules_are_named_once),
        cmocka_unit_test(sheets_have_tabs_a_spreadsheet_takes),
        cmocka_unit_test(assets_are_their_files),
        cmocka_unit_test(assets_are_found_by_name),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
