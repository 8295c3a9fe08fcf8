/* Zip files made here byte by byte, sound and hostile ones. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "common/buf.h"
#include "common/stream.h"
#include "common/zip.h"

static const char *const suffixes[] = {".csv", NULL};

struct part {
    const char *name, *text;
    bool is_deflated, is_long;     /* long: sizes in a zip64 field */
    unsigned flags, method;        /* method: beside 0 and 8 */
    uint32_t crc_error;
    int64_t size_error, packed_error;
};

static void
put(struct buf *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_putc(out, (char)(i < 8 ? value >> 8 * i & 0xFF : 0));
}

static void
deflate_text(struct buf *into, const char *text)
{
    z_stream z = {0};
    unsigned char room[4096];

    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = room;
    z.avail_out = sizeof room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_add(into, room, z.total_out);
    (void)deflateEnd(&z);
}

static void
add_part(struct buf *file, struct buf *directory, const struct part *part)
{
    struct buf data = {0};
    uint64_t offset = file->size, size = strlen(part->text) + (uint64_t)part->size_error;
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)part->text, (uInt)strlen(part->text)) + part->crc_error;
    unsigned method = part->method ? part->method : part->is_deflated ? 8 : 0;
    size_t name = strlen(part->name);

    if (part->is_deflated)
        deflate_text(&data, part->text);
    else
        buf_puts(&data, part->text);
    buf_add(file, "PK\3\4", 4);
    put(file, 20, 2);
    put(file, part->flags, 2);
    put(file, method, 2);
    put(file, 0, 16); /* date, and what the directory says better */
    put(file, name, 2);
    put(file, 0, 2);
    buf_puts(file, part->name);
    buf_add(file, data.data ? data.data : "", data.size);
    buf_add(directory, "PK\1\2", 4);
    put(directory, 20, 2);
    put(directory, 20, 2);
    put(directory, part->flags, 2);
    put(directory, method, 2);
    put(directory, 0, 4);
    put(directory, crc, 4);
    put(directory, part->is_long ? UINT32_MAX : data.size + (uint64_t)part->packed_error, 4);
    put(directory, part->is_long ? UINT32_MAX : size, 4);
    put(directory, name, 2);
    put(directory, part->is_long ? 28 : 0, 2);
    put(directory, 0, 10);
    put(directory, part->is_long ? UINT32_MAX : offset, 4);
    buf_puts(directory, part->name);
    if (part->is_long) {
        put(directory, 1, 2);
        put(directory, 24, 2);
        put(directory, size, 8);
        put(directory, data.size, 8);
        put(directory, offset, 8);
    }
    buf_free(&data);
}

/* The file as a whole, with the end record of zip64 when its first part is long. */
static int
make(const struct part *parts, size_t count, size_t cut)
{
    char path[] = "test_zip.XXXXXX";
    struct buf file = {0}, directory = {0};
    uint64_t at;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    unlink(path);
    for (size_t i = 0; i < count; i++)
        add_part(&file, &directory, &parts[i]);
    at = file.size;
    buf_add(&file, directory.data ? directory.data : "", directory.size);
    if (count && parts[0].is_long) {
        uint64_t end = file.size;

        buf_add(&file, "PK\6\6", 4);
        put(&file, 44, 8);
        put(&file, 45, 2);
        put(&file, 45, 2);
        put(&file, 0, 8);
        put(&file, count, 8);
        put(&file, count, 8);
        put(&file, directory.size, 8);
        put(&file, at, 8);
        buf_add(&file, "PK\6\7", 4);
        put(&file, 0, 4);
        put(&file, end, 8);
        put(&file, 1, 4);
    }
    buf_add(&file, "PK\5\6", 4);
    put(&file, 0, 4);
    put(&file, count && parts[0].is_long ? 0xffff : count, 2);
    put(&file, count && parts[0].is_long ? 0xffff : count, 2);
    put(&file, count && parts[0].is_long ? UINT32_MAX : directory.size, 4);
    put(&file, count && parts[0].is_long ? UINT32_MAX : at, 4);
    put(&file, 5, 2);
    buf_puts(&file, "hello"); /* a comment */
    assert_int_equal(write(fd, file.data, file.size - cut), (ssize_t)(file.size - cut));
    buf_free(&file);
    buf_free(&directory);
    return fd;
}

