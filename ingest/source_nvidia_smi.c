/*
 * Logs of nvidia-smi, one file a host: `nvidia-smi --query-gpu=timestamp,index,uuid,name,
 * utilization.gpu,memory.used,memory.total,power.draw --format=csv -l 60 >> HOST.csv`.
 *
 * Times are the host's clock: time-zone says which. The host is a column, else a key, else the file's
 * name up to its first dot. A GPU without a UUID is known by its host and bus or index.
 */
#include <config.h>

#include <string.h>

#include "common/log.h"
#include "ingest/nvidia_smi.h"
#include "ingest/telemetry_files.h"
#include "ingest/time_zone.h"

enum { LINE_MOST = 64 * 1024, SECOND_MS = 1000 };

struct smi_source {
    const char *host; /* NULL: the file's name */
    const char *columns;
    const struct time_zone *zone; /* NULL: UTC */
};

struct smi_file {
    const struct telemetry_files *files;
    struct telemetry_file *file;
    const struct smi_source *source;
    struct telemetry_feed *feed;
    bool is_taking;
    struct smi_columns columns;
    bool has_columns;
    int64_t last_ms; /* of the last row */
    char host[256];
};

/* ---------------------------------------------------------------- rows */

/* Of an hour that comes twice the second, once the first has gone by. */
static bool
utc_of(const struct smi_file *smi, int64_t local_ms, int64_t *ret_ms)
{
    int64_t local = local_ms / SECOND_MS, times[2] = {local, local};
    enum time_zone_found found = TIME_ONCE;

    if (smi->source->zone)
        found = time_zone_find(smi->source->zone, local, times);
    if (found == TIME_NONE)
        return false;
    if (found == TIME_TWICE && times[0] * SECOND_MS + SECOND_MS <= smi->last_ms)
        times[0] = times[1];
    *ret_ms = times[0] * SECOND_MS + local_ms % SECOND_MS;
    return true;
}

static const char *
text_of(struct arena *arena, struct field field)
{
    return arena_strndup(arena, field.text, field.size);
}

/* Who a row is of, as labels. */
static size_t
labels_of(const struct smi_file *smi, const struct smi_row *row, struct arena *arena, struct label labels[4])
{
    const char *host = row->text[SMI_HOST].size ? text_of(arena, row->text[SMI_HOST]) : smi->host;
    const struct field *place = row->text[SMI_BUS].size ? &row->text[SMI_BUS] : &row->text[SMI_INDEX];
    size_t count = 0;

    labels[count++] = (struct label){"hostname", host};
    if (row->text[SMI_UUID].size)
        labels[count++] = (struct label){"uuid", text_of(arena, row->text[SMI_UUID])};
    else if (place->size)
        labels[count++] = (struct label){"uuid", arena_printf(arena, "%s/%.*s", host, (int)place->size, place->text)};
    if (row->text[SMI_INDEX].size)
        labels[count++] = (struct label){"gpu", text_of(arena, row->text[SMI_INDEX])};
    if (row->text[SMI_NAME].size)
        labels[count++] = (struct label){"model_name", text_of(arena, row->text[SMI_NAME])};
    return count;
}

static bool
take_row(struct smi_file *smi, const struct smi_row *row, int64_t time_ms, struct error *err)
{
    struct arena scratch = {0};
    struct label labels[4];
    size_t count = labels_of(smi, row, &scratch, labels);
    bool good = true;

    for (size_t i = 0; good && i < row->value_count; i++)
        good = telemetry_value(smi->feed, labels, count, row->value[i].metric, STATISTIC_SAMPLE,
                               (struct matrix_value){time_ms, row->value[i].value}, smi->is_taking, err);
    arena_free(&scratch);
    return good;
}

static void
reject(struct smi_file *smi, const char *reason, struct field line)
{
    int64_t near_ms = smi->last_ms ? smi->last_ms : smi->file->object.first_ms;

    if (smi->is_taking)
        telemetry_reject_line(smi->feed, near_ms, smi->feed->line, reason, line.text, line.size);
}

static bool
take_line(struct smi_file *smi, struct field line, struct error *err)
{
    struct smi_row row;
    const char *reason = NULL;
    int64_t local_ms = 0, time_ms = 0;

    if (smi_is_header(line)) {
        smi->has_columns = smi_header(line, &smi->columns);
        return true;
    }
    if (!smi->has_columns)
        reason = "no header before this line, and no columns key";
    else
        reason = smi_row(&smi->columns, line, &row);
    if (!reason && !smi_time(row.text[SMI_TIMESTAMP], &local_ms))
        reason = "no timestamp as nvidia-smi writes it";
    if (!reason && !utc_of(smi, local_ms, &time_ms))
        reason = "a time that clocks of this zone never show";
    if (reason) {
        reject(smi, reason, line);
        return true;
    }
    smi->last_ms = time_ms > smi->last_ms ? time_ms : smi->last_ms;
    if (row.odd)
        reject(smi, row.odd, line);
    return take_row(smi, &row, time_ms, err);
}

/* ---------------------------------------------------------------- lines */

