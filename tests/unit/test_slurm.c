#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/slurm.h"

static const int64_t NOVEMBER = 1793491200; /* 2026-11-01T00:00:00Z */

static struct field
of(const char *text)
{
    return (struct field){text, strlen(text)};
}

/* ---------------------------------------------------------------- GPUs */

static void
test_tres(void **state)
{
    static const struct {
        const char *tres, *gpus, *type;
        bool is_by_type;
    } cases[] = {
        {"cpu=10,mem=100G,node=1,billing=10,gres/gpu=1,gres/gpu:a100=1", "1", "a100", false},
        {"gres/gpu=4,gres/gpu:a100=4", "4", "a100", false},
        {"gres/gpu:a100=4", "4", "a100", true},
        {"gres/gpu:a100=3,gres/gpu:v100=1,gres/gpu=4", "4", "a100,v100", false},
        {"gres/gpu:a100=3,gres/gpu:v100=1", "4", "a100,v100", true},
        {"gres/gpu=4,gres/gpu:a100=2", "4", "a100", false}, /* two of a type that is not tracked */
        {"gres/gpu=2,gres/gpu:a100=4", "2", "a100", false}, /* the untyped one is what was given out */
        {"billing=80,energy=1439089,gres/gpu=8,mem=320.5G", "8", "", false},
        {"gres/gpumem=80G,gres/gpuutil=90,gres/gpu_mem=5", "", "", false},
        {"billing=1,cpu=1", "", "", false},
        {"gres/gpu=0", "", "", false},
        {"", "", "", false},
        {"gres/gpu:1g.5gb=1,gres/gpu=1", "0.142857142857", "1g.5gb", false},
        {"gres/gpu:a100_3g.20gb=2", "0.857142857142", "a100_3g.20gb", true},
        {"gres/gpu:1g.6gb=1", "0.25", "1g.6gb", true},
        {"gres/gpu=3,gres/gpu:a100=2,gres/gpu:7g.40gb=1", "3", "a100,7g.40gb", false},
        {"gres/gpu:rtx_4g=1", "1", "rtx_4g", true},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slurm_gpus gpus;

        assert_true(slurm_tres_gpus(of(cases[i].tres), 0, &gpus));
        assert_int_equal(gpus.is_named, cases[i].gpus[0] != '\0');
        if (gpus.is_named)
            assert_string_equal(slurm_gpus_text(&arena, gpus.trillionths), cases[i].gpus);
        assert_string_equal(gpus.type, cases[i].type);
        assert_int_equal(gpus.is_by_type, cases[i].is_by_type);
    }
    arena_free(&arena);
}

static void
test_counts_that_cannot_be(void **state)
{
    static const char *const cases[] = {"gres/gpu=", "gres/gpu=-1", "gres/gpu=1.5", "gres/gpu=99999999999999999999",
                                        "gres/gpu:a100=x", "gres/gpu=100001"};
    struct slurm_gpus gpus;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(slurm_tres_gpus(of(cases[i]), 0, &gpus));
}

static void
test_shards(void **state)
{
    struct slurm_gpus gpus;
    struct arena arena = {0};

    (void)state;
    assert_true(slurm_tres_gpus(of("gres/shard=2"), 0, &gpus));
    assert_true(gpus.is_named);
    assert_false(gpus.is_sized);
    assert_true(slurm_tres_gpus(of("gres/shard=2,gres/shard:a100=2"), 8, &gpus));
    assert_true(gpus.is_sized);
    assert_string_equal(slurm_gpus_text(&arena, gpus.trillionths), "0.25");
    arena_free(&arena);
}

/* Seven slices of a seventh never make more than the chip. */
static void
test_slices_add_up(void **state)
{
    struct slurm_gpus one, seven;

    (void)state;
    assert_true(slurm_tres_gpus(of("gres/gpu:1g.10gb=1"), 0, &one));
    assert_true(slurm_tres_gpus(of("gres/gpu:1g.10gb=7"), 0, &seven));
    assert_int_equal(seven.trillionths, INT64_C(1000000000000));
    assert_true(7 * one.trillionths <= seven.trillionths);
    assert_true(7 * one.trillionths > seven.trillionths - 7);
}

