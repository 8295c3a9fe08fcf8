/* Which deliveries count: trees of objects made here, with what must be read of them. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/delivery.h"

enum { OBJECTS_MOST = 32 };

static const char *const suffixes[] = {".csv", ".csv.gz", NULL};

/* An object; text: of a manifest. The store's root is the bucket's folder "root/". */
struct put {
    const char *key, *text;
    uint64_t size;
    int64_t modified;
};

struct tree {
    struct arena arena;
    const struct put *put;
    struct object object[OBJECTS_MOST];
    struct object_list list;
    struct delivery_query query;
    struct delivery_choice choice;
    struct error err;
};

static bool
read_text(void *context, struct object *object, struct buf *ret_text, struct error *err)
{
    const struct tree *tree = context;

    (void)err;
    buf_puts(ret_text, tree->put[object - tree->object].text);
    return true;
}

static bool
choose(struct tree *tree, const struct put *put, const char *exports, bool is_remote)
{
    memset(tree, 0, sizeof *tree);
    tree->put = put;
    for (; put->key; put++) {
        struct object *object = &tree->object[tree->list.count++];

        object->key = put->key;
        object->full = arena_printf(&tree->arena, "root/%s", put->key);
        object->name = arena_printf(&tree->arena, "s3://b/root/%s", put->key);
        object->size = put->text ? strlen(put->text) : put->size;
        object->modified = put->modified;
    }
    tree->list.object = tree->object;
    tree->query = (struct delivery_query){
        .arena = &tree->arena, .list = &tree->list, .suffixes = suffixes, .exports = exports,
        .times_are_true = is_remote, .from = 1782864000 /* 2026-07-01 */, .read = read_text, .context = tree,
    };
    return delivery_choose(&tree->query, &tree->choice, &tree->err);
}

/* The keys chosen, one after the other, then "!" and what failed. */
static void
is_chosen(struct tree *tree, const char *wanted)
{
    struct buf got = {0};

    for (size_t i = 0; i < tree->choice.count; i++)
        buf_printf(&got, "%s%s", i ? " " : "", tree->choice.object[i].object.key);
    for (size_t i = 0; i < tree->choice.failed_count; i++)
        buf_printf(&got, " ! %s %s", tree->choice.failed[i]->manifest, tree->choice.failed[i]->problem);
    assert_string_equal(got.data ? got.data : "", wanted);
    buf_free(&got);
    arena_free(&tree->arena);
}

static void
is_refused(struct tree *tree, enum error_code code, const char *text, const char *hint)
{
    assert_int_equal(tree->err.code, code);
    if (!strstr(tree->err.text, text) || !strstr(tree->err.hint, hint))
        fail_msg("\"%s\" / \"%s\" says nothing of \"%s\" / \"%s\"", tree->err.text, tree->err.hint, text, hint);
    arena_free(&tree->arena);
}

#define CUR(name, month, next, assembly, keys) \
    "{\"reportName\": \"" name "\", \"assemblyId\": \"" assembly "\", \"billingPeriod\": {\"start\": \"2026" month "01T000000.000Z\", " \
    "\"end\": \"2026" next "01T000000.000Z\"}, \"columns\": [{\"category\": \"bill\", \"name\": \"PayerAccountId\"}], " \
    "\"reportKeys\": [" keys "]}"

static void
as_they_stand(void **state)
{
    static const struct put put[] = {{.key = "b.csv"}, {.key = "2026/07/a.csv.gz"}, {.key = "c.zip"}, {.key = "note.txt"},
                                     {.key = "manifest.json", .text = "{\"seed\": 1}"}, {0}};
    struct tree tree;

    (void)state;
    assert_true(choose(&tree, put, NULL, false));
    assert_string_equal(tree.choice.object[0].origin, tree.choice.object[1].origin);
    is_chosen(&tree, "b.csv 2026/07/a.csv.gz c.zip");
}

