#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/numeric.h"

/* tests/integration/0210_copy.t holds the same against a real PostgreSQL; here stands, byte by
 * byte, what numeric_send gives for a few. */
static void
check_bytes(const char *text, const char *hex)
{
    unsigned char bytes[NUMERIC_ROOM(64)];
    char got[2 * sizeof(bytes) + 1];
    size_t size = 0;

    assert_true(strlen(text) <= 64);
    assert_true(numeric_encode(text, strlen(text), bytes, &size));
    assert_true(size <= NUMERIC_ROOM(strlen(text)));
    for (size_t i = 0; i < size; i++) {
        snprintf(got + 2 * i, 3, "%02x", bytes[i]);
    }
    got[2 * size] = '\0';
    assert_string_equal(got, hex);
}

static void
test_bytes(void **state)
{
    (void)state;
    check_bytes("0", "0000000000000000");
    check_bytes("-0.00", "0000000000000002");
    check_bytes("1", "0001000000000000"
                     "0001");
    check_bytes("-1.50", "0002000040000002"
                         "00011388");
    check_bytes("10000", "0001000100000000"
                         "0001");
    check_bytes("12345.6789", "0003000100000004"
                              "0001"
                              "09291a85");
    check_bytes("0.0001", "0001ffff00000004"
                          "0001");
    check_bytes("0.00001", "0001fffe00000005"
                           "03e8");
    check_bytes("1e-5", "0001fffe00000005"
                        "03e8");
    check_bytes("1.20e1", "0001000000000001"
                          "000c");
    check_bytes("+.5", "0001ffff00000001"
                       "1388");
    check_bytes("5.", "0001000000000000"
                      "0005");
    check_bytes("100000000e-8", "0001000000000008"
                                "0001");
    check_bytes("1E8", "0001000200000000"
                       "0001");
}

static bool
encodes(const char *text, size_t size)
{
    unsigned char *bytes = malloc(NUMERIC_ROOM(size));
    size_t written;
    bool is_encoded = numeric_encode(text, size, bytes, &written);

    assert_true(!is_encoded || written <= NUMERIC_ROOM(size));
    free(bytes);
    return is_encoded;
}

static void
test_refused(void **state)
{
    static const char *const refused[] = {"", "-", "+", ".", "-.", "e5", "1e", "1e+", "1e5x", "1 ", " 1", "1,000", "NaN",
                                          "Infinity", "1.2.3", "--1", "0x10", "1e131072", "1e-16384", "1e99999999999999999999",
                                          "1e-99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_false(encodes(refused[i], strlen(refused[i])));
    }
    assert_false(encodes("1\0", 2));
    assert_true(encodes("1e131071", 8));
    assert_true(encodes("1e-16383", 8));
    assert_true(encodes("0e999999999", 11));
}

/* What numeric_recv takes is 3000 groups of four digits. */
static void
test_lengths(void **state)
{
    size_t most = 12000;
    char *text = malloc(most + 2);

    (void)state;
    memset(text, '7', most + 2);
    for (size_t size = 1; size < 200; size++) {
        assert_true(encodes(text, size));
    }
    assert_true(encodes(text, most));
    assert_false(encodes(text, most + 1));
    text[1] = '.';
    assert_true(encodes(text, most - 3));
    memset(text, '0', most + 2);
    assert_true(encodes(text, most + 2));
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lengths),
    };

    return cmocka_run_group_tests_name("numeric", tests, NULL, NULL);
}