static void
test_gres(void **state)
{
    static const struct {
        const char *gres;
        int64_t gpus;
        const char *type;
    } cases[] = {
        {"gpu:2", 2, ""},
        {"gpu", 1, ""},
        {"gpu:tesla:2", 2, "tesla"},
        {"gres:gpu:tesla:2", 2, "tesla"},
        {"gpu:tesla", 1, "tesla"},
        {"gpu:a100:2(IDX:0,3),craynetwork:1", 2, "a100"},
        {"craynetwork:1", 0, ""},
        {"gpu_mem:80", 0, ""},
        {"", 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slurm_gpus gpus;

        assert_true(slurm_gres_gpus(of(cases[i].gres), 0, &gpus));
        assert_int_equal(gpus.devices, cases[i].gpus);
        assert_string_equal(gpus.type, cases[i].type);
    }
}

/* ---------------------------------------------------------------- nodes */

static void
test_nodes(void **state)
{
    static const struct {
        const char *list, *hosts;
        int count;
    } cases[] = {
        {"gpu07", "gpu07", 1},
        {"gpu[01-03]", "gpu01,gpu02,gpu03", 3},
        {"gpu[01-02,07],x1", "gpu01,gpu02,gpu07,x1", 4},
        {"n[8-11]", "n8,n9,n10,n11", 4},
        {"n[098-101]", "n098,n099,n100,n101", 4},
        {"rack[1-2]n[01-02]", "rack1n01,rack1n02,rack2n01,rack2n02", 4},
        {"a[1-2]-ib,b", "a1-ib,a2-ib,b", 3},
        {"cpn-f13-03-[01-02],cpn-f13-04-[01-02]", "cpn-f13-03-01,cpn-f13-03-02,cpn-f13-04-01,cpn-f13-04-02", 4},
        {"None assigned", NULL, 0},
        {"", NULL, 0},
        {"(null)", NULL, 0},
    };
    static const char *const bad[] = {"gpu[01", "gpu01]", "gpu[]", "gpu[3-1]", "gpu[a-b]", "gpu[1,]", "a,,b", ",a", "a,",
                                      "gpu[0-99999999]", "n[1-999][1-999]", "gpu[1-]"};
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *hosts = "unset";
        int count = -1;

        assert_true(slurm_nodes_expand(&arena, of(cases[i].list), &hosts, &count));
        assert_int_equal(count, cases[i].count);
        if (cases[i].hosts)
            assert_string_equal(hosts, cases[i].hosts);
        else
            assert_null(hosts);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *hosts = "unset";
        int count = -1;

        assert_false(slurm_nodes_expand(&arena, of(bad[i]), &hosts, &count));
        assert_string_equal(hosts, "unset");
    }
    arena_free(&arena);
}

/* ---------------------------------------------------------------- times */

static void
test_durations(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"10-13:27:06", 912426}, {"00:00:17", 17}, {"22:53.824", 1373}, {"1-00:00:00", 86400}, {"7164", 7164},
        {"0", 0}, {"", -1}, {"Unknown", -1}, {"1:2:3:4", -1}, {"1-2", -1}, {"-5", -1}, {"12:", -1}, {"::", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(slurm_duration(of(cases[i].text)), cases[i].seconds);
}

/* Berlin, 2026: two hours east until 01:00 UTC on 25 October, one hour after it; from 29 March two. */
static const int64_t berlin_since[] = {1767225600, 1774746000, 1792890000};
static const int berlin_offset[] = {3600, 7200, 3600};
static const struct slurm_zone berlin = {berlin_since, berlin_offset, 3};
static const struct slurm_zone utc = {NULL, NULL, 0};