/* The newest assembly, by the copy one level up; what it does not name is old. */
static void
cur_assemblies(void **state)
{
    static const char new[] = CUR("r", "07", "08", "bbb", "\"root/cur/r/20260701-20260801/bbb/r-1.csv.gz\"");
    static const char old[] = CUR("r", "07", "08", "aaa", "\"root/cur/r/20260701-20260801/aaa/r-1.csv.gz\", \"root/cur/r/20260701-20260801/aaa/r-2.csv.gz\"");
    static const struct put put[] = {
        {.key = "cur/r/20260701-20260801/aaa/r-1.csv.gz", .modified = 10},
        {.key = "cur/r/20260701-20260801/aaa/r-2.csv.gz", .modified = 10},
        {.key = "cur/r/20260701-20260801/aaa/r-Manifest.json", .text = old, .modified = 99},
        {.key = "cur/r/20260701-20260801/bbb/r-1.csv.gz", .modified = 20},
        {.key = "cur/r/20260701-20260801/bbb/r-Manifest.json", .text = new, .modified = 22},
        {.key = "cur/r/20260701-20260801/r-Manifest.json", .text = new, .modified = 22},
        {.key = "cur/r/20260701-20260801/r-RedshiftManifest.json", .text = "{}"},
        {.key = "cur/r/20260601-20260701/ccc/r-1.csv.gz"},
        {.key = "cur/r/20260601-20260701/r-Manifest.json", .text = "never read"},
        {.key = "other/x.csv"},
        {0},
    };
    struct tree tree;

    (void)state;
    for (int is_remote = 0; is_remote < 2; is_remote++) {
        assert_true(choose(&tree, put, NULL, is_remote));
        assert_string_equal(tree.choice.object[0].delivery->id, "bbb");
        assert_string_equal(tree.choice.object[0].delivery->columns[0], "bill/PayerAccountId");
        assert_int_equal(tree.choice.object[0].delivery->delivered, 22);
        assert_null(tree.choice.object[1].delivery);
        is_chosen(&tree, "cur/r/20260701-20260801/bbb/r-1.csv.gz other/x.csv");
    }
}

/* The same without the copy: a store's times tell, those of copies do not. */
static void
cur_without_copy(void **state)
{
    static const char new[] = CUR("r", "07", "08", "b1", "\"root/p/20260701-20260801/b1/r-1.csv\"");
    static const char old[] = CUR("r", "07", "08", "a1", "\"root/p/20260701-20260801/a1/r-1.csv\"");
    static const struct put put[] = {
        {.key = "p/20260701-20260801/a1/r-1.csv", .modified = 30},
        {.key = "p/20260701-20260801/a1/r-Manifest.json", .text = old, .modified = 31},
        {.key = "p/20260701-20260801/b1/r-1.csv", .modified = 20},
        {.key = "p/20260701-20260801/b1/r-Manifest.json", .text = new, .modified = 21},
        {0},
    };
    struct tree tree;

    (void)state;
    assert_true(choose(&tree, put, NULL, true));
    is_chosen(&tree, "p/20260701-20260801/a1/r-1.csv");
    assert_false(choose(&tree, put, NULL, false));
    is_refused(&tree, ERR_INPUT, "nothing says which is newer", "one level up");
}

/* Overwriting: chunks that the manifest no longer names survive. */
static void
cur_overwritten(void **state)
{
    static const char text[] = CUR("r", "07", "08", "x", "\"root/p/r/20260701-20260801/r-1.csv.gz\"");
    static const struct put put[] = {
        {.key = "p/r/20260701-20260801/r-1.csv.gz", .modified = 20},
        {.key = "p/r/20260701-20260801/r-2.csv.gz", .modified = 10},
        {.key = "p/r/20260701-20260801/r-Manifest.json", .text = text, .modified = 21},
        {0},
    };
    struct put half[4];
    struct tree tree;

    (void)state;
    assert_true(choose(&tree, put, NULL, true));
    is_chosen(&tree, "p/r/20260701-20260801/r-1.csv.gz");
    /* the next delivery has begun: its first chunk is there, its manifest is not */
    memcpy(half, put, sizeof half);
    half[0].modified = 50;
    assert_true(choose(&tree, half, NULL, true));
    is_chosen(&tree, " ! s3://b/root/p/r/20260701-20260801/r-Manifest.json is older than "
                     "\"s3://b/root/p/r/20260701-20260801/r-1.csv.gz\", which it names");
    /* the times of copies say nothing */
    assert_true(choose(&tree, half, NULL, false));
    is_chosen(&tree, "p/r/20260701-20260801/r-1.csv.gz");
}

