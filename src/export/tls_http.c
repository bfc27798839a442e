// SPDX-License-Identifier: BSD-2-Clause
// Sends requests by HTTPS, see tls_http.h.
#include "export/tls_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct tls_http {
	const struct export_route *route;
	const struct curl_library *curl;
	bool (*stopped)(void *arg);
	void *arg;
	void *easy; /* keeps the connection */
	struct curl_list *headers;
	char error[CURL_ERROR_SIZE];
	struct export_reply *reply; /* of the request in progress */
};

/* --- what libcurl calls --- */

/* Returns how many bytes were taken: fewer end the request. */
static size_t on_body(const char *data, size_t size, size_t count, void *arg)
{
	struct export_reply *reply = ((struct tls_http *)arg)->reply;
	size_t length = size * count;
	unsigned char *body;

	if (reply->length + length > EXPORT_REPLY_MAX)
		return 0;
	body = realloc(reply->body, reply->length + length + 1);
	if (!body)
		return 0;
	memcpy(body + reply->length, data, length);
	reply->body = body;
	reply->length += length;
	return length;
}

static size_t on_header(const char *data, size_t size, size_t count, void *arg)
{
	static const char name[] = "retry-after:";
	struct export_reply *reply = ((struct tls_http *)arg)->reply;
	size_t length = size * count, at = sizeof(name) - 1, end = length;

	if (length < at || strncasecmp(data, name, at) != 0)
		return length;
	while (at < length && data[at] == ' ')
		at++;
	while (end > at && (data[end - 1] == '\r' || data[end - 1] == '\n'))
		end--;
	if (end - at < sizeof(reply->retry_after)) {
		memcpy(reply->retry_after, data + at, end - at);
		reply->retry_after[end - at] = '\0';
	}
	return length;
}

/* Not 0 ends the request. */
static int on_progress(void *arg, long long all, long long now, long long all_up, long long now_up)
{
	const struct tls_http *http = arg;

	(void)all, (void)now, (void)all_up, (void)now_up;
	return http->stopped(http->arg);
}

/* --- setting up --- */

static bool add_header(struct tls_http *http, const char *name, const char *value)
{
	struct curl_list *list;
	char *line;

	if (asprintf(&line, "%s: %s", name, value) < 0)
		return false;
	list = http->curl->slist_append(http->headers, line);
	explicit_bzero(line, strlen(line));
	free(line);
	if (list)
		http->headers = list;
	return list;
}

static bool add_headers(struct tls_http *http)
{
	const struct export_pairs *own = &http->route->headers;
	bool ok = add_header(http, "User-Agent", "gpuprobe/" GPUPROBE_VERSION) &&
		  add_header(http, "Content-Type", "application/x-protobuf");

	/* Without it libcurl would wait for an answer before it sends a large body. */
	ok = ok && add_header(http, "Expect", "");
	if (ok && http->route->gzip)
		ok = add_header(http, "Content-Encoding", "gzip");
	for (size_t i = 0; i < own->count && ok; i++)
		ok = add_header(http, own->items[i].name, own->items[i].value);
	return ok;
}

static int set_pem(struct tls_http *http, enum curl_option option, const struct export_pem *pem)
{
	struct curl_blob_data blob = {pem->data, pem->length, 1};

	return pem->data ? http->curl->easy_setopt(http->easy, option, &blob) : 0;
}

static bool set_options(struct tls_http *http)
{
	int (*set)(void *, int, ...) = http->curl->easy_setopt;
	const struct export_route *route = http->route;
	void *easy = http->easy;
	int ret = set(easy, CURL_URL, route->endpoint.url);

	ret |= set(easy, CURL_PROTOCOLS, CURL_PROTOCOL_HTTPS);
	ret |= set(easy, CURL_NO_SIGNAL, 1l);
	ret |= set(easy, CURL_POST, 1l);
	ret |= set(easy, CURL_HEADERS, http->headers);
	ret |= set(easy, CURL_TIMEOUT_MS, (long)route->timeout_ms);
	ret |= set(easy, CURL_ERROR_BUFFER, http->error);
	ret |= set(easy, CURL_WRITE_FUNCTION, on_body);
	ret |= set(easy, CURL_WRITE_DATA, http);
	ret |= set(easy, CURL_HEADER_FUNCTION, on_header);
	ret |= set(easy, CURL_HEADER_DATA, http);
	ret |= set(easy, CURL_NO_PROGRESS, 0l);
	ret |= set(easy, CURL_PROGRESS_FUNCTION, on_progress);
	ret |= set(easy, CURL_PROGRESS_DATA, http);
	ret |= set_pem(http, CURL_AUTHORITIES_BLOB, &route->authorities);
	ret |= set_pem(http, CURL_CERTIFICATE_BLOB, &route->certificate);
	ret |= set_pem(http, CURL_KEY_BLOB, &route->key);
	return !ret;
}

struct tls_http *tls_http__new(const struct export_route *route, const struct curl_library *library,
			       bool (*stopped)(void *arg), void *arg)
{
	struct tls_http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	*http = (struct tls_http){.route = route, .curl = library, .stopped = stopped, .arg = arg};
	http->easy = library->easy_init();
	if (http->easy && add_headers(http) && set_options(http))
		return http;
	tls_http__free(http);
	return NULL;
}

void tls_http__free(struct tls_http *http)
{
	if (!http)
		return;
	if (http->easy)
		http->curl->easy_cleanup(http->easy);
	if (http->headers)
		http->curl->slist_free_all(http->headers);
	free(http);
}

/* --- a request --- */

void tls_http__post(struct tls_http *http, const void *data, size_t length,
		    struct export_reply *reply)
{
	const struct curl_library *curl = http->curl;
	const char *type = NULL;
	long status = 0;
	int code;

	http->reply = reply;
	http->error[0] = '\0';
	curl->easy_setopt(http->easy, CURL_POST_FIELDS, data);
	curl->easy_setopt(http->easy, CURL_POST_SIZE, (long long)length);
	code = curl->easy_perform(http->easy);
	if (code) {
		export_reply__clear(reply);
		snprintf(reply->failure, sizeof(reply->failure), "%.*s", EXPORT_REASON_SIZE - 1,
			 http->error[0] ? http->error : curl->easy_strerror(code));
	} else {
		curl->easy_getinfo(http->easy, CURL_INFO_STATUS, &status);
		curl->easy_getinfo(http->easy, CURL_INFO_CONTENT_TYPE, &type);
		reply->status = (int)status;
		reply->is_text = !type || strncmp(type, "application/x-protobuf", 22) != 0;
	}
	http->reply = NULL;
}
