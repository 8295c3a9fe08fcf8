#include <config.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "common/buf.h"
#include "common/sha256.h"
#include "common/stream.h"

static char path[] = "test_stream.XXXXXX";

static void
write_file(const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Appends text as one gzip member. */
static void
add_member(struct buf *out, const char *text, size_t size)
{
    z_stream z = {0};
    unsigned char *room = malloc(size + 4096);

    assert_non_null(room);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)size;
    z.next_out = room;
    z.avail_out = (uInt)(size + 4096);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_add(out, room, z.total_out);
    (void)deflateEnd(&z);
    free(room);
}

static bool
read_file(struct buf *out, size_t room, char hex[65], struct error *err)
{
    struct stream *stream;
    char part[8192];
    size_t size = 1;
    bool done;

    if (!stream_open(&stream, path, err))
        return false;
    do {
        done = stream_read(stream, part, room, &size, err);
        if (done)
            buf_add(out, part, size);
    } while (done && size);
    if (done) {
        assert_int_equal(stream_offset(stream), stream_size(stream));
        stream_sha256(stream, hex);
    }
    stream_close(stream);
    return done;
}

static void
fill_text(struct buf *text, size_t lines)
{
    for (size_t i = 0; i < lines; i++)
        buf_printf(text, "line %zu of the text, %zu\n", i, i * i * 2654435761U % 100003);
}

static void
check_reads(const struct buf *file, const struct buf *text)
{
    static const size_t rooms[] = {1, 7, 100, 8192};
    char hex[65], whole[65];
    struct error err = {0};

    write_file(file->data, file->size);
    assert_true(stream_hash_file(path, whole, &err));
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct buf out = {0};

        assert_true(read_file(&out, rooms[i], hex, &err));
        assert_int_equal(out.size, text->size);
        assert_memory_equal(out.data, text->data, text->size);
        assert_string_equal(hex, whole);
        buf_free(&out);
    }
}

static void
test_plain_and_members(void **state)
{
    struct buf text = {0}, gzip = {0};

    (void)state;
    fill_text(&text, 20000);
    check_reads(&text, &text);
    add_member(&gzip, text.data, text.size);
    check_reads(&gzip, &text);
    buf_clear(&gzip);
    for (size_t at = 0; at < text.size; at += 1000)
        add_member(&gzip, text.data + at, text.size - at < 1000 ? text.size - at : 1000);
    add_member(&gzip, "", 0);
    check_reads(&gzip, &text);
    buf_free(&text);
    buf_free(&gzip);
}

/* A file cut anywhere, or with one byte changed, is never taken for a whole one. */
static void
test_damage(void **state)
{
    struct buf text = {0}, gzip = {0};
    char hex[65];

    (void)state;
    fill_text(&text, 60);
    add_member(&gzip, text.data, text.size / 2);
    add_member(&gzip, text.data + text.size / 2, text.size - text.size / 2);
    for (size_t cut = 2; cut < gzip.size; cut++) {
        struct buf out = {0};
        struct error err = {0};

        write_file(gzip.data, cut);
        if (read_file(&out, 512, hex, &err)) {
            assert_int_equal(out.size, text.size / 2); /* cut between two members is a whole file */
        } else {
            assert_int_equal(err.code, ERR_INPUT);
            assert_non_null(strstr(err.text, path));
            assert_non_null(strstr(err.text, "byte"));
        }
        buf_free(&out);
    }
    buf_free(&text);
    buf_free(&gzip);
}

static void
test_changed_byte(void **state)
{
    struct buf text = {0}, gzip = {0};
    char hex[65];

    (void)state;
    fill_text(&text, 60);
    add_member(&gzip, text.data, text.size);
    for (size_t at = 12; at < gzip.size; at++) {
        struct buf out = {0};
        struct error err = {0};

        gzip.data[at] ^= 0x10;
        write_file(gzip.data, gzip.size);
        assert_false(read_file(&out, 512, hex, &err));
        assert_int_equal(err.code, ERR_INPUT);
        gzip.data[at] ^= 0x10;
        buf_free(&out);
    }
    buf_puts(&gzip, "rubbish");
    write_file(gzip.data, gzip.size);
    assert_false(stream_hash_file("nowhere", hex, &(struct error){0}));
    {
        struct buf out = {0};
        struct error err = {0};

        assert_false(read_file(&out, 512, hex, &err));
        assert_non_null(strstr(err.text, "rubbish"));
        buf_free(&out);
    }
    buf_free(&text);
    buf_free(&gzip);
}