static void
test_times(void **state)
{
    static const char *const none[] = {"Unknown", "None", "NA", "", "0", "4294967294"};
    static const char *const bad[] = {"tomorrow", "2026-13-01T00:00:00", "123", "2026-07-01T00:00", "03/29-12:00:00"};
    struct slurm_when when;

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_true(slurm_when(&berlin, of(none[i]), &when));
        assert_int_equal(when.count, 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(slurm_when(&utc, of(bad[i]), &when));
    assert_true(slurm_when(&berlin, of("2026-07-01T12:00:00"), &when));
    assert_int_equal(when.count, 1);
    assert_int_equal(when.at[0], 1782900000); /* 10:00 UTC */
    assert_true(slurm_when(&berlin, of("1782900000"), &when));
    assert_false(when.is_local);
    assert_int_equal(when.at[0], 1782900000);
    assert_true(slurm_when(&berlin, of("2023-02-21T15:00:00+0100"), &when));
    assert_int_equal(when.at[0], 1676988000);
    /* half past two comes twice in October, and not at all in March */
    assert_true(slurm_when(&berlin, of("2026-10-25T02:30:00"), &when));
    assert_int_equal(when.count, 2);
    assert_int_equal(when.at[0], 1792888200);
    assert_int_equal(when.at[1], 1792891800);
    assert_false(slurm_when(&berlin, of("2026-03-29T02:30:00"), &when));
}

/* ---------------------------------------------------------------- jobs */

static void
test_ids(void **state)
{
    static const struct {
        const char *text, *job;
        int64_t task;
        int het;
        bool is_step;
    } cases[] = {
        {"123", "123", -1, -1, false},          {"123_4", "123_4", 4, -1, false},
        {"123+1", "123+1", -1, 1, false},       {"123_[5-9%2]", "123_[5-9%2]", -1, -1, false},
        {"123.batch", "123", -1, -1, true},     {"123_4.0", "123_4", 4, -1, true},
        {"123+0.extern", "123+0", -1, 0, true},
    };
    static const char *const bad[] = {"", "x", "123_", "123+", "123_[5", "12a", "123.", "train", "123_4_", "v2"};
    struct slurm_id id;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(slurm_id_parse(of(cases[i].text), &id));
        assert_int_equal(id.job.size, strlen(cases[i].job));
        assert_memory_equal(id.job.text, cases[i].job, id.job.size);
        assert_int_equal(id.array_task, cases[i].task);
        assert_int_equal(id.het_offset, cases[i].het);
        assert_int_equal(id.is_step, cases[i].is_step);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(slurm_id_parse(of(bad[i]), &id));
}

static struct slurm_record
record(const char *start, const char *end, const char *elapsed, const char *tres, const char *nodes)
{
    struct slurm_record made = slurm_record_empty();

    made.cell[SLURM_JOB_ID] = of("7");
    made.cell[SLURM_START] = of(start);
    made.cell[SLURM_END] = of(end);
    made.cell[SLURM_ELAPSED] = of(elapsed);
    made.cell[SLURM_ALLOC_TRES] = of(tres);
    made.cell[SLURM_NODE_LIST] = of(nodes);
    return made;
}

/* Local times that come twice are told by how long the job ran: one hour or two. */
static void
test_fold(void **state)
{
    static const struct {
        const char *start, *end, *elapsed;
        int64_t from, to;
    } cases[] = {
        {"2026-10-25T02:30:00", "2026-10-25T02:40:00", "00:10:00", 1792888200, 1792888800},
        {"2026-10-25T02:30:00", "2026-10-25T02:40:00", "01:10:00", 1792888200, 1792892400},
        {"2026-10-25T02:40:00", "2026-10-25T02:30:00", "00:50:00", 1792888800, 1792891800},
        {"2026-10-25T01:00:00", "2026-10-25T02:30:00", "02:30:00", 1792882800, 1792891800},
        {"2026-10-25T01:00:00", "2026-10-25T02:30:00", "01:30:00", 1792882800, 1792888200},
        {"2026-10-25T02:30:00", "2026-10-25T03:30:00", "01:00:00", 1792891800, 1792895400},
        {"2026-10-25T02:30:00", "2026-10-25T03:30:00", "02:00:00", 1792888200, 1792895400},
    };
    const struct slurm_rules rules = {.zone = berlin, .now = NOVEMBER};
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slurm_record from = record(cases[i].start, cases[i].end, cases[i].elapsed, "gres/gpu=1", "n1");
        struct slurm_outcome outcome;
        struct allocation_job job;

        assert_int_equal(slurm_job(&arena, &rules, &from, &job, &outcome), SLURM_JOB);
        assert_int_equal(job.from, cases[i].from);
        assert_int_equal(job.to, cases[i].to);
        assert_int_equal(job.suspended_seconds, 0);
    }
    arena_free(&arena);
}