/* The text of a member, or false and why. */
static bool
read_member(int fd, const struct zip_member *member, struct buf *text, struct error *err)
{
    struct stream_stand_in stand_in = {.name = "bill.zip/a.csv", .fd = fd, .member = member};
    struct stream *stream;
    char part[64];
    size_t size = 1;
    bool is_good;

    stream_stand_in_begin(&stand_in);
    is_good = stream_open(&stream, stand_in.name, err);
    stream_stand_in_end(&stand_in);
    if (!is_good)
        return false;
    while (is_good && size) {
        is_good = stream_read(stream, part, sizeof part, &size, err);
        if (is_good)
            buf_add(text, part, size);
    }
    stream_close(stream);
    return is_good;
}

#define LINE "BilledCost,Currency\n1.25,USD\n1.25,USD\n1.25,USD\n1.25,USD\n1.25,USD\n1.25,USD\n1.25,USD\n"

static void
sound(void **state)
{
    static const struct part parts[] = {
        {.name = "a.csv", .text = LINE},
        {.name = "folder/b.CSV", .text = LINE LINE, .is_deflated = true},
        {.name = "readme.txt", .text = "no"},
        {.name = "__MACOSX/a.csv", .text = "no"},
        {.name = "folder/.hidden.csv", .text = "no"},
        {.name = "empty.csv", .text = ""},
        {.name = "empty-too.csv", .text = "", .is_deflated = true},
    };
    static const char *const wanted[] = {LINE, LINE LINE, "", ""};
    struct arena arena = {0};
    struct zip_list list;
    struct error err = {0};
    int fd = make(parts, sizeof parts / sizeof *parts, 0);

    (void)state;
    assert_true(zip_is(fd));
    assert_true(zip_open(&arena, fd, "bill.zip", suffixes, &list, &err));
    assert_int_equal(list.count, 4);
    assert_string_equal(list.member[1].name, "folder/b.CSV");
    for (size_t i = 0; i < list.count; i++) {
        struct buf text = {0};

        assert_true(read_member(fd, &list.member[i], &text, &err));
        assert_int_equal(text.size, strlen(wanted[i]));
        assert_memory_equal(text.data ? text.data : "", wanted[i], text.size);
        buf_free(&text);
    }
    close(fd);
    arena_free(&arena);
}

static void
zip64(void **state)
{
    static const struct part parts[] = {
        {.name = "a.csv", .text = LINE, .is_deflated = true, .is_long = true},
        {.name = "b.csv", .text = "x\n", .is_long = true},
    };
    struct arena arena = {0};
    struct zip_list list;
    struct error err = {0};
    struct buf text = {0};
    int fd = make(parts, 2, 0);

    (void)state;
    assert_true(zip_open(&arena, fd, "bill.zip", suffixes, &list, &err));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.member[1].size, 2);
    assert_true(read_member(fd, &list.member[0], &text, &err));
    assert_string_equal(text.data, LINE);
    buf_free(&text);
    close(fd);
    arena_free(&arena);
}