/* A file that is missing fails its period; the assembly before it does not step in. */
static void
missing(void **state)
{
    static const char july[] = CUR("r", "07", "08", "bbb", "\"root/p/20260701-20260801/bbb/r-1.csv\"");
    static const char august[] = CUR("r", "08", "09", "ccc", "\"root/p/20260801-20260901/ccc/r-1.csv\"");
    static const struct put put[] = {
        {.key = "p/20260701-20260801/aaa/r-1.csv"},
        {.key = "p/20260701-20260801/r-Manifest.json", .text = july},
        {.key = "p/20260801-20260901/ccc/r-1.csv"},
        {.key = "p/20260801-20260901/r-Manifest.json", .text = august},
        {0},
    };
    struct tree tree;

    (void)state;
    assert_true(choose(&tree, put, NULL, false));
    assert_int_equal(tree.choice.failed[0]->from, 1782864000);
    assert_int_equal(tree.choice.failed[0]->to, 1785542400);
    is_chosen(&tree, "p/20260801-20260901/ccc/r-1.csv ! s3://b/root/p/20260701-20260801/r-Manifest.json names "
                     "\"root/p/20260701-20260801/bbb/r-1.csv\", which is not there");
}

/* A tree that was copied under another name, and a folder of one period alone. */
static void
moved(void **state)
{
    static const char text[] = CUR("r", "07", "08", "bbb", "\"there/cur/20260701-20260801/bbb/r-1.csv\"");
    static const struct put renamed[] = {
        {.key = "here/20260701-20260801/aaa/r-1.csv"},
        {.key = "here/20260701-20260801/bbb/r-1.csv"},
        {.key = "here/20260701-20260801/r-Manifest.json", .text = text},
        {0},
    };
    static const struct put period[] = {{.key = "aaa/r-1.csv"}, {.key = "bbb/r-1.csv"}, {.key = "r-Manifest.json", .text = text}, {0}};
    static const struct put gone[] = {{.key = "here/20260701-20260801/aaa/r-1.csv"}, {.key = "here/20260701-20260801/r-1.csv"},
                                      {.key = "here/20260701-20260801/r-Manifest.json", .text = text}, {0}};
    struct tree tree;

    (void)state;
    assert_true(choose(&tree, renamed, NULL, false));
    is_chosen(&tree, "here/20260701-20260801/bbb/r-1.csv");
    assert_true(choose(&tree, period, NULL, false));
    is_chosen(&tree, "bbb/r-1.csv");
    assert_true(choose(&tree, gone, NULL, false));
    assert_int_equal(tree.choice.count, 0);
    assert_int_equal(tree.choice.failed_count, 1);
    arena_free(&tree.arena);
}

static void
two_reports(void **state)
{
    static const char a[] = CUR("daily", "07", "08", "x", "\"root/daily/20260701-20260801/daily-1.csv\"");
    static const char b[] = CUR("hourly", "07", "08", "y", "\"root/hourly/20260701-20260801/hourly-1.csv\"");
    static const struct put put[] = {
        {.key = "daily/20260701-20260801/daily-1.csv"},
        {.key = "daily/20260701-20260801/daily-Manifest.json", .text = a},
        {.key = "hourly/20260701-20260801/hourly-1.csv"},
        {.key = "hourly/20260701-20260801/hourly-Manifest.json", .text = b},
        {0},
    };
    struct tree tree;

    (void)state;
    assert_false(choose(&tree, put, NULL, false));
    is_refused(&tree, ERR_CONFIG, "two exports of 2026-07", "export = daily");
    assert_true(choose(&tree, put, "hourly", false));
    is_chosen(&tree, "hourly/20260701-20260801/hourly-1.csv");
    assert_true(choose(&tree, put, " daily , hourly/", false));
    is_chosen(&tree, "daily/20260701-20260801/daily-1.csv hourly/20260701-20260801/hourly-1.csv");
    assert_false(choose(&tree, put, "weekly", false));
    is_refused(&tree, ERR_CONFIG, "there is no export \"weekly\"", "daily");
}

