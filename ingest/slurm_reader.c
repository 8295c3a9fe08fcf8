/* Text or JSON, told apart by how it begins. */
#include <config.h>

#include <string.h>

#include "ingest/slurm.h"

static bool
read_peeked(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct slurm_reader *reader = context;
    size_t left = reader->peeked_size - reader->peeked_at;

    if (left == 0) {
        return reader->from.read(reader->from.context, into, room, ret_size, err);
    }
    left = left < room ? left : room;
    memcpy(into, reader->peeked + reader->peeked_at, left);
    reader->peeked_at += left;
    *ret_size = left;
    return true;
}

/* Reads on until something else than a blank is there; a byte order mark is passed over. */
static bool
peek(struct slurm_reader *reader, struct error *err)
{
    size_t size = 1, at = 0;

    for (;;) {
        const char *text = reader->peeked;

        if (reader->peeked_size >= 3 && at == 0 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
            at = reader->peeked_at = 3;
        }
        while (at < reader->peeked_size && memchr(" \t\r\n", text[at], 4)) {
            at++;
        }
        if (at < reader->peeked_size && (unsigned char)text[at] < 0x80) {
            reader->is_json = text[at] == '{';
            return true;
        }
        if (size == 0 || reader->peeked_size == sizeof(reader->peeked)) {
            return true; /* nothing but blanks, or no text at all */
        }
        if (!reader->from.read(reader->from.context, reader->peeked + reader->peeked_size,
                               sizeof(reader->peeked) - reader->peeked_size, &size, err)) {
            return false;
        }
        reader->peeked_size += size;
    }
}

bool
slurm_reader_open(struct slurm_reader *reader, struct slurm_input input, const char *columns, const char *delimiter,
                  struct error *err)
{
    const struct slurm_input peeked = {reader, read_peeked};

    *reader = (struct slurm_reader){.from = input};
    if (!peek(reader, err)) {
        return false;
    }
    return reader->is_json ? slurm_json_open(&reader->json, peeked, err)
                           : slurm_text_open(&reader->text, peeked, columns, delimiter, err);
}

enum slurm_status
slurm_reader_next(struct slurm_reader *reader, struct slurm_record *ret_record, const char **ret_reason, struct error *err)
{
    return reader->is_json ? slurm_json_next(&reader->json, ret_record, ret_reason, err)
                           : slurm_text_next(&reader->text, ret_record, ret_reason, err);
}

void
slurm_reader_close(struct slurm_reader *reader)
{
    slurm_json_close(&reader->json);
    slurm_text_close(&reader->text);
}