static void
test_ends(void **state)
{
    static const struct {
        const char *start, *end, *elapsed;
        int64_t to;
        bool is_ended;
        int64_t suspended;
    } cases[] = {
        {"1793400000", "1793403600", "01:00:00", 1793403600, true, 0},
        {"1793400000", "1793403600", "00:40:00", 1793403600, true, 1200}, /* held while suspended */
        {"1793400000", "1793403600", "", 1793403600, true, -1},
        {"1793400000", "Unknown", "00:10:00", 1793400600, false, -1}, /* the record knows no more */
        {"1793400000", "Unknown", "", 1793491200, false, -1},         /* until now */
        {"1793400000", "Unknown", "90-00:00:00", 1793491200, false, -1},
        {"1793400000", "1799999999", "76-00:00:00", 1793491200, false, -1}, /* after now: not yet */
    };
    const struct slurm_rules rules = {.now = NOVEMBER};
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slurm_record from = record(cases[i].start, cases[i].end, cases[i].elapsed, "gres/gpu=1", "n1");
        struct slurm_outcome outcome;
        struct allocation_job job;

        assert_int_equal(slurm_job(&arena, &rules, &from, &job, &outcome), SLURM_JOB);
        assert_int_equal(job.to, cases[i].to);
        assert_int_equal(job.is_ended, cases[i].is_ended);
        if (job.is_ended)
            assert_int_equal(job.suspended_seconds, cases[i].suspended);
    }
    arena_free(&arena);
}

static void
test_what_is_no_allocation(void **state)
{
    static const struct {
        const char *start, *end, *tres, *nodes;
        enum slurm_kind kind;
        enum allocation_reason why;
    } cases[] = {
        {"1793400000", "1793403600", "cpu=4", "n1", SLURM_OTHER, ALLOCATION_NO_GPU},
        {"nonsense", "1793403600", "cpu=4", "n1", SLURM_OTHER, ALLOCATION_NO_GPU},
        {"Unknown", "Unknown", "gres/gpu=1", "", SLURM_OTHER, ALLOCATION_NOT_STARTED},
        {"None", "1793403600", "gres/gpu=1", "", SLURM_OTHER, ALLOCATION_NOT_STARTED},
        {"1793403600", "1793403600", "gres/gpu=1", "n1", SLURM_OTHER, ALLOCATION_NO_TIME},
        {"1793500000", "Unknown", "gres/gpu=1", "n1", SLURM_OTHER, ALLOCATION_NOT_STARTED}, /* after now */
        {"nonsense", "1793403600", "gres/gpu=1", "n1", SLURM_REJECT, 0},
        {"1793403600", "1793400000", "gres/gpu=1", "n1", SLURM_REJECT, 0},
        {"1793400000", "1793403600", "gres/gpu=1", "n[3-1]", SLURM_REJECT, 0},
        {"1793400000", "1793403600", "gres/gpu=x", "n1", SLURM_REJECT, 0},
    };
    const struct slurm_rules rules = {.now = NOVEMBER};
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slurm_record from = record(cases[i].start, cases[i].end, "", cases[i].tres, cases[i].nodes);
        struct slurm_outcome outcome;
        struct allocation_job job;

        assert_int_equal(slurm_job(&arena, &rules, &from, &job, &outcome), cases[i].kind);
        if (cases[i].kind == SLURM_OTHER)
            assert_int_equal(outcome.why, cases[i].why);
        else
            assert_non_null(outcome.reason);
    }
    arena_free(&arena);
}