/* One name, two places: neither hides the other. */
static void
same_name_twice(void **state)
{
    static const char a[] = CUR("r", "07", "08", "x", "\"root/one/20260701-20260801/r-1.csv\"");
    static const char b[] = CUR("r", "07", "08", "x", "\"root/two/20260701-20260801/r-1.csv\"");
    static const struct put put[] = {
        {.key = "one/20260701-20260801/r-1.csv"}, {.key = "one/20260701-20260801/r-Manifest.json", .text = a},
        {.key = "two/20260701-20260801/r-1.csv"}, {.key = "two/20260701-20260801/r-Manifest.json", .text = b}, {0},
    };
    struct tree tree;

    (void)state;
    assert_false(choose(&tree, put, NULL, true));
    is_refused(&tree, ERR_CONFIG, "two exports", "export = one");
    assert_false(choose(&tree, put, "r", true));
    is_refused(&tree, ERR_CONFIG, "two exports", "export = one");
    assert_true(choose(&tree, put, "two", true));
    is_chosen(&tree, "two/20260701-20260801/r-1.csv");
    assert_true(choose(&tree, put, "one,two", true));
    is_chosen(&tree, "one/20260701-20260801/r-1.csv two/20260701-20260801/r-1.csv");
}

#define EXPORT(id, files) "{\"executionId\": \"" id "\", \"exportArn\": \"a\", \"columns\": [{\"name\": \"x\", \"type\": \"STRING\"}], \"dataFiles\": [" files "]}"

static void
data_exports(void **state)
{
    static const char july[] = EXPORT("1", "\"s3://b/root/e/data/BILLING_PERIOD=2026-07/e-00001.csv.gz\"");
    static const char old[] = EXPORT("2", "\"s3://b/root/e/data/BILLING_PERIOD=2026-08/20260830T010101Z-2/e-00001.csv.gz\"");
    static const char new[] = EXPORT("3", "\"s3://b/root/e/data/BILLING_PERIOD=2026-08/20260831T010101Z-3/e-00001.csv.gz\"");
    static const struct put put[] = {
        {.key = "e/data/BILLING_PERIOD=2026-05/e-00001.csv.gz"},
        {.key = "e/data/BILLING_PERIOD=2026-07/e-00001.csv.gz"},
        {.key = "e/data/BILLING_PERIOD=2026-07/e-00002.csv.gz"},
        {.key = "e/data/BILLING_PERIOD=2026-08/20260830T010101Z-2/e-00001.csv.gz"},
        {.key = "e/data/BILLING_PERIOD=2026-08/20260831T010101Z-3/e-00001.csv.gz"},
        {.key = "e/data/BILLING_PERIOD=2026-09/e-00001.csv.gz"},
        {.key = "e/metadata/BILLING_PERIOD=2026-05/e-Manifest.json", .text = "never read"},
        {.key = "e/metadata/BILLING_PERIOD=2026-07/e-Manifest.json", .text = july},
        {.key = "e/metadata/BILLING_PERIOD=2026-08/20260830T010101Z-2/e-Manifest.json", .text = old},
        {.key = "e/metadata/BILLING_PERIOD=2026-08/20260831T010101Z-3/e-Manifest.json", .text = new},
        {0},
    };
    struct tree tree;

    (void)state;
    for (int is_remote = 0; is_remote < 2; is_remote++) {
        assert_true(choose(&tree, put, NULL, is_remote));
        assert_string_equal(tree.choice.object[0].delivery->export_name, "e");
        is_chosen(&tree, "e/data/BILLING_PERIOD=2026-07/e-00001.csv.gz e/data/BILLING_PERIOD=2026-08/20260831T010101Z-3/e-00001.csv.gz"
                         " ! s3://b/root/e/data/BILLING_PERIOD=2026-09/e-00001.csv.gz is of a delivery that has no manifest yet");
    }
}

#define AZURE(name, type, scope, from, to, submitted, blob, bytes) \
    "{\"exportConfig\": {\"exportName\": \"" name "\", \"resourceId\": \"" scope "\", \"type\": \"" type "\"}, " \
    "\"runInfo\": {\"runId\": \"r\", \"submittedTime\": \"" submitted "\", \"startDate\": \"" from "T00:00:00\", \"endDate\": \"" to "T00:00:00\"}, " \
    "\"blobs\": [{\"blobName\": \"" blob "\", \"byteCount\": " bytes "}]}"