/* What the directory already gives away. */
static void
refused(void **state)
{
    static const struct {
        struct part part;
        size_t cut;
        const char *wanted;
    } cases[] = {
        {{.name = "../../etc/a.csv", .text = "x"}, 0, "points out of its folder"},
        {{.name = "a/../../b.csv", .text = "x"}, 0, "points out of its folder"},
        {{.name = "..", .text = "x"}, 0, "points out of its folder"},
        {{.name = "/a.csv", .text = "x"}, 0, "absolute path"},
        {{.name = "C:\\a.csv", .text = "x"}, 0, "absolute path"},
        {{.name = "a\nb.csv", .text = "x"}, 0, "control character"},
        {{.name = "a.csv", .text = "x", .flags = 1}, 0, "is encrypted"},
        {{.name = "a.csv", .text = "x", .method = 14}, 0, "packed by method 14"},
        {{.name = "a.csv", .text = "x", .size_error = 1}, 0, "damaged directory"},
        {{.name = "a.csv", .text = LINE, .is_deflated = true, .size_error = 100 << 20}, 0, "more than 500 times"},
        {{.name = "a.csv", .text = LINE, .is_deflated = true, .packed_error = 1 << 20}, 0, "is cut short"},
        {{.name = "a.txt", .text = "x"}, 0, "holds no file whose name ends in .csv"},
        {{.name = "a.csv", .text = LINE}, 30, "is cut short"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct zip_list list;
        struct error err = {0};
        int fd = make(&cases[i].part, 1, cases[i].cut);

        assert_false(zip_open(&arena, fd, "bill.zip", suffixes, &list, &err));
        assert_int_equal(err.code, ERR_INPUT);
        if (!strstr(err.text, cases[i].wanted))
            fail_msg("case %zu: \"%s\" says nothing of \"%s\"", i, err.text, cases[i].wanted);
        assert_non_null(strstr(err.text, "bill.zip"));
        assert_true(err.hint[0]);
        close(fd);
        arena_free(&arena);
    }
}

/* What only its bytes do. */
static void
damaged(void **state)
{
    static const struct {
        struct part part;
        const char *wanted;
    } cases[] = {
        {{.name = "a.csv", .text = LINE, .is_deflated = true, .crc_error = 1}, "does not match its checksum"},
        {{.name = "a.csv", .text = LINE, .crc_error = 1}, "does not match its checksum"},
        {{.name = "a.csv", .text = LINE, .is_deflated = true, .size_error = -5}, "is longer than the directory says"},
        {{.name = "a.csv", .text = LINE, .is_deflated = true, .size_error = 5}, "is shorter than the directory says"},
        {{.name = "a.csv", .text = LINE, .is_deflated = true, .packed_error = -3}, "is cut short"},
        {{.name = "a.csv", .text = LINE, .method = 8}, "is damaged"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct zip_list list;
        struct error err = {0};
        struct buf text = {0};
        int fd = make(&cases[i].part, 1, 0);

        assert_true(zip_open(&arena, fd, "bill.zip", suffixes, &list, &err));
        assert_false(read_member(fd, &list.member[0], &text, &err));
        if (!strstr(err.text, cases[i].wanted))
            fail_msg("case %zu: \"%s\" says nothing of \"%s\"", i, err.text, cases[i].wanted);
        assert_non_null(strstr(err.text, "bill.zip/a.csv"));
        buf_free(&text);
        close(fd);
        arena_free(&arena);
    }
}

/* Two entries of the directory for the same bytes. */
static void
overlapping(void **state)
{
    static const struct part part = {.name = "a.csv", .text = LINE, .is_deflated = true};
    struct buf file = {0}, directory = {0}, other = {0};
    char path[] = "test_zip.XXXXXX";
    struct arena arena = {0};
    struct zip_list list;
    struct error err = {0};
    int fd = mkstemp(path);
    uint64_t at;

    (void)state;
    unlink(path);
    add_part(&file, &directory, &part);
    at = file.size;
    buf_add(&other, directory.data, directory.size);
    other.data[46] = 'b';
    buf_add(&file, directory.data, directory.size);
    buf_add(&file, other.data, other.size);
    buf_add(&file, "PK\5\6", 4);
    put(&file, 0, 4);
    put(&file, 2, 2);
    put(&file, 2, 2);
    put(&file, directory.size * 2, 4);
    put(&file, at, 4);
    put(&file, 0, 2);
    assert_int_equal(write(fd, file.data, file.size), (ssize_t)file.size);
    assert_false(zip_open(&arena, fd, "bill.zip", suffixes, &list, &err));
    assert_non_null(strstr(err.text, "shares its bytes with another"));
    buf_free(&file);
    buf_free(&directory);
    buf_free(&other);
    close(fd);
    arena_free(&arena);
}

/* Any byte of a sound file changed, and any end of it cut off, ends well. */
static void
any_byte(void **state)
{
    static const struct part parts[] = {{.name = "a.csv", .text = LINE, .is_deflated = true}, {.name = "b.csv", .text = LINE, .is_long = true}};
    int fd = make(parts, 2, 0);
    off_t size = lseek(fd, 0, SEEK_END);

    (void)state;
    for (off_t i = 0; i < 2 * size; i++) {
        struct arena arena = {0};
        struct zip_list list = {0};
        struct error err = {0};
        struct buf text = {0};
        unsigned char was, now;

        assert_int_equal(pread(fd, &was, 1, i % size), 1);
        now = (unsigned char)(i < size ? ~was : was ^ 1);
        assert_int_equal(pwrite(fd, &now, 1, i % size), 1);
        if (zip_open(&arena, fd, "bill.zip", suffixes, &list, &err))
            for (size_t k = 0; k < list.count; k++)
                if (!read_member(fd, &list.member[k], &text, &err))
                    assert_int_equal(err.code, ERR_INPUT);
        assert_int_equal(pwrite(fd, &was, 1, i % size), 1);
        buf_free(&text);
        arena_free(&arena);
    }
    while (size-- > 0) {
        struct arena arena = {0};
        struct zip_list list;
        struct error err = {0};

        assert_int_equal(ftruncate(fd, size), 0);
        if (size > 4 && size < 100)
            assert_false(zip_open(&arena, fd, "bill.zip", suffixes, &list, &err));
        arena_free(&arena);
    }
    close(fd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound),   cmocka_unit_test(zip64),       cmocka_unit_test(refused),
        cmocka_unit_test(damaged), cmocka_unit_test(overlapping), cmocka_unit_test(any_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