/* Where the count comes from, how it is spread, how sure it is. */
static void
test_placement(void **state)
{
    static const struct {
        const char *alloc_tres, *alloc_gres, *req_tres, *req_gres, *nodes, *gpus, *host_gpus, *source;
        enum allocation_placement placement;
        enum allocation_confidence confidence;
    } cases[] = {
        {"gres/gpu=4,node=2", "", "", "", "n[1-2]", "4", "2", "AllocTRES", PLACEMENT_EVEN, CONFIDENCE_HIGH},
        {"gres/gpu=3,node=2", "", "", "", "n[1-2]", "3", NULL, "AllocTRES", PLACEMENT_UNKNOWN, CONFIDENCE_HIGH},
        {"gres/gpu=3,node=1", "", "", "", "n1", "3", "3", "AllocTRES", PLACEMENT_KNOWN, CONFIDENCE_HIGH},
        {"gres/gpu=4", "", "", "", "", "4", NULL, "AllocTRES", PLACEMENT_UNKNOWN, CONFIDENCE_HIGH},
        {"gres/gpu:k80=2", "", "", "", "n1", "2", "2", "AllocTRES typed", PLACEMENT_KNOWN, CONFIDENCE_MEDIUM},
        {"cpu=4,node=2", "gpu:tesla:2", "", "", "n[1-2]", "4", "2", "AllocGRES", PLACEMENT_KNOWN, CONFIDENCE_MEDIUM},
        {"cpu=4,node=3", "gpu:tesla:2", "", "", "", "6", NULL, "AllocGRES", PLACEMENT_UNKNOWN, CONFIDENCE_MEDIUM},
        {"", "", "gres/gpu=2,node=1", "", "n1", "2", "2", "ReqTRES", PLACEMENT_KNOWN, CONFIDENCE_LOW},
        {"", "", "", "gpu:2", "n[1-2]", "4", "2", "ReqGRES", PLACEMENT_KNOWN, CONFIDENCE_LOW},
        {"gres/gpu=1", "gpu:2", "gres/gpu=2", "gpu:2", "n1", "1", "1", "AllocTRES", PLACEMENT_KNOWN, CONFIDENCE_HIGH},
        {"gres/shard=4,node=1", "", "", "", "n1", NULL, NULL, "AllocTRES", PLACEMENT_KNOWN, CONFIDENCE_HIGH},
    };
    const struct slurm_rules rules = {.now = NOVEMBER};
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slurm_record from = record("1793400000", "1793403600", "", cases[i].alloc_tres, cases[i].nodes);
        struct slurm_outcome outcome;
        struct allocation_job job;

        from.cell[SLURM_ALLOC_GRES] = of(cases[i].alloc_gres);
        from.cell[SLURM_REQ_TRES] = of(cases[i].req_tres);
        from.cell[SLURM_REQ_GRES] = of(cases[i].req_gres);
        assert_int_equal(slurm_job(&arena, &rules, &from, &job, &outcome), SLURM_JOB);
        assert_int_equal(job.gpus != NULL, cases[i].gpus != NULL);
        if (job.gpus)
            assert_string_equal(job.gpus, cases[i].gpus);
        assert_int_equal(job.host_gpus != NULL, cases[i].host_gpus != NULL);
        if (job.host_gpus)
            assert_string_equal(job.host_gpus, cases[i].host_gpus);
        assert_string_equal(job.gpu_source, cases[i].source);
        assert_int_equal(job.placement, cases[i].placement);
        assert_int_equal(job.confidence, cases[i].confidence);
    }
    arena_free(&arena);
}

static void
test_wait(void **state)
{
    static const struct {
        const char *submit, *eligible;
        int64_t seconds;
    } cases[] = {
        {"1793390000", "1793390000", 10000}, {"1793390000", "1793399000", 1000}, /* a dependency */
        {"1793390000", "Unknown", 10000},    {"Unknown", "Unknown", -1},         {"", "", -1},
        {"1793400060", "", -1}, /* it started before it was submitted */
        {"nonsense", "1793399000", 1000},
    };
    const struct slurm_rules rules = {.now = NOVEMBER};
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slurm_record from = record("1793400000", "1793403600", "", "gres/gpu=1", "n1");
        struct slurm_outcome outcome;
        struct allocation_job job;

        from.cell[SLURM_SUBMIT] = of(cases[i].submit);
        from.cell[SLURM_ELIGIBLE] = of(cases[i].eligible);
        assert_int_equal(slurm_job(&arena, &rules, &from, &job, &outcome), SLURM_JOB);
        assert_int_equal(job.queue_wait_seconds, cases[i].seconds);
    }
    arena_free(&arena);
}

static void
test_hints(void **state)
{
    static const struct {
        const char *wckey, *comment, *name, *project, *issue;
    } cases[] = {
        {"*proj-42", "", "", "proj-42", "PROJ-42"},
        {"*", "", "", NULL, NULL},
        {"", "gpu-project:vision run", "", "vision", NULL},
        {"", "for ML-12, second try", "", NULL, "ML-12"},
        {"", "ml-12", "", NULL, "ML-12"},
        {"", "", "resnet-50", NULL, NULL},
        {"", "", "ML-7_sweep", NULL, NULL},
        {"", "", "ML-7 sweep", NULL, "ML-7"},
        {"key", "project=x", "", "key", NULL},
        {"", "gpt-4 2026-07", "A-1", NULL, NULL},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct allocation_job job = {0};

        slurm_hints(&arena, of(cases[i].wckey), of(cases[i].comment), of(cases[i].name), &job);
        assert_int_equal(job.project_hint != NULL, cases[i].project != NULL);
        if (job.project_hint)
            assert_string_equal(job.project_hint, cases[i].project);
        assert_int_equal(job.issue_hint != NULL, cases[i].issue != NULL);
        if (job.issue_hint)
            assert_string_equal(job.issue_hint, cases[i].issue);
    }
    arena_free(&arena);
}

