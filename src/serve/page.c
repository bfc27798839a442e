// SPDX-License-Identifier: BSD-2-Clause
// The server's pages; see page.h.
#include "serve/page.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "serve/foreign.h"
#include "serve/gzip.h"
#include "serve/negotiate.h"

/* The requested form of a page, and its reading: see http_options.render. */
struct requested_page {
	enum exposition form;
	bool anew;
	uint64_t reading;
};

struct page {
	const char *path;
	const char *content_type; /* NULL: the metrics, negotiated */
	/* Writes the body onto a stream; 0 or a negative errno. */
	int (*write)(const struct http_options *options, struct requested_page *requested,
		     FILE *out);
};

static int write_landing(const struct http_options *options, struct requested_page *requested,
			 FILE *out)
{
	(void)requested;
	if (options->landing)
		return options->landing(options->arg, out);
	fprintf(out,
		"<!DOCTYPE html>\n"
		"<html lang=\"en\">\n"
		"<head><meta charset=\"utf-8\"><title>gpuprobe</title></head>\n"
		"<body>\n"
		"<h1>gpuprobe %s</h1>\n"
		"<p>Watches the memory, launches and copies of CUDA programs from outside.</p>\n"
		"<ul>\n"
		"<li><a href=\"/metrics\">/metrics</a>: OpenMetrics or Prometheus text</li>\n"
		"<li><a href=\"/healthz\">/healthz</a>: answers ok</li>\n"
		"</ul>\n"
		"</body>\n"
		"</html>\n",
		options->version);
	return 0;
}

static int write_health(const struct http_options *options, struct requested_page *requested,
			FILE *out)
{
	(void)options;
	(void)requested;
	fputs("ok\n", out);
	return 0;
}

static int write_metrics(const struct http_options *options, struct requested_page *requested,
			 FILE *out)
{
	return options->render(options->arg, requested->form, requested->anew, &requested->reading,
			       out);
}

static const struct page served[] = {
	{"/metrics", NULL, write_metrics},
	{"/", "text/html; charset=utf-8", write_landing},
	{"/healthz", "text/plain; charset=utf-8", write_health},
};

static const struct page *find_page(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
		if (!strcmp(served[i].path, path))
			return &served[i];
	}
	return NULL;
}

/* Writes a body onto a stream; 0 or a negative errno. */
struct writer {
	int (*write)(void *arg, FILE *out);
	void *arg;
};

/* Returns the bytes that are written; none on error. */
static int write_text(const struct writer *writer, char **text, size_t *length)
{
	FILE *out = text_stream__open(text, length);
	int err;

	if (!out)
		return -ENOMEM;
	/*
	 * Only this thread uses the stream, and locking it for each piece of a line would take as
	 * long as writing the piece.
	 */
	__fsetlocking(out, FSETLOCKING_BYCALLER);
	err = writer->write(writer->arg, out);
	if (!err && ferror(out))
		err = -ENOMEM;
	if (fclose(out))
		return -ENOMEM;
	if (err)
		free(*text);
	return err;
}

/* Returns false if the body cannot be compressed; it then stays as it is. */
static bool compress(char **text, size_t *length)
{
	size_t out_length;
	char *out;

	if (gzip__compress(*text, *length, &out, &out_length))
		return false;
	free(*text);
	*text = out;
	*length = out_length;
	return true;
}

/* Makes the body, compressed if `r` says so. */
static int make_body(struct pages *pages, const struct writer *writer, struct response *r)
{
	size_t length;
	char *text;
	int err = write_text(writer, &text, &length);

	if (err)
		return err;
	r->gzipped = r->gzipped && compress(&text, &length);
	r->body = body__new(text, length, pages__total(pages));
	return r->body ? 0 : -ENOMEM;
}

/* --- the metrics and the fixed pages --- */

struct page_call {
	const struct http_options *options;
	const struct page *page;
	struct requested_page requested;
};

static int write_page(void *arg, FILE *out)
{
	struct page_call *call = arg;

	return call->page->write(call->options, &call->requested, out);
}