static void
azure_runs(void **state)
{
    static const char early[] = AZURE("e", "ActualCost", "/s/1", "2026-07-01", "2026-07-31", "2026-07-30T03:00:00.5Z", "root/e/20260701-20260731/g1/part_0.csv", "5");
    static const char late[] = AZURE("e", "ActualCost", "/s/1", "2026-07-01", "2026-07-31", "2026-08-01T03:00:00.5Z", "root/e/20260701-20260731/g2/part_0.csv", "7");
    static const struct put put[] = {
        {.key = "e/20260701-20260731/g1/manifest.json", .text = early, .modified = 99},
        {.key = "e/20260701-20260731/g1/part_0.csv", .size = 5},
        {.key = "e/20260701-20260731/g2/manifest.json", .text = late, .modified = 1},
        {.key = "e/20260701-20260731/g2/part_0.csv", .size = 7},
        {0},
    };
    struct put cut[5];
    struct tree tree;

    (void)state;
    assert_true(choose(&tree, put, NULL, false));
    assert_int_equal(tree.choice.object[0].delivery->delivered, 1785553200);
    assert_int_equal(tree.choice.object[0].delivery->to, 1785542400);
    is_chosen(&tree, "e/20260701-20260731/g2/part_0.csv");
    memcpy(cut, put, sizeof cut);
    cut[3].size = 6;
    assert_true(choose(&tree, cut, NULL, false));
    is_chosen(&tree, " ! s3://b/root/e/20260701-20260731/g2/manifest.json says that "
                     "\"s3://b/root/e/20260701-20260731/g2/part_0.csv\" has 7 bytes; it has 6");
}

static void
azure_types(void **state)
{
    static const char actual[] = AZURE("act", "ActualCost", "/S/1", "2026-07-01", "2026-07-31", "2026-08-01T03:00:00Z", "root/act/20260701-20260731/g/a.csv", "5");
    static const char amortized[] = AZURE("amo", "AmortizedCost", "/s/1", "2026-07-01", "2026-07-31", "2026-08-01T03:00:00Z", "root/amo/20260701-20260731/g/a.csv", "5");
    static const struct put put[] = {
        {.key = "act/20260701-20260731/g/a.csv", .size = 5}, {.key = "act/20260701-20260731/g/manifest.json", .text = actual},
        {.key = "amo/20260701-20260731/g/a.csv", .size = 5}, {.key = "amo/20260701-20260731/g/manifest.json", .text = amortized}, {0},
    };
    struct tree tree;

    (void)state;
    assert_false(choose(&tree, put, NULL, false));
    is_refused(&tree, ERR_CONFIG, "of ActualCost", "export = act");
    assert_false(choose(&tree, put, "act,amo", false));
    is_refused(&tree, ERR_CONFIG, "of AmortizedCost", "Both would count twice");
    assert_true(choose(&tree, put, "amo", false));
    is_chosen(&tree, "amo/20260701-20260731/g/a.csv");
}

/* A day each: all of them count. Ranges that overlap do not add up. */
static void
azure_days(void **state)
{
    static const char one[] = AZURE("e", "ActualCost", "/s/1", "2026-07-01", "2026-07-01", "2026-07-02T03:00:00Z", "root/e/20260701-20260701/g/a.csv", "5");
    static const char two[] = AZURE("e", "ActualCost", "/s/1", "2026-07-02", "2026-07-02", "2026-07-03T03:00:00Z", "root/e/20260702-20260702/g/a.csv", "5");
    static const char both[] = AZURE("e", "ActualCost", "/s/1", "2026-07-01", "2026-07-02", "2026-07-03T03:00:00Z", "root/e/20260702-20260702/g/a.csv", "5");
    struct put put[] = {
        {.key = "e/20260701-20260701/g/a.csv", .size = 5}, {.key = "e/20260701-20260701/g/manifest.json", .text = one},
        {.key = "e/20260702-20260702/g/a.csv", .size = 5}, {.key = "e/20260702-20260702/g/manifest.json", .text = two}, {0},
    };
    struct tree tree;

    (void)state;
    assert_true(choose(&tree, put, NULL, false));
    is_chosen(&tree, "e/20260701-20260701/g/a.csv e/20260702-20260702/g/a.csv");
    put[3].text = both;
    assert_true(choose(&tree, put, NULL, false));
    is_chosen(&tree, "e/20260702-20260702/g/a.csv"); /* of the same beginning the later run */
}