/* {"nodes": {"n1": {"gpu_utilization": {"3": 29.4}, "gpu_used_memory": {"3": 17040539648},
 * "gpu_total_memory": {"3": 17071734784}}}}, gzipped, in base64. */
static void
test_jobstats(void **state)
{
    static const char comment[] = "JS1:H4sIAAAAAAACA6tWystPSS1WsqpWyjMEkekFpfGlJZk5mVWJJZn5eSAhYyUrI0s9k1odiGRxakp8bmpuflElVNLQ3M"
                                  "DEwNTY0szEAqqmJL8kMQdDkbmhubGJuYVJLRAAAIVeVVp4AAAA";
    double util = -1, memory = -1;

    (void)state;
    assert_true(slurm_jobstats(of(comment), &util, &memory));
    assert_true(util > 29.39 && util < 29.41);
    assert_true(memory > 99.75 && memory < 99.85);
    util = -1;
    assert_false(slurm_jobstats(of("JS1:Short"), &util, &memory));
    assert_false(slurm_jobstats(of("JS1:None"), &util, &memory));
    assert_false(slurm_jobstats(of("JS1:!!!!"), &util, &memory));
    assert_false(slurm_jobstats((struct field){comment, sizeof comment - 9}, &util, &memory));
    assert_false(slurm_jobstats(of(""), &util, &memory));
    assert_true(util < 0);
}

/* ---------------------------------------------------------------- text */

/* Bytes in pieces of `step`, so that every line is cut somewhere. */
struct pieces {
    const char *text;
    size_t left, step;
};

static bool
read_piece(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct pieces *pieces = context;
    size_t size = pieces->left < pieces->step ? pieces->left : pieces->step;

    (void)err;
    size = size < room ? size : room;
    memcpy(into, pieces->text, size);
    pieces->text += size;
    pieces->left -= size;
    *ret_size = size;
    return true;
}

/* "7:train 8:x" or "bad" for each record. */
static char *
names_of(struct arena *arena, const char *text, const char *columns, size_t step)
{
    struct pieces pieces = {text, strlen(text), step};
    struct slurm_reader reader = {0};
    struct slurm_record record_of;
    struct error err = {0};
    const char *reason = "";
    char *said = arena_strdup(arena, "");

    if (!slurm_reader_open(&reader, (struct slurm_input){&pieces, read_piece}, columns, "", &err))
        said = arena_strdup(arena, "refused");
    while (!err.code) {
        enum slurm_status status = slurm_reader_next(&reader, &record_of, &reason, &err);
        const struct field *cell = record_of.cell;

        if (status == SLURM_READ_END)
            break;
        if (status == SLURM_READ_ERROR)
            said = arena_printf(arena, "%serror", said);
        else if (status == SLURM_READ_BAD)
            said = arena_printf(arena, "%sbad(%d) ", said, (int)record_of.line);
        else
            said = arena_printf(arena, "%s%.*s(%d):%.*s:%.*s ", said, (int)cell[SLURM_JOB_ID].size, cell[SLURM_JOB_ID].text,
                                (int)record_of.line, (int)cell[SLURM_COMMENT].size, cell[SLURM_COMMENT].text,
                                (int)cell[SLURM_JOB_NAME].size, cell[SLURM_JOB_NAME].text);
    }
    slurm_reader_close(&reader);
    return said;
}

#define HEAD "JobID|Start|End|AllocTRES|Comment|JobName\n"
#define TAIL "|2026-07-01T00:00:00|2026-07-01T01:00:00|gres/gpu=1|"