/* Takes a recent page, or makes a new one. */
static int take_metrics(const struct http_options *options, struct pages *pages,
			const struct page *page, enum exposition form, struct response *r)
{
	struct page_call call = {options, page, {.form = form, .anew = !pages__rest(pages)}};
	uint64_t began = clock__thread_ns();
	int err;

	r->body = pages__find(pages, form, r->gzipped);
	if (r->body)
		return 0;
	err = make_body(pages, &(struct writer){write_page, &call}, r);
	if (!err)
		pages__keep(pages, form, r->gzipped, r->body, clock__thread_ns() - began,
			    call.requested.reading);
	return err;
}

static int send_page(const struct http_options *options, struct pages *pages,
		     const struct page *page, const struct request *request, struct response *r)
{
	struct page_call plain = {options, page, {.form = EXPOSITION_PROMETHEUS}};
	enum exposition form;
	int err;

	memset(r, 0, sizeof(*r));
	r->status = 200;
	r->content_type = page->content_type;
	if (page->content_type) {
		err = make_body(pages, &(struct writer){write_page, &plain}, r);
	} else {
		r->negotiated = true;
		r->gzipped = negotiate__gzip(request->accept_encoding);
		form = negotiate__exposition(request->has_accept ? request->accept : NULL,
					     &r->content_type);
		err = take_metrics(options, pages, page, form, r);
	}
	return err ? response__status(r, 500, pages__total(pages)) : 0;
}

/* --- the page for a person --- */

struct web_call {
	const struct http_options *options;
	const char *path;
	struct http_kind kind;
};

static int write_web(void *arg, FILE *out)
{
	struct web_call *call = arg;

	return call->options->web(call->options->arg, call->path, &call->kind, out);
}

static bool serves_web(const struct http_options *options, bool local)
{
	return options->web &&
	       (options->audience == HTTP_ALL || (options->audience == HTTP_LOCAL && local));
}

static int send_web(const struct http_options *options, struct pages *pages,
		    const struct request *request, struct response *r)
{
	struct web_call call = {.options = options, .path = request->path};
	int err;

	memset(r, 0, sizeof(*r));
	r->status = 200;
	r->negotiated = true;
	r->gzipped = negotiate__gzip(request->accept_encoding);
	err = make_body(pages, &(struct writer){write_web, &call}, r);
	r->content_type = call.kind.content_type;
	r->policy = call.kind.policy;
	if (!err)
		return 0;
	return response__status(r, err == -ENOENT ? 404 : 500, pages__total(pages));
}

/* --- which one --- */

static bool is_web_path(const char *path)
{
	return !strncmp(path, "/api/", strlen("/api/")) || !strncmp(path, "/web/", strlen("/web/"));
}

static int choose(const struct http_options *options, struct pages *pages,
		  const struct request *request, bool local, struct response *r)
{
	const struct page *page = find_page(request->path);
	const char *foreign = foreign__why(&request->sender);
	bool web = is_web_path(request->path), serves = serves_web(options, local);
	int err;

	if (foreign)
		return response__refuse(r, 403, foreign, pages__total(pages));
	if (web && !serves && options->web && options->audience == HTTP_LOCAL)
		return response__refuse(r, 403,
					"only for clients on this machine; start gpuprobe "
					"with --web all to serve others",
					pages__total(pages));
	if (!page && !(web && serves))
		return response__status(r, 404, pages__total(pages));
	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
		err = response__status(r, 405, pages__total(pages));
		r->allow = true;
		return err;
	}
	/* No page accepts a body, so no body must be skipped to find the next request. */
	if (request->has_body)
		return response__status(r, 413, pages__total(pages));
	if (serves && (web || page->write == write_landing))
		return send_web(options, pages, request, r);
	return send_page(options, pages, page, request, r);
}

int page__respond(const struct http_options *options, struct pages *pages,
		  const struct request *request, bool local, struct response *response)
{
	int err = choose(options, pages, request, local, response);

	response->head_only = !strcmp(request->method, "HEAD");
	response->close = !request->keep_alive || request->has_body;
	return err;
}