/* Without a byte order mark before and a carriage return behind it. */
static struct field
bare(struct field line)
{
    if (line.size >= 3 && !memcmp(line.text, "\xEF\xBB\xBF", 3))
        line = (struct field){line.text + 3, line.size - 3};
    while (line.size && (line.text[line.size - 1] == '\r' || line.text[line.size - 1] == ' '))
        line.size--;
    return line;
}

/* All whole lines of the buffer; what is left moves to its front. */
static bool
take_lines(struct smi_file *smi, char *buffer, size_t *size, bool is_end, struct error *err)
{
    char *at = buffer, *end = buffer + *size, *newline;

    while ((newline = memchr(at, '\n', (size_t)(end - at))) || (is_end && at < end)) {
        char *stop = newline ? newline : end;
        struct field line = bare((struct field){at, (size_t)(stop - at)});

        smi->feed->line++;
        if (line.size && !take_line(smi, line, err))
            return false;
        at = newline ? newline + 1 : end;
    }
    *size = (size_t)(end - at);
    memmove(buffer, at, *size);
    return interrupt_check(err);
}

static bool
read_lines(struct smi_file *smi, struct stream *stream, char *buffer, struct error *err)
{
    size_t size = 0, got = 1;

    while (got) {
        if (size == LINE_MOST) {
            error_set(err, ERR_INPUT, "line %llu is longer than %d bytes", (unsigned long long)smi->feed->line + 1, LINE_MOST);
            return false;
        }
        if (!stream_read(stream, buffer + size, LINE_MOST - size, &got, err))
            return false;
        size += got;
        if (!take_lines(smi, buffer, &size, !got, err))
            return false;
    }
    return true;
}

static void
set_host(struct smi_file *smi)
{
    const char *name = smi->source->host ? smi->source->host : smi->file->object.name;
    size_t size = smi->source->host ? strlen(name) : strcspn(name, ".");

    size = size < sizeof smi->host ? size : sizeof smi->host - 1;
    memcpy(smi->host, name, size);
    smi->host[size] = '\0';
}

static bool
read_file(const struct telemetry_files *files, struct telemetry_file *file, struct stream *stream,
          struct telemetry_feed *feed, bool is_taking, struct error *err)
{
    struct smi_file smi = {.files = files, .file = file, .source = files->state, .feed = feed, .is_taking = is_taking};
    struct arena scratch = {0};
    bool good;

    feed->line = 0;
    set_host(&smi);
    if (smi.source->columns)
        smi.has_columns = smi_header((struct field){smi.source->columns, strlen(smi.source->columns)}, &smi.columns);
    good = read_lines(&smi, stream, arena_alloc(&scratch, LINE_MOST), err);
    arena_free(&scratch);
    if (good && !is_taking && file->object.first_ms < 0)
        log_warning("%s: no line has a time and a measurement of a GPU", file->object.path);
    return good;
}

/* ---------------------------------------------------------------- source */

/* "UTC" is said, not guessed: a log does not say whose clock it shows. */
static bool
find_zone(struct source_run *run, struct smi_source *source, struct error *err)
{
    const char *name = section_get(run->section, "time-zone");
    struct time_zone *zone;

    if (!name) {
        error_set(err, ERR_CONFIG, "%s line %d: no time-zone", run->settings->file ? run->settings->file : "configuration",
                  run->section->line);
        return error_hint(err, "Logs of nvidia-smi show the clock of their host: set time-zone to its zone, such as UTC or "
                               "Europe/Berlin.");
    }
    if (!time_zone_load(run->db, run->arena, name, &zone, err)) {
        error_context(err, "%s line %d", run->settings->file ? run->settings->file : "configuration", run->section->line);
        return false;
    }
    source->zone = zone;
    return true;
}

static bool
check_columns(struct source_run *run, const char *columns, struct error *err)
{
    struct smi_columns found;

    if (!columns || smi_header((struct field){columns, strlen(columns)}, &found))
        return true;
    error_set(err, ERR_CONFIG, "%s line %d: columns names no measurement",
              run->settings->file ? run->settings->file : "configuration", run->section->line);
    return error_hint(err, "Give the list that stood behind --query-gpu=, such as timestamp,index,uuid,utilization.gpu.");
}

static bool
nvidia_smi_ingest(struct source_run *run, struct error *err)
{
    static const char *const suffixes[] = {".csv", ".csv.gz", ".log", ".log.gz", NULL};
    static const struct telemetry_files_format format = {
        .suffixes = suffixes,
        .unusable_hint = "Take the file out of the folder, or mend it; nothing of it was loaded.",
        .read = read_file,
    };
    struct smi_source source = {
        .host = section_get(run->section, "host"),
        .columns = section_get(run->section, "columns"),
    };

    return check_columns(run, source.columns, err) && find_zone(run, &source, err)
        && telemetry_files_load(run, &format, &source, err);
}

static const char *const keys[] = {"path", "time-zone", "host", "columns", "sample-interval", NULL};

const struct source source_nvidia_smi = {
    .format = "nvidia-smi",
    .title = "logs of nvidia-smi --query-gpu … --format=csv",
    .kind = SOURCE_TELEMETRY,
    .keys = keys,
    .ingest = nvidia_smi_ingest,
};