static void
test_text(void **state)
{
    static const struct {
        const char *text, *columns, *want;
    } cases[] = {
        {HEAD "7" TAIL "c|train\n", "", "7(2):c:train "},
        {HEAD "7" TAIL "c|train", "", "7(2):c:train "},
        {"\xEF\xBB\xBF" HEAD "7" TAIL "c|train\r\n8" TAIL "|x\r\n", "", "7(2):c:train 8(3)::x "},
        {HEAD "7" TAIL "c|train|v2\n8" TAIL "d|x\n", "", "7(2):c:train|v2 8(3):d:x "}, /* bars in a name */
        {HEAD "7" TAIL "c|two\nlines\n8" TAIL "d|x\n", "", "7(2):c:two\nlines 8(4):d:x "},
        {HEAD "7" TAIL "two\nlines|n\n8" TAIL "d|x\n", "", "7(2):two\nlines:n 8(4):d:x "},
        {HEAD "7|2026-07-01T00:00:00|2026\n8" TAIL "d|x\n", "", "bad(2) 8(3):d:x "},
        {HEAD "7" TAIL "c|x\n8|yesterday|2026-07-01T01:00:00|gres/gpu=1|d|x\n", "", "7(2):c:x 8(3):d:x "},
        {HEAD "7" TAIL "c|x\n8|yesterday\n", "", "7(2):c:x bad(3) "}, /* broken, and no part of a name */
        {"JobName|JobID|End|Start|AllocTRES\na|7|2026-07-01T01:00:00|2026-07-01T00:00:00|gres/gpu=1\n"
         "b|8|2026-07-01T01:00:00|2026-07-01T00:00:00|gres/gpu=1\n", "", "7(2)::a 8(3)::b "},
        {HEAD "7" TAIL "c|x\n\n\n8" TAIL "d|x\n", "", "7(2):c:x 8(5):d:x "},
        {HEAD "7" TAIL "c|x\n" HEAD "8" TAIL "d|x\n", "", "7(2):c:x 8(4):d:x "}, /* files put together */
        {"7" TAIL "c|x\n", "JobID,Start,End,AllocTRES,Comment,JobName", "7(1):c:x "},
        {HEAD "7" TAIL "c|x\n", "JobID,Start,End,AllocTRES,Comment,JobName%40", "7(2):c:x "},
        {"JobID|Start|End|AllocTRES|JobName|\n7" TAIL "x|\n", "", "7(2)::x "}, /* sacct -p */
        {"JobName|JobID|End|Start|AllocTRES\na|b|7|2026-07-01T01:00:00|2026-07-01T00:00:00|gres/gpu=1\n", "", "7(2)::a|b "},
        {"JobID,Start,End,AllocTRES\n7,1782864000,1782867600,cpu=1\n", "", "7(2):: "},
        {"7" TAIL "c|x\n", "", "refused"},
        {"JobID|Start|JobName\n", "", "refused"},
        {"       JobID    JobName\n------------ ----------\n", "", "refused"},
        {"", "", "refused"},
        {HEAD, "", ""},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 1; step < 300; step += 23)
            assert_string_equal(names_of(&arena, cases[i].text, cases[i].columns, step), cases[i].want);
    arena_free(&arena);
}

static void
test_asks_for_what_is_known(void **state)
{
    struct arena arena = {0};

    (void)state;
    assert_string_equal(slurm_layout_ask(&arena, "Account  JobID  JobIDRaw\nJobName ReqTRES  Start"),
                        "JobID,JobIDRaw,Account,Start,ReqTRES,JobName");
    assert_string_equal(slurm_layout_ask(&arena, "JobIDRaw StartX"), "JobIDRaw");
    arena_free(&arena);
}

/* ---------------------------------------------------------------- JSON */

#define JOB_21                                                                                                           \
    "{\"job_id\": 7, \"name\": \"a]}\\\"b\", \"array\": {\"job_id\": 5, \"task\": null, \"task_id\": 3}, "               \
    "\"comment\": {\"administrator\": null, \"job\": \"c\", \"system\": null}, \"cluster\": \"lab\"}"
#define JOB_24                                                                                                           \
    "{\"job_id\": 9, \"name\": \"x\", \"array\": {\"job_id\": 0, \"task_id\": {\"set\": false, \"number\": 0}}, "         \
    "\"het\": {\"job_id\": 8, \"job_offset\": {\"set\": true, \"infinite\": false, \"number\": 1}}, \"comment\": \"d\"}"

