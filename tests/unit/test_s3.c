/* Signatures against the examples that AWS publishes, and what answers are taken for. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/s3.h"
#include "common/sha256.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const struct s3_credentials example = {
    .key_id = "AKIAIOSFODNN7EXAMPLE",
    .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
/* of the general test suite: a "+" instead of a "/" */
static const struct s3_credentials suite = {
    .key_id = "AKIDEXAMPLE",
    .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};

static void
check(const struct s3_signing *signing, const struct s3_credentials *credentials, const char *wanted)
{
    struct buf got = {0};

    s3_sign(signing, credentials, &got);
    assert_string_equal(got.data, wanted);
    buf_free(&got);
}

static struct s3_signing
amazon(const char *path, const char *query)
{
    return (struct s3_signing){
        .method = "GET",
        .path = path,
        .query = query,
        .header = {{"host", "examplebucket.s3.amazonaws.com"}, {"x-amz-content-sha256", EMPTY}, {"x-amz-date", "20130524T000000Z"}},
        .header_count = 3,
        .payload_sha256 = EMPTY,
        .region = "us-east-1",
        .service = "s3",
        .date = "20130524T000000Z",
    };
}

/* "Examples: Signature Calculations" of the S3 API reference. */
static void
s3_examples(void **state)
{
    struct s3_signing get = amazon("/test.txt", ""), list = amazon("/", "max-keys=2&prefix=J"), cycle = amazon("/", "lifecycle=");

    (void)state;
    memmove(&get.header[2], &get.header[1], 2 * sizeof get.header[0]);
    get.header[1][0] = "range";
    get.header[1][1] = "bytes=0-9";
    get.header_count = 4;
    check(&get, &example,
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
          "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
          "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    check(&list, &example,
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
          "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
          "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    check(&cycle, &example,
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
          "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
          "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

/* get-vanilla and get-vanilla-query-order-key-case of the aws-sig-v4-test-suite. */
static void
suite_examples(void **state)
{
    struct s3_signing vanilla = {
        .method = "GET",
        .path = "/",
        .query = "",
        .header = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
        .header_count = 2,
        .payload_sha256 = EMPTY,
        .region = "us-east-1",
        .service = "service",
        .date = "20150830T123600Z",
    };

    (void)state;
    check(&vanilla, &suite,
          "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,SignedHeaders=host;x-amz-date,"
          "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    vanilla.query = "Param1=value1&Param2=value2";
    check(&vanilla, &suite,
          "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,SignedHeaders=host;x-amz-date,"
          "Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

/* RFC 4231, cases 2 and 6: a short key, and one longer than a block. */
static void
hmac(void **state)
{
    static const unsigned char short_key[] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e}, long_key[] = {0x60, 0xe4, 0x31, 0x59};
    static const char text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    unsigned char key[131], got[32];

    (void)state;
    sha256_hmac("Jefe", 4, "what do ya want for nothing?", 28, got);
    assert_memory_equal(got, short_key, sizeof short_key);
    memset(key, 0xaa, sizeof key);
    sha256_hmac(key, sizeof key, text, sizeof text - 1, got);
    assert_memory_equal(got, long_key, sizeof long_key);
}

static void
dates(void **state)
{
    char date[S3_DATE];

    (void)state;
    s3_date(1369353600, date);
    assert_string_equal(date, "20130524T000000Z");
}

static void
escapes(void **state)
{
    struct arena arena = {0};

    (void)state;
    assert_string_equal(s3_escape(&arena, "a/b c+d=e&f%g~h_i-j.k"), "a/b%20c%2Bd%3De%26f%25g~h_i-j.k");
    assert_string_equal(s3_escape(&arena, "\303\244"), "%C3%A4");
    arena_free(&arena);
}

static bool
parse(struct arena *arena, const char *text, struct s3_page *page)
{
    struct buf body = {0};
    struct error err = {0};
    bool is_good;

    buf_puts(&body, text);
    is_good = s3_page_parse(arena, &body, page, &err);
    assert_true(is_good || err.code == ERR_NET);
    buf_free(&body);
    return is_good;
}

static void
listings(void **state)
{
    struct arena arena = {0};
    struct s3_page page;

    (void)state;
    assert_true(parse(&arena, "<ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><IsTruncated>true</IsTruncated>"
                      "<EncodingType>url</EncodingType><NextContinuationToken>a+/=</NextContinuationToken>"
                      "<Contents><Key>a%2Fb+c%2B%C3%A4</Key><LastModified>2026-07-01T00:00:00.000Z</LastModified>"
                      "<ETag>&quot;e-2&quot;</ETag><Size>12345678901</Size></Contents></ListBucketResult>", &page));
    assert_int_equal(page.count, 1);
    assert_string_equal(page.object[0].key, "a/b c+\303\244");
    assert_string_equal(page.object[0].etag, "\"e-2\"");
    assert_int_equal(page.object[0].size, 12345678901);
    assert_int_equal(page.object[0].modified, 1782864000);
    assert_string_equal(page.next, "a+/=");
    /* as it stands when the server did not escape it */
    assert_true(parse(&arena, "<ListBucketResult><Contents><Key>a%2Fb+c</Key><Size>0</Size></Contents></ListBucketResult>", &page));
    assert_string_equal(page.object[0].key, "a%2Fb+c");
    assert_null(page.next);
    arena_free(&arena);
}

static void
no_listings(void **state)
{
    static const char *const texts[] = {
        "", "<html>hello</html>", "<ListBucketResult>", "{}",
        "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1x</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
        /* more, but nothing to ask for it with */
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    };
    struct arena arena = {0};
    struct s3_page page;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(parse(&arena, texts[i], &page));
    arena_free(&arena);
}

/* An answer cannot make us read a file of this machine. */
static void
no_entities(void **state)
{
    struct arena arena = {0};
    struct s3_page page;

    (void)state;
    if (parse(&arena, "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><ListBucketResult><Contents><Key>k&x;</Key>"
              "<Size>1</Size></Contents></ListBucketResult>", &page))
        assert_string_equal(page.object[0].key, "k");
    arena_free(&arena);
}

static void
faults(void **state)
{
    struct s3_fault fault;
    struct buf body = {0};

    (void)state;
    buf_puts(&body, "<?xml version='1.0'?><Error><Code>PermanentRedirect</Code><Message>use\nanother</Message><Region>eu-west-1</Region></Error>");
    s3_fault_parse(&body, &fault);
    assert_string_equal(fault.code, "PermanentRedirect");
    assert_string_equal(fault.message, "use another");
    assert_string_equal(fault.region, "eu-west-1");
    buf_clear(&body);
    buf_puts(&body, "<html>502 Bad Gateway");
    s3_fault_parse(&body, &fault);
    assert_string_equal(fault.code, "");
    buf_free(&body);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(s3_examples), cmocka_unit_test(suite_examples), cmocka_unit_test(hmac),
        cmocka_unit_test(dates),       cmocka_unit_test(escapes),        cmocka_unit_test(listings),
        cmocka_unit_test(no_listings), cmocka_unit_test(no_entities),    cmocka_unit_test(faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
