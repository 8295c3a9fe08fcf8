#include <config.h>

#include "ingest/gpu_name.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 24, WORD_MOST = 24, COUNT_MOST = 1024, COUNT_BEHIND_MOST = 64 };

struct chip {
    const char *name;   /* lower case, without blanks */
    int memory_gb;      /* 0: whatever is said, or nothing */
    const char *form;   /* "pcie", "sxm", "nvl", "ada"; NULL: whatever is said */
    const char *model;
};

/* The first row that fits. Names that begin with another name come before it. */
static const struct chip chips[] = {
    {"gb300", 0, NULL, "GB300-279GB"},
    {"gb200", 0, NULL, "GB200-186GB"},
    {"gh200", 144, NULL, "GH200-144GB"},
    {"gh200", 0, NULL, "GH200-96GB"},
    {"b300", 0, NULL, "B300-268GB"},
    {"b200", 0, NULL, "B200-180GB"},
    {"h200", 0, "nvl", "H200-NVL-141GB"},
    {"h200", 0, "sxm", "H200-SXM-141GB"},
    {"h200", 0, NULL, "H200"},
    {"h100", 0, "nvl", "H100-NVL-94GB"},
    {"h100", 94, NULL, "H100-NVL-94GB"},
    {"h100", 80, "pcie", "H100-PCIe-80GB"},
    {"h100", 80, "sxm", "H100-SXM5-80GB"},
    {"h100", 80, NULL, "H100-80GB"},
    {"a100", 80, "pcie", "A100-PCIe-80GB"},
    {"a100", 80, "sxm", "A100-SXM4-80GB"},
    {"a100", 80, NULL, "A100-80GB"},
    {"a100", 40, "sxm", "A100-SXM4-40GB"},
    {"a100", 40, NULL, "A100-40GB"},
    {"a100", 0, NULL, "A100"},
    {"h100", 0, "pcie", "H100-PCIe-80GB"},
    {"h100", 0, "sxm", "H100-SXM5-80GB"},
    {"h100", 0, NULL, "H100-80GB"},
    {"v100", 32, NULL, "V100-32GB"},
    {"v100", 0, NULL, "V100"},
    {"p100", 0, "pcie", "P100-PCIe"},
    {"p100", 0, "sxm", "P100-SXM2"},
    {"p100", 0, NULL, "P100"},
    {"rtxpro6000", 0, NULL, "RTX-PRO-6000-BSE"},
    {"rtxp6000", 0, NULL, "RTX-PRO-6000-BSE"},
    {"rtxpro4500", 0, NULL, "RTX-PRO-4500"},
    {"rtx6000", 0, "ada", "RTX6000-Ada"},
    {"rtx6000ada", 0, NULL, "RTX6000-Ada"},
    {"rtx6000", 0, NULL, "RTX6000"},
    {"rtxa6000", 0, NULL, "A6000"},
    {"rtx4090", 0, NULL, "RTX4090"},
    {"a6000", 0, NULL, "A6000"},
    {"l40s", 0, NULL, "L40S"},
    {"l40", 0, NULL, "L40"},
    {"l4", 0, NULL, "L4"},
    {"a10g", 0, NULL, "A10G"},
    {"a10", 0, NULL, "A10"},
    {"a30", 0, NULL, "A30"},
    {"a40", 0, NULL, "A40"},
    {"t4g", 0, NULL, "T4G"},
    {"t4", 0, NULL, "T4"},
    {"p40", 0, NULL, "P40"},
    {"p4", 0, NULL, "P4"},
    {"k80", 0, NULL, "K80"},
    {"m60", 0, NULL, "M60"},
    {"mi355x", 0, NULL, "MI355X"},
    {"mi325x", 0, NULL, "MI325X"},
    {"mi300x", 0, NULL, "MI300X"},
    {"mi250x", 0, NULL, "MI250X"},
    {"mi210", 0, NULL, "MI210"},
    {"mi25", 0, NULL, "MI25"},
    {"v710", 0, NULL, "V710"},
    {"v620", 0, NULL, "V620"},
    {"v520", 0, NULL, "RadeonPro-V520"},
};

struct words {
    char word[WORDS_MOST][WORD_MOST];
    size_t count;
};

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char
word_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 0x20);
    return (c >= 'a' && c <= 'z') || is_digit(c) ? c : '\0';
}

