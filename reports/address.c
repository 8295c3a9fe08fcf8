/* Lists of mail addresses as people write them; strict about what may reach a header or an
 * envelope. */
#include <config.h>

#include <string.h>

#include "common/utf8.h"
#include "reports/mime.h"

enum { MAILBOX_MAX = 254, NAME_MAX_BYTES = 200 };

static bool
wrong(struct error *err, const char *what, const char *part)
{
    error_set(err, ERR_CONFIG, "%s: \"%.80s\"", what, part);
    return error_hint(
        err,
        "Write addresses as jane@example.com or Jane Doe <jane@example.com>, separated by commas.");
}

static bool
check_mailbox(const char *mailbox, struct error *err)
{
    const char *at = strchr(mailbox, '@');
    if (at == NULL || at == mailbox || at[1] == '\0' || strchr(at + 1, '@') != NULL)
        return wrong(err, "not a mail address", mailbox);
    if (strlen(mailbox) > MAILBOX_MAX)
        return wrong(err, "the mail address is too long", mailbox);
    for (const char *c = mailbox; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7F ||
            strchr("<>()[],;:\\\"", *c) != NULL)
            return wrong(err, "a character that mail addresses cannot hold", mailbox);
    return true;
}

static bool
check_name(const char *name, struct error *err)
{
    size_t left = strlen(name), size;
    if (left > NAME_MAX_BYTES)
        return wrong(err, "the name is too long", name);
    for (; left > 0; name += size, left -= size) {
        size = utf8_size(name, left);
        if (size == 0 || (unsigned char)*name < ' ' || *name == 0x7F)
            return wrong(err, "a control character or broken UTF-8 in the name", name);
    }
    return true;
}

static char *
trimmed(struct arena *arena, const char *text, size_t size)
{
    while (size > 0 && strchr(" \t", text[0]) != NULL) {
        text++;
        size--;
    }
    while (size > 0 && strchr(" \t", text[size - 1]) != NULL)
        size--;
    return arena_strndup(arena, text, size);
}

/* Takes the quotes of "Doe, \"JD\" Jane" away. */
static char *
unquoted(char *name)
{
    size_t size = strlen(name), used = 0;
    if (size < 2 || name[0] != '"' || name[size - 1] != '"')
        return name;
    for (size_t i = 1; i + 1 < size; i++) {
        if (name[i] == '\\' && i + 2 < size)
            i++;
        name[used++] = name[i];
    }
    name[used] = '\0';
    return name;
}

/* Bytes up to the comma that ends the entry; commas in quotes do not. */
static size_t
entry_size(const char *text)
{
    bool is_quoted = false;
    size_t size = 0;
    for (; text[size] != '\0' && (is_quoted || text[size] != ','); size++) {
        if (is_quoted && text[size] == '\\' && text[size + 1] != '\0')
            size++;
        else if (text[size] == '"')
            is_quoted = !is_quoted;
    }
    return size;
}

static bool
parse_entry(struct arena *arena, const char *entry, struct address *ret_address, struct error *err)
{
    const char *open = strrchr(entry, '<');
    size_t size = strlen(entry);
    struct address address = {.name = "", .mailbox = entry};
    if (open != NULL) {
        if (entry[size - 1] != '>')
            return wrong(err, "text after the mail address", entry);
        address.mailbox = trimmed(arena, open + 1, size - (size_t)(open - entry) - 2);
        address.name = unquoted(trimmed(arena, entry, (size_t)(open - entry)));
    }
    if (!check_mailbox(address.mailbox, err) || !check_name(address.name, err))
        return false;
    *ret_address = address;
    return true;
}

bool
address_parse(struct arena *arena, const char *text, struct address **ret_list, struct error *err)
{
    struct address *first = NULL, **last = &first;
    for (const char *at = text == NULL ? "" : text; *at != '\0';) {
        size_t size = entry_size(at);
        const char *entry = trimmed(arena, at, size);
        at += size + (at[size] == ',');
        if (entry[0] == '\0') /* a comma too many does no harm */
            continue;
        struct address *address = arena_alloc(arena, sizeof *address);
        if (!parse_entry(arena, entry, address, err))
            return false;
        *last = address;
        last = &address->next;
    }
    *ret_list = first;
    return true;
}