static void
test_json(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{\"meta\": {\"jobs\": [1]}, \"errors\": [], \"jobs\": [" JOB_21 ", " JOB_24 "]}", "5_3(1):c:a]}\"b 8+1(2):d:x "},
        {"\n {\"jobs\": [], \"errors\": []}\n", ""},
        {"\xEF\xBB\xBF{\"jobs\": [" JOB_24 "]}", "8+1(1):d:x "},
        {"{\"jobs\": [" JOB_21 "], \"warnings\": [\"w\"], \"errors\": []}", "5_3(1):c:a]}\"b "},
        {"{\"jobs\": [{\"name\": \"no number\"}, " JOB_24 "]}", "bad(1) 8+1(2):d:x "},
        {"{\"jobs\": [" JOB_24 "", "8+1(1):d:x error"},
        {"{\"jobs\": [" JOB_24 "]", "8+1(1):d:x error"},
        {"{\"jobs\": [{\"job_id\": 7", "error"},
        {"{\"jobs\": [7]}", "error"},
        {"{\"errors\": [{\"error\": \"slurmdbd\"}], \"jobs\": []}", "refused"},
        {"{\"jobs\": [], \"errors\": [{\"error\": \"slurmdbd\"}]}", "error"},
        {"{\"nothing\": []}", "refused"},
        {"{", "refused"},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 1; step < 300; step += 23)
            assert_string_equal(names_of(&arena, cases[i].text, "", step), cases[i].want);
    arena_free(&arena);
}

static void
test_json_cells(void **state)
{
    static const char text[] =
        "{\"job_id\": 12, \"state\": {\"current\": [\"RUNNING\"]}, \"nodes\": \"n[1-2]\", \"restart_cnt\": 2,"
        " \"association\": {\"cluster\": \"lab\", \"user\": \"ana\"}, \"account\": \"nlp\", \"wckey\": {\"wckey\": \"k\"},"
        " \"time\": {\"start\": 1793400000, \"end\": 0, \"elapsed\": 60, \"suspended\": {\"set\": true, \"number\": 5},"
        " \"submission\": 1793390000, \"eligible\": 1793391000},"
        " \"tres\": {\"allocated\": [{\"type\": \"cpu\", \"name\": null, \"id\": 1, \"count\": 8},"
        " {\"type\": \"gres\", \"name\": \"gpu\", \"id\": 1001, \"count\": 4},"
        " {\"type\": \"gres\", \"name\": \"gpu:a100\", \"id\": 1002, \"count\": {\"set\": true, \"number\": 4}},"
        " {\"type\": \"energy\", \"name\": null, \"id\": 3, \"count\": null}]},"
        " \"steps\": [{\"tres\": {\"consumed\": {\"average\": [{\"type\": \"gres\", \"name\": \"gpuutil\", \"count\": 40}]}}},"
        " {\"tres\": {\"consumed\": {\"average\": [{\"type\": \"gres\", \"name\": \"gpuutil\", \"count\": 90}]}}}]}";
    const struct slurm_rules rules = {.now = NOVEMBER};
    struct slurm_record from = slurm_record_empty();
    struct slurm_outcome outcome;
    struct allocation_job job;
    struct arena arena = {0};
    const char *reason = "";

    (void)state;
    assert_true(slurm_json_record(&arena, text, sizeof text - 1, &from, &reason));
    assert_int_equal(slurm_job(&arena, &rules, &from, &job, &outcome), SLURM_JOB);
    assert_string_equal(job.gpus, "4");
    assert_string_equal(job.gpu_type, "a100");
    assert_string_equal(job.hosts, "n1,n2");
    assert_string_equal(job.host_gpus, "2");
    assert_string_equal(job.user_name, "ana");
    assert_string_equal(job.cluster, "lab");
    assert_string_equal(job.end_state, "RUNNING");
    assert_string_equal(job.project_hint, "k");
    assert_int_equal(job.from, 1793400000);
    assert_int_equal(job.to, 1793400065);
    assert_false(job.is_ended);
    assert_int_equal(job.queue_wait_seconds, 9000);
    assert_int_equal(job.restarts, 2);
    assert_true(job.gpu_util_pct > 89.9 && job.gpu_util_pct < 90.1);
    assert_string_equal(job.use_source, "gpuutil");
    arena_free(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tres),
        cmocka_unit_test(test_counts_that_cannot_be),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_slices_add_up),
        cmocka_unit_test(test_gres),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_what_is_no_allocation),
        cmocka_unit_test(test_placement),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_jobstats),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_asks_for_what_is_known),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
