/* The HTTP client against a real socket: a small server in a thread that follows a script. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/http.h"

enum { REQUEST_BYTES = 8192 };

/* Answers in turn, one connection each; what was asked is kept. */
struct server {
    int listener, port;
    const char *const *answers; /* NULL-ended */
    pthread_t thread;
    char asked[16][REQUEST_BYTES];
    size_t count;
};

/* Head and, where it says so, body of a request. */
static void
read_request(int connection, char *into)
{
    size_t size = 0;
    const char *body, *length;

    for (;;) {
        ssize_t got = read(connection, into + size, REQUEST_BYTES - 1 - size);

        if (got <= 0) {
            break;
        }
        size += (size_t)got;
        into[size] = '\0';
        body = strstr(into, "\r\n\r\n");
        length = strcasestr(into, "\r\ncontent-length:");
        if (body && (!length || strlen(body + 4) >= strtoul(length + 17, NULL, 10))) {
            break;
        }
    }
}

static void *
serve(void *context)
{
    struct server *server = context;

    for (size_t i = 0; server->answers[i]; i++) {
        int connection = accept(server->listener, NULL, NULL);

        if (connection < 0) {
            break;
        }
        read_request(connection, server->asked[i]);
        server->count = i + 1;
        if (write(connection, server->answers[i], strlen(server->answers[i])) < 0) {
            /* the client has gone: the test sees what it got */
        }
        close(connection);
    }
    return NULL;
}

static void
server_start(struct server *server, const char *const *answers)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);

    memset(server, 0, sizeof(*server));
    server->answers = answers;
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server->listener, 16), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void
server_stop(struct server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    close(server->listener);
    pthread_join(server->thread, NULL);
}

/* A client of a section with these keys. */
struct client {
    struct arena arena;
    struct settings settings;
    struct section section;
    struct setting keys[4];
    struct http *http;
};

static bool
client_open(struct client *client, const char *const *keys, struct error *err)
{
    memset(client, 0, sizeof(*client));
    client->settings.arena = &client->arena;
    client->section.kind = "telemetry";
    client->section.name = "t";
    for (size_t i = 0; keys[2 * i]; i++) {
        client->keys[i] = (struct setting){
            .key = keys[2 * i], .value = keys[2 * i + 1], .next = client->section.settings};
        client->section.settings = &client->keys[i];
    }
    return http_open(&client->http, &client->settings, &client->section, err);
}

static void
client_close(struct client *client)
{
    http_close(client->http);
    arena_free(&client->arena);
}

#define OK_ANSWER(body)                                                                            \
    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n" body
#define STATUS(line) "HTTP/1.1 " line "\r\nConnection: close\r\nContent-Length: 9\r\n\r\nno\nreason"

static const char *const no_keys[] = {NULL};

/* Sends one request to a server with this script; the error is left in err. */
static bool
send_one(const char *const *answers, const char *const *keys, struct http_request request,
         struct http_reply *reply, struct server *server, struct error *err)
{
    struct client client;
    char url[64];
    bool good;

    server_start(server, answers);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/api?secret=1", server->port);
    request.url = url;
    assert_true(client_open(&client, keys, err));
    good = http_send(client.http, &request, reply, err);
    client_close(&client);
    server_stop(server);
    return good;
}

static void
test_plain(void **state)
{
    static const char *const answers[] = {OK_ANSWER("hello"), NULL};
    static const char *const keys[] = {"org-id", "tenant-1", "header", "X-One: two", NULL};
    struct http_request request = {
        .method = "POST", .body = "a=b", .content_type = "application/x-www-form-urlencoded"};
    struct server server;
    struct http_reply reply;
    struct error err = {0};

    (void)state;
    assert_true(send_one(answers, keys, request, &reply, &server, &err));
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body.data, "hello");
    assert_string_equal(reply.content_type, "text/plain");
    assert_non_null(strstr(server.asked[0], "POST /api?secret=1 HTTP"));
    assert_non_null(strstr(server.asked[0], "X-Scope-OrgID: tenant-1\r\n"));
    assert_non_null(strstr(server.asked[0], "X-One: two\r\n"));
    assert_non_null(strstr(server.asked[0], "Content-Type: application/x-www-form-urlencoded\r\n"));
    assert_non_null(strstr(server.asked[0], "Accept-Encoding:"));
    assert_non_null(strstr(server.asked[0], "\r\n\r\na=b"));
    assert_null(strstr(server.asked[0], "Authorization"));
    buf_free(&reply.body);
}

