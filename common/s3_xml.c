/* What S3 answers: listings and errors, as XML. Nothing an answer refers to is ever loaded. */
#include <config.h>

#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "common/s3.h"

static xmlDoc *
parse(const struct buf *body)
{
    if (!body->size || body->size > INT32_MAX)
        return NULL;
    return xmlReadMemory(body->data, (int)body->size, NULL, NULL,
                         XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
}

static bool
is_named(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name);
}

/* Text of the first child element of that name; NULL: there is none. */
static const char *
child_text(struct arena *arena, const xmlNode *parent, const char *name)
{
    for (xmlNode *node = parent->children; node; node = node->next)
        if (is_named(node, name)) {
            xmlChar *text = xmlNodeGetContent(node);
            const char *copy = arena_strdup(arena, text ? (const char *)text : "");

            xmlFree(text);
            return copy;
        }
    return NULL;
}

static int
hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* encoding-type=url: a key may hold what XML cannot. */
static const char *
unescape(struct arena *arena, const char *text)
{
    char *plain = arena_strdup(arena, text), *to = plain;

    for (; *text; text++) {
        int high = *text == '%' ? hex_value(text[1]) : -1, low = high >= 0 ? hex_value(text[2]) : -1;

        if (low >= 0 && (high || low)) {
            *to++ = (char)(high << 4 | low);
            text += 2;
        } else {
            *to++ = *text == '+' ? ' ' : *text;
        }
    }
    *to = '\0';
    return plain;
}

static bool
take_object(struct arena *arena, const xmlNode *node, bool is_escaped, struct object *object)
{
    const char *key = child_text(arena, node, "Key"), *size = child_text(arena, node, "Size");
    const char *modified = child_text(arena, node, "LastModified"), *etag = child_text(arena, node, "ETag");
    char *end = NULL;

    if (!key || !*key || !size || *size < '0' || *size > '9')
        return false;
    *object = (struct object){.key = is_escaped ? unescape(arena, key) : key, .etag = etag ? etag : ""};
    object->size = strtoull(size, &end, 10);
    if (!modified || !time_parse(modified, strlen(modified), &object->modified))
        object->modified = 0;
    return !*end;
}

static bool
take_page(struct arena *arena, const xmlNode *root, struct s3_page *page)
{
    const char *encoding = child_text(arena, root, "EncodingType"), *more = child_text(arena, root, "IsTruncated");
    bool is_escaped = encoding && !strcmp(encoding, "url");
    size_t count = 0;

    for (const xmlNode *node = root->children; node; node = node->next)
        count += is_named(node, "Contents");
    page->object = arena_alloc(arena, (count + 1) * sizeof *page->object);
    for (const xmlNode *node = root->children; node; node = node->next)
        if (is_named(node, "Contents") && !take_object(arena, node, is_escaped, &page->object[page->count++]))
            return false;
    page->next = more && !strcmp(more, "true") ? child_text(arena, root, "NextContinuationToken") : NULL;
    return !more || strcmp(more, "true") || (page->next && *page->next);
}

bool
s3_page_parse(struct arena *arena, const struct buf *body, struct s3_page *ret_page, struct error *err)
{
    struct s3_page page = {0};
    xmlDoc *doc = parse(body);
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    bool is_good = root && is_named(root, "ListBucketResult") && take_page(arena, root, &page);

    xmlFreeDoc(doc);
    if (!is_good)
        return error_set(err, ERR_NET, "the answer is no listing of a bucket");
    *ret_page = page;
    return true;
}

static void
take_text(struct arena *arena, const xmlNode *root, const char *name, char *into, size_t room)
{
    const char *text = child_text(arena, root, name);
    size_t size = 0;

    for (; text && text[size] && size < room - 1; size++)
        into[size] = (unsigned char)text[size] < ' ' ? ' ' : text[size];
    into[size] = '\0';
}

void
s3_fault_parse(const struct buf *body, struct s3_fault *ret_fault)
{
    xmlDoc *doc = parse(body);
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    struct arena arena = {0};

    memset(ret_fault, 0, sizeof *ret_fault);
    if (root && is_named(root, "Error")) {
        take_text(&arena, root, "Code", ret_fault->code, sizeof ret_fault->code);
        take_text(&arena, root, "Message", ret_fault->message, sizeof ret_fault->message);
        take_text(&arena, root, "Region", ret_fault->region, sizeof ret_fault->region);
    }
    arena_free(&arena);
    xmlFreeDoc(doc);
}
