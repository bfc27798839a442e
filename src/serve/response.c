// SPDX-License-Identifier: BSD-2-Clause
// Builds an HTTP response; see response.h.
#include "serve/response.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text_stream.h"

static const char *reason_of(int status)
{
	switch (status) {
	case 200: return "OK";
	case 400: return "Bad Request";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 413: return "Content Too Large";
	case 414: return "URI Too Long";
	case 431: return "Request Header Fields Too Large";
	case 505: return "HTTP Version Not Supported";
	default: return "Internal Server Error";
	}
}

/* `colon` and `why` are empty if there is no explanation. */
static int set_line(struct response *response, int status, const char *colon, const char *why,
		    size_t *total)
{
	char *text;

	memset(response, 0, sizeof(*response));
	response->status = status;
	response->content_type = "text/plain; charset=utf-8";
	if (asprintf(&text, "%d %s%s%s\n", status, reason_of(status), colon, why) < 0)
		return -ENOMEM;
	response->body = body__new(text, strlen(text), total);
	return response->body ? 0 : -ENOMEM;
}

int response__status(struct response *response, int status, size_t *total)
{
	return set_line(response, status, "", "", total);
}

int response__refuse(struct response *response, int status, const char *why, size_t *total)
{
	return set_line(response, status, ": ", why, total);
}

void response__clear(struct response *response)
{
	body__release(response->body);
	response->body = NULL;
}

static void print_date(FILE *out)
{
	time_t now = time(NULL);
	char text[64];
	struct tm tm;

	if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm))
		fprintf(out, "Date: %s\r\n", text);
}

static void print_head(FILE *out, const struct response *r, const char *version)
{
	fprintf(out, "HTTP/1.1 %d %s\r\n", r->status, reason_of(r->status));
	print_date(out);
	fprintf(out, "Server: gpuprobe/%s\r\n", version);
	fprintf(out, "Content-Type: %s\r\n", r->content_type);
	fprintf(out, "Content-Length: %zu\r\n", r->body->length);
	fputs("X-Content-Type-Options: nosniff\r\n", out);
	if (r->policy)
		fprintf(out,
			"Content-Security-Policy: %s\r\n"
			"Cross-Origin-Resource-Policy: same-origin\r\n"
			"Referrer-Policy: no-referrer\r\n"
			"Cache-Control: no-store\r\n",
			r->policy);
	if (r->gzipped)
		fputs("Content-Encoding: gzip\r\n", out);
	if (r->negotiated)
		fputs("Vary: Accept, Accept-Encoding\r\n", out);
	if (r->allow)
		fputs("Allow: GET, HEAD\r\n", out);
	fprintf(out, "Connection: %s\r\n\r\n", r->close ? "close" : "keep-alive");
}

int response__build_head(const struct response *response, const char *version, char **out,
			 size_t *length)
{
	FILE *stream = text_stream__open(out, length);
	int failed;

	if (!stream)
		return -ENOMEM;
	print_head(stream, response, version);
	failed = ferror(stream);
	if (fclose(stream) || failed) {
		free(*out);
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}