/* What passes is tried again, what does not is not. */
static void
test_retry(void **state)
{
    static const char *const later[] = {
        STATUS("503 Busy"),
        "HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf",
        OK_ANSWER("at last"), NULL};
    static const char *const never[] = {STATUS("400 Bad"), OK_ANSWER("not asked"), NULL};
    struct http_request request = {.method = "GET"};
    struct server server;
    struct http_reply reply;
    struct error err = {0};

    (void)state;
    assert_true(send_one(later, no_keys, request, &reply, &server, &err));
    assert_string_equal(reply.body.data, "at last");
    assert_int_equal(server.count, 4);
    buf_free(&reply.body);

    assert_false(send_one(never, no_keys, request, &reply, &server, &err));
    assert_int_equal(err.code, ERR_NET);
    assert_int_equal(reply.status, 400);
    assert_int_equal(server.count, 1);
    assert_non_null(strstr(err.text, "/api: status 400"));
    assert_null(strstr(err.text, "secret"));
    assert_string_equal(err.detail, "the server says: no reason");
    assert_string_equal(reply.body.data, "no\nreason");
    buf_free(&reply.body);
}

static void
test_refused(void **state)
{
    static const char *const answers[] = {STATUS("401 Who"), NULL};
    static const char *const keys[] = {"user", "me", "password-env", "AUDIT_TEST_PASSWORD", NULL};
    struct http_request request = {.method = "GET"};
    struct server server;
    struct http_reply reply;
    struct error err = {0};

    (void)state;
    setenv("AUDIT_TEST_PASSWORD", "a-long-password", 1);
    assert_false(send_one(answers, keys, request, &reply, &server, &err));
    assert_non_null(strstr(server.asked[0], "Authorization: Basic bWU6YS1sb25nLXBhc3N3b3Jk\r\n"));
    assert_non_null(strstr(err.hint, "password-env in [telemetry t]"));
    assert_null(strstr(err.text, "a-long-password"));
    buf_free(&reply.body);
    assert_false(send_one(answers, no_keys, request, &reply, &server, &err));
    assert_non_null(strstr(err.hint, "wants credentials"));
    buf_free(&reply.body);
}

static void
test_too_large(void **state)
{
    static const char *const answers[] = {OK_ANSWER("0123456789"), NULL};
    struct http_request request = {.method = "GET", .limit_bytes = 9};
    struct server server;
    struct http_reply reply;
    struct error err = {0};

    (void)state;
    assert_false(send_one(answers, no_keys, request, &reply, &server, &err));
    assert_non_null(strstr(err.text, "the answer is larger"));
    assert_true(reply.is_too_large);
    buf_free(&reply.body);
    request.limit_bytes = 10;
    assert_true(send_one(answers, no_keys, request, &reply, &server, &err));
    buf_free(&reply.body);
}

static bool
is_422(long status, const struct buf *body)
{
    return body && status == 422;
}

static bool
collect(void *context, size_t index, struct http_reply *reply, struct error *err)
{
    struct buf *into = context;

    (void)err;
    buf_printf(into, "%zu:%ld ", index, reply->status);
    return true;
}

/* Replies come in order whatever the order of their arrival; a status the caller takes is no
 * failure. */
static void
test_several(void **state)
{
    static const char *const answers[] = {OK_ANSWER("1"), OK_ANSWER("2"), STATUS("422 Much"),
                                          OK_ANSWER("4"), OK_ANSWER("5"), NULL};
    struct http_request requests[5];
    struct buf seen = {0};
    struct server server;
    struct client client;
    struct error err = {0};
    char url[64];

    (void)state;
    server_start(&server, answers);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", server.port);
    for (int i = 0; i < 5; i++) {
        requests[i] = (struct http_request){.method = "GET", .url = url, .is_answer = is_422};
    }
    assert_true(client_open(&client, no_keys, &err));
    assert_true(http_send_all(client.http, requests, 5, 1, collect, &seen, &err));
    assert_string_equal(seen.data, "0:200 1:200 2:422 3:200 4:200 ");
    client_close(&client);
    server_stop(&server);
    buf_free(&seen);
}

static void
test_configuration(void **state)
{
    static const char *const cases[][3] = {
        {"url", "ftp://example.com", "does not begin with http"},
        {"url", "https://me:secret@example.com/x", "holds a user or password"},
        {"header", "no colon", "is not \"Name: value\""},
        {"header", "A: b\r\nC: d", "is not \"Name: value\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const keys[] = {cases[i][0], cases[i][1], NULL};
        struct client client;
        struct error err = {0};

        assert_false(client_open(&client, keys, &err));
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.text, cases[i][2]));
        assert_null(strstr(err.text, "secret"));
        client_close(&client);
    }
}

static void
test_escape(void **state)
{
    struct arena arena = {0};

    (void)state;
    assert_string_equal(http_escape(&arena, "sum by (UUID) (x{a!=\"\"}[1h])"),
                        "sum%20by%20%28UUID%29%20%28x%7Ba%21%3D%22%22%7D%5B1h%5D%29");
    assert_string_equal(http_escape(&arena, "a-b._~\xc3\xa9"), "a-b._~%C3%A9");
    assert_string_equal(http_escape(&arena, ""), "");
    arena_free(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),   cmocka_unit_test(test_retry),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_several), cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_escape),
    };

    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
