/*
 * libFuzzer over the scanner of Prometheus answers: any bytes, in pieces of any size, wanted in any
 * way. The first byte chooses. Reading whole and reading in pieces must agree.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_matrix.c ingest/matrix*.c
 * common/…
 */
#include <config.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size, at, step;
    enum matrix_want want;
    uint64_t values, labels;
    int64_t times;
};

static bool
read_input(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct input *input = context;
    size_t size = input->size - input->at;

    (void)err;
    size = size < input->step ? size : input->step;
    size = size < room ? size : room;
    if (size) {
        memcpy(into, input->data + input->at, size);
    }
    input->at += size;
    *ret_size = size;
    return true;
}

static bool
series(void *context, const struct label *labels, size_t count, enum matrix_want *ret_want,
       struct error *err)
{
    struct input *input = context;

    (void)err;
    for (size_t i = 0; i < count; i++) {
        input->labels += strlen(labels[i].name) + strlen(labels[i].value);
    }
    *ret_want = input->want;
    return true;
}

static bool
values(void *context, const struct matrix_value *value, size_t count, struct error *err)
{
    struct input *input = context;

    (void)err;
    if (count == 0 || count > MATRIX_BATCH) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        input->times += value[i].time_ms;
    }
    input->values += count;
    return true;
}

static bool
run(struct input *input)
{
    const struct matrix_reader reader = {input, read_input, series, values};
    struct matrix_summary summary;
    struct error err = {0};
    bool good = matrix_read(&reader, &summary, &err);

    if (!good && (err.code != ERR_INPUT || !err.text[0])) {
        abort();
    }
    return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input whole, parts;
    bool good;

    if (size < 1) {
        return 0;
    }
    memset(&whole, 0, sizeof(whole));
    whole.data = data + 1;
    whole.size = size - 1;
    whole.step = SIZE_MAX;
    whole.want = (enum matrix_want)(data[0] % 3);
    parts = whole;
    parts.step = 1 + data[0] / 3;
    good = run(&whole);
    if (good != run(&parts) ||
        (good && (whole.values != parts.values || whole.times != parts.times ||
                  whole.labels != parts.labels))) {
        abort();
    }
    return 0;
}