static void
test_sha256(void **state)
{
    static const char *const expected[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    struct sha256 hash;
    char hex[65];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        sha256_begin(&hash);
        for (const char *at = expected[i][0]; *at; at++)
            sha256_add(&hash, at, 1);
        sha256_hex(&hash, hex);
        assert_string_equal(hex, expected[i][1]);
    }
    sha256_begin(&hash);
    for (int i = 0; i < 1000; i++) {
        char part[1000];

        memset(part, 'a', sizeof part);
        sha256_add(&hash, part, sizeof part);
    }
    sha256_hex(&hash, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void
touch(const char *name)
{
    FILE *file = fopen(name, "wb");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static void
test_paths(void **state)
{
    static const char *const suffixes[] = {".csv", ".csv.gz", NULL};
    static const char *const names[] = {"b.csv", "a.CSV.gz", ".hidden.csv", "c.txt", "z.csv.part", "0.csv"};
    struct arena arena = {0};
    struct path_list list;
    struct error err = {0};
    char folder[] = "test_paths.XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_false(path_expand(&arena, folder, suffixes, &list, &err));
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.text, folder));
    assert_false(path_expand(&arena, "nowhere/at/all", suffixes, &list, &err));
    assert_non_null(strstr(err.text, "nowhere/at/all"));
    for (size_t i = 0; i < 6; i++)
        touch(arena_printf(&arena, "%s/%s", folder, names[i]));
    assert_int_equal(mkdir(arena_printf(&arena, "%s/d.csv", folder), 0700), 0);
    assert_true(path_expand(&arena, folder, suffixes, &list, &err));
    assert_int_equal(list.count, 3);
    assert_string_equal(strrchr(list.path[0], '/'), "/0.csv");
    assert_string_equal(strrchr(list.path[1], '/'), "/a.CSV.gz");
    assert_string_equal(strrchr(list.path[2], '/'), "/b.csv");
    assert_true(path_expand(&arena, list.path[0], suffixes, &list, &err));
    assert_int_equal(list.count, 1);
    for (size_t i = 0; i < 6; i++)
        unlink(arena_printf(&arena, "%s/%s", folder, names[i]));
    rmdir(arena_printf(&arena, "%s/d.csv", folder));
    rmdir(folder);
    arena_free(&arena);
}

static void
fails_to_read(const void *data, size_t size, enum error_code code, const char *text)
{
    struct error err = {0};
    struct stream *stream = NULL;
    char into[64];
    size_t got = 1;

    write_file(data, size);
    if (stream_open(&stream, path, &err))
        while (got && stream_read(stream, into, 1, &got, &err))
            ;
    assert_int_equal(err.code, code);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" says nothing of \"%s\"", err.text, text);
    stream_close(stream);
}

/* This program does not know the mode in which a program reads Parquet, so it must not start itself
 * for it: that one would start itself again, and so on. main() ends whoever does. */
static void
test_parquet_elsewhere(void **state)
{
    (void)state;
    fails_to_read("PAR1 and more PAR1", 18, ERR_CONFIG, "cannot be read by this program");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void
test_parquet_packed(void **state)
{
    struct buf file = {0};

    (void)state;
    fails_to_read("PARE and more PARE", 18, ERR_INPUT, "is encrypted");
    add_member(&file, "PAR1 and more PAR1", 18);
    fails_to_read(file.data, file.size, ERR_INPUT, "is a Parquet file");
    buf_clear(&file);
    add_member(&file, "PA", 2);
    add_member(&file, "RE", 2);
    fails_to_read(file.data, file.size, ERR_INPUT, "is a Parquet file");
    buf_free(&file);
}

static int
make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 || close(fd);
}

static int
remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_and_members), cmocka_unit_test(test_damage), cmocka_unit_test(test_changed_byte),
        cmocka_unit_test(test_sha256),            cmocka_unit_test(test_paths),  cmocka_unit_test(test_parquet_elsewhere),
        cmocka_unit_test(test_parquet_packed),
    };

    (void)argv;
    if (argc > 1)
        return 9;
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