/* Lower case, split at everything but letters and digits; a word too long is no name. */
static void
split(struct field text, struct words *words)
{
    size_t at = 0;

    words->count = 0;
    while (at < text.size && words->count < WORDS_MOST) {
        size_t size = 0;

        while (at < text.size && !word_char(text.text[at]))
            at++;
        for (; at < text.size && word_char(text.text[at]); at++, size++)
            if (size < WORD_MOST - 1)
                words->word[words->count][size] = word_char(text.text[at]);
        words->word[words->count][size < WORD_MOST ? size : 0] = '\0';
        words->count += size > 0;
    }
}

static void
drop(struct words *words, size_t at)
{
    memmove(words->word[at], words->word[at + 1], (words->count - at - 1) * WORD_MOST);
    words->count--;
}

/* "rtx 4090", "rtx pro 6000" -> one word. */
static void
join(struct words *words)
{
    for (size_t i = 0; i + 1 < words->count; i++)
        while (i + 1 < words->count && (!strcmp(words->word[i], "rtx") || !strcmp(words->word[i], "rtxpro"))) {
            size_t size = strlen(words->word[i]);

            strncpy(words->word[i] + size, words->word[i + 1], WORD_MOST - size - 1);
            drop(words, i + 1);
        }
}

/* "h100x8" -> "h100", and 8. */
static int
take_count_behind(char *word)
{
    char *x = strrchr(word, 'x'), *end;
    long count = x && x > word + 1 && is_digit(x[1]) ? strtol(x + 1, &end, 10) : 0;

    if (count < 1 || count > COUNT_BEHIND_MOST || *end)
        return 0;
    *x = '\0';
    return (int)count;
}

/* Takes "8x" off the front of a word, and the word away if that was all of it; "8 x" likewise. */
static int
take_count(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        char *end;
        long count = is_digit(words->word[i][0]) ? strtol(words->word[i], &end, 10) : 0;
        bool is_apart = count > 0 && !*end && i + 1 < words->count && !strcmp(words->word[i + 1], "x");

        int after = count ? 0 : take_count_behind(words->word[i]);

        if (after)
            return after;
        if (count < 1 || count > COUNT_MOST || (*end != 'x' && !is_apart))
            continue;
        if (is_apart)
            drop(words, i + 1);
        else
            memmove(words->word[i], end + 1, strlen(end));
        if (is_apart || !words->word[i][0])
            drop(words, i);
        return (int)count;
    }
    return 0;
}

/* "80gb", or "80" before "gb"; 0 when none is said. */
static int
memory_gb(const struct words *words)
{
    static const char *const units[] = {"gb", "gib", "g"};

    for (size_t i = 0; i < words->count; i++) {
        char *end;
        long size = is_digit(words->word[i][0]) ? strtol(words->word[i], &end, 10) : 0;
        const char *unit = size > 0 && !*end && i + 1 < words->count ? words->word[i + 1] : size > 0 ? end : "";

        for (size_t k = 0; k < sizeof units / sizeof *units; k++)
            if (size > 0 && size < 10000 && !strcmp(unit, units[k]))
                return (int)size;
    }
    return 0;
}

/* "h100", "h100sxm5", "h100ib": the chip's name and nothing but its form behind it. */
static const char *
behind(const char *word, const char *name)
{
    static const char *const forms[] = {"sxm", "pcie", "nvl", "ib"};
    size_t size = strlen(name);

    if (strncmp(word, name, size))
        return NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strncmp(word + size, forms[i], strlen(forms[i])))
            return word + size;
    return word[size] ? NULL : word + size;
}

/* NVLink joins chips of any form. */
static bool
is_form(const char *word, const char *form)
{
    return !strncmp(word, form, strlen(form)) && strncmp(word, "nvlink", 6);
}

static bool
has_form(const struct words *words, const char *rest, const char *form)
{
    if (!form || is_form(rest, form))
        return true;
    for (size_t i = 0; i < words->count; i++)
        if (is_form(words->word[i], form))
            return true;
    return false;
}

bool
gpu_name_find(struct field text, struct gpu_name *ret_name)
{
    struct words words;
    int count, memory;

    split(text, &words);
    join(&words);
    count = take_count(&words);
    memory = memory_gb(&words);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        for (size_t k = 0; k < words.count; k++) {
            const char *rest = behind(words.word[k], chips[i].name);

            if (!rest || (chips[i].memory_gb && chips[i].memory_gb != memory) || !has_form(&words, rest, chips[i].form))
                continue;
            *ret_name = (struct gpu_name){chips[i].model, count};
            return true;
        }
    return false;
}