static void
runs_without_manifest(void **state)
{
    static const struct put put[] = {
        {.key = "e/20260701-20260731/e_0a1b2c3d-0000-1111-2222-333344445555.csv"},
        {.key = "e/20260701-20260731/e_0a1b2c3d-0000-1111-2222-333344445556.csv"},
        {0},
    };
    static const struct put parts[] = {
        {.key = "e/20260701-20260731/e_0a1b2c3d-0000-1111-2222-333344445555_0.csv"},
        {.key = "e/20260701-20260731/e_0a1b2c3d-0000-1111-2222-333344445555_1.csv"},
        {0},
    };
    struct tree tree;

    (void)state;
    assert_false(choose(&tree, put, NULL, false));
    is_refused(&tree, ERR_INPUT, "two runs of one export", "keep the newest only");
    assert_true(choose(&tree, parts, NULL, false));
    assert_int_equal(tree.choice.count, 2);
    arena_free(&tree.arena);
}

static void
damaged_manifests(void **state)
{
    static const struct put nameless[] = {{.key = "manifest.json", .text = "{\"blobs\": [{\"blob"}, {.key = "a.csv"}, {0}};
    static const struct put cut[] = {
        {.key = "p/20260701-20260801/r-Manifest.json", .text = "{\"reportKeys\": ["}, {.key = "p/20260701-20260801/r-1.csv"},
        {.key = "x.csv"}, {0},
    };
    static const struct put empty[] = {
        {.key = "p/20260701-20260801/r-Manifest.json", .text = CUR("r", "07", "08", "x", "")}, {.key = "p/20260701-20260801/r-1.csv"}, {0},
    };
    static const struct put endless[] = {
        {.key = "p/r-Manifest.json", .text = "{\"reportKeys\": [\"root/p/r-1.csv\"], \"billingPeriod\": {\"start\": "
                                             "\"20260701T000000.000Z\", \"end\": \"soon\"}}"},
        {.key = "p/r-1.csv"}, {0},
    };
    struct tree tree;

    (void)state;
    assert_false(choose(&tree, nameless, NULL, false));
    is_refused(&tree, ERR_INPUT, "is no JSON", "fetch it again");
    assert_true(choose(&tree, cut, NULL, false));
    is_chosen(&tree, "x.csv ! s3://b/root/p/20260701-20260801/r-Manifest.json is no JSON (line 1)");
    assert_true(choose(&tree, empty, NULL, false));
    is_chosen(&tree, " ! s3://b/root/p/20260701-20260801/r-Manifest.json names no file");
    assert_false(choose(&tree, endless, NULL, false));
    is_refused(&tree, ERR_INPUT, "does not say which period it is of", "fetch it again");
}

static void
origins(void **state)
{
    static const struct {
        const char *key, *origin;
    } cases[] = {
        {"a.csv", ""},
        {"2026/07/a.csv", ""},
        {"x/2026-07/a.csv", "x"},
        {"20260701-20260801/a.csv", ""},
        {"BILLING_PERIOD=2026-07/day=1/a.csv", ""},
        {"account=7/a.csv", ""},
        {"run=7/a.csv", "run=7"},
        {"20260701/a.csv", "20260701"},
        {"2026-07-01/a.csv", "2026-07-01"},
        {"13/a.csv", "13"},
        {"exports/a/x.csv", "exports/a"},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(delivery_origin(&arena, cases[i].key), cases[i].origin);
    arena_free(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_they_stand),   cmocka_unit_test(cur_assemblies),   cmocka_unit_test(cur_without_copy),
        cmocka_unit_test(cur_overwritten), cmocka_unit_test(missing),          cmocka_unit_test(moved),
        cmocka_unit_test(two_reports),     cmocka_unit_test(same_name_twice),  cmocka_unit_test(data_exports),
        cmocka_unit_test(azure_runs),      cmocka_unit_test(azure_types),      cmocka_unit_test(azure_days),
        cmocka_unit_test(runs_without_manifest), cmocka_unit_test(damaged_manifests), cmocka_unit_test(origins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
