#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/arena.h"
#include "common/error.h"

static void
memory_is_zeroed_and_aligned(void **state)
{
    struct arena arena = {0};
    size_t size, i;

    (void)state;
    for (size = 0; size < 300; size += 7) {
        unsigned char *block = arena_alloc(&arena, size);

        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
        for (i = 0; i < size; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xAA, size);
    }
    arena_free(&arena);
    assert_null(arena.head);
}

static void
reused_memory_is_zeroed_too(void **state)
{
    struct arena arena = {0};
    struct arena_mark mark = arena_mark(&arena);
    size_t round, i;

    (void)state;
    for (round = 0; round < 3; round++) {
        unsigned char *block = arena_alloc(&arena, 5000);

        for (i = 0; i < 5000; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xFF, 5000);
        arena_reset(&arena, mark);
    }
    arena_free(&arena);
}

static void
texts_are_copied(void **state)
{
    struct arena arena = {0};
    char long_text[2000];

    (void)state;
    memset(long_text, 'y', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    assert_null(arena_strdup(&arena, NULL));
    assert_string_equal(arena_strdup(&arena, ""), "");
    assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_strndup(&arena, NULL, 0), "");
    assert_string_equal(arena_printf(&arena, "%d %s", 7, "GPUs"), "7 GPUs");
    assert_string_equal(arena_printf(&arena, "%s", long_text), long_text);
    arena_free(&arena);
}

static void
reset_keeps_what_is_older(void **state)
{
    struct arena arena = {0};
    char *kept = arena_strdup(&arena, "kept");
    struct arena_mark mark = arena_mark(&arena);
    size_t i;

    (void)state;
    for (i = 0; i < 1000; i++)
        memset(arena_alloc(&arena, 1000), 0x55, 1000);
    assert_non_null(arena_alloc(&arena, 3 * 1024 * 1024));
    arena_reset(&arena, mark);
    assert_string_equal(kept, "kept");
    assert_true(arena.head == mark.head);
    assert_string_equal(arena_strdup(&arena, "next"), "next");
    assert_string_equal(kept, "kept");
    arena_free(&arena);
}

static void
impossible_sizes_end_with_71(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        free(mem_resize(NULL, SIZE_MAX / 2, 3));
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ERR_MEMORY);
}

static void
arrays_grow(void **state)
{
    int *numbers = NULL;
    int i;

    (void)state;
    for (i = 0; i < 1000; i++) {
        numbers = mem_resize(numbers, (size_t)i + 1, sizeof(*numbers));
        numbers[i] = i;
    }
    for (i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    free(numbers);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(reused_memory_is_zeroed_too),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(reset_keeps_what_is_older),
        cmocka_unit_test(impossible_sizes_end_with_71),
        cmocka_unit_test(arrays_grow),
    };

    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
