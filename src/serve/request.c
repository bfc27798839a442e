// SPDX-License-Identifier: BSD-2-Clause
// Parses an HTTP request's head; see request.h.
#include "serve/request.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BAD_REQUEST 400
#define URI_TOO_LONG 414
#define HEAD_TOO_LARGE 431
#define BAD_VERSION 505

/* State that is needed only during parsing. */
struct parser {
	struct request *request;
	unsigned int minor; /* of HTTP/1.x */
	unsigned int hosts;
	bool close, keep_alive;
	bool has_length;
};

/* A piece of the head, not NUL-terminated. */
struct text {
	const char *start;
	size_t length;
};

static bool is_token_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct text t)
{
	size_t i;

	for (i = 0; i < t.length; i++) {
		if (!is_token_char(t.start[i]))
			return false;
	}
	return t.length > 0;
}

static bool equals(struct text t, const char *s)
{
	return strlen(s) == t.length && strncasecmp(t.start, s, t.length) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct text trim(struct text t)
{
	while (t.length && is_blank(t.start[0])) {
		t.start++;
		t.length--;
	}
	while (t.length && is_blank(t.start[t.length - 1]))
		t.length--;
	return t;
}

/*
 * Cuts a line off the front of `rest`, without its CRLF or LF. Returns false if `rest` has no line
 * end.
 */
static bool take_line(struct text *rest, struct text *line)
{
	const char *end = memchr(rest->start, '\n', rest->length);

	if (!end)
		return false;
	line->start = rest->start;
	line->length = (size_t)(end - rest->start);
	rest->length -= line->length + 1;
	rest->start = end + 1;
	if (line->length && line->start[line->length - 1] == '\r')
		line->length--;
	return true;
}

static void copy(char *out, size_t size, struct text t)
{
	size_t n = t.length < size ? t.length : size - 1;

	memcpy(out, t.start, n);
	out[n] = '\0';
}

static int parse_version(struct parser *p, struct text t)
{
	if (t.length != 8 || memcmp(t.start, "HTTP/", 5) != 0 ||
	    !isdigit((unsigned char)t.start[5]) || t.start[6] != '.' ||
	    !isdigit((unsigned char)t.start[7]))
		return BAD_REQUEST;
	if (t.start[5] != '1')
		return BAD_VERSION;
	p->minor = t.start[7] == '0' ? 0 : 1;
	return REQUEST_COMPLETE;
}

/* Extracts the path from "/metrics?x=y" and from "http://host/metrics"; "*" stays as it is. */
static int parse_target(struct parser *p, struct text t)
{
	const char *end;
	size_t i;

	for (i = 0; i < t.length; i++) {
		if ((unsigned char)t.start[i] <= ' ' || t.start[i] == 0x7f)
			return BAD_REQUEST;
	}
	if (t.length >= 7 && strncasecmp(t.start, "http://", 7) == 0) {
		t.start += 7;
		t.length -= 7;
		end = memchr(t.start, '/', t.length);
		if (!end)
			end = t.start + t.length;
		t.length -= (size_t)(end - t.start);
		t.start = end;
		if (!t.length)
			t = (struct text){"/", 1};
	} else if (!equals(t, "*") && (!t.length || t.start[0] != '/')) {
		return BAD_REQUEST;
	}
	end = memchr(t.start, '?', t.length);
	if (end)
		t.length = (size_t)(end - t.start);
	copy(p->request->path, sizeof(p->request->path), t);
	return REQUEST_COMPLETE;
}

/* Parses METHOD SP TARGET SP VERSION. */
static int parse_request_line(struct parser *p, struct text line)
{
	const char *first = memchr(line.start, ' ', line.length), *last;
	struct text method;
	int status;

	if (!first)
		return BAD_REQUEST;
	for (last = line.start + line.length - 1; *last != ' '; last--)
		;
	if (first == last)
		return BAD_REQUEST;
	method = (struct text){line.start, (size_t)(first - line.start)};
	if (!is_token(method))
		return BAD_REQUEST;
	copy(p->request->method, sizeof(p->request->method), method);
	status = parse_version(
		p, (struct text){last + 1, line.length - (size_t)(last + 1 - line.start)});
	if (status != REQUEST_COMPLETE)
		return status;
	return parse_target(p, (struct text){first + 1, (size_t)(last - first - 1)});
}

/* Appends a header's value to those of the same name. All come from one head, so they fit. */
static void join(char *out, size_t size, struct text value)
{
	size_t n = strlen(out);

	if (n && n + 1 < size)
		out[n++] = ',';
	copy(out + n, size - n, value);
}

static void parse_connection(struct parser *p, struct text value)
{
	const char *comma;
	struct text option;

	do {
		comma = memchr(value.start, ',', value.length);
		option = value;
		if (comma) {
			option.length = (size_t)(comma - value.start);
			value.length -= option.length + 1;
			value.start = comma + 1;
		}
		option = trim(option);
		if (equals(option, "close"))
			p->close = true;
		else if (equals(option, "keep-alive"))
			p->keep_alive = true;
	} while (comma);
}

static int parse_content_length(struct parser *p, struct text value)
{
	size_t i;

	if (!value.length || p->has_length)
		return BAD_REQUEST;
	p->has_length = true;
	for (i = 0; i < value.length; i++) {
		if (!isdigit((unsigned char)value.start[i]))
			return BAD_REQUEST;
		if (value.start[i] != '0')
			p->request->has_body = true;
	}
	return REQUEST_COMPLETE;
}

static bool begins(struct text t, const char *s)
{
	return t.length >= strlen(s) && !strncasecmp(t.start, s, strlen(s));
}

/* A page can change some of these headers, but it cannot make the browser omit all of them. */
static bool is_of_browser(struct text name, struct text value)
{
	return equals(name, "accept-language") || equals(name, "origin") ||
	       equals(name, "referer") || equals(name, "upgrade-insecure-requests") ||
	       begins(name, "sec-") || (equals(name, "user-agent") && begins(value, "mozilla/"));
}

static void take_sender(struct request_sender *sender, struct text name, struct text value)
{
	const struct {
		const char *name;
		char *out;
		size_t size;
	} kept[] = {
		{"host", sender->host, sizeof(sender->host)},
		{"origin", sender->origin, sizeof(sender->origin)},
		{"sec-fetch-site", sender->site, sizeof(sender->site)},
		{"sec-fetch-mode", sender->mode, sizeof(sender->mode)},
		{"sec-fetch-dest", sender->dest, sizeof(sender->dest)},
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (equals(name, kept[i].name))
			copy(kept[i].out, kept[i].size, value);
	sender->browser |= is_of_browser(name, value);
}

static int take_header(struct parser *p, struct text name, struct text value)
{
	struct request *r = p->request;

	take_sender(&r->sender, name, value);
	if (equals(name, "accept")) {
		r->has_accept = true;
		join(r->accept, sizeof(r->accept), value);
	} else if (equals(name, "accept-encoding")) {
		join(r->accept_encoding, sizeof(r->accept_encoding), value);
	} else if (equals(name, "connection")) {
		parse_connection(p, value);
	} else if (equals(name, "host")) {
		p->hosts++;
	} else if (equals(name, "content-length")) {
		return parse_content_length(p, value);
	} else if (equals(name, "transfer-encoding")) {
		r->has_body = true;
	}
	return REQUEST_COMPLETE;
}

static int parse_header(struct parser *p, struct text line)
{
	const char *colon = memchr(line.start, ':', line.length);
	struct text name, value;
	size_t i;

	if (!colon)
		return BAD_REQUEST;
	name = (struct text){line.start, (size_t)(colon - line.start)};
	value = (struct text){colon + 1, line.length - name.length - 1};
	/* Also refuses blanks before the colon, and folded lines, which begin with one. */
	if (!is_token(name))
		return BAD_REQUEST;
	for (i = 0; i < value.length; i++) {
		unsigned char c = (unsigned char)value.start[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return BAD_REQUEST;
	}
	return take_header(p, name, trim(value));
}

static int parse_headers(struct parser *p, struct text *rest)
{
	struct text line;
	int status;

	while (take_line(rest, &line)) {
		if (!line.length)
			return REQUEST_COMPLETE;
		status = parse_header(p, line);
		if (status != REQUEST_COMPLETE)
			return status;
	}
	return REQUEST_INCOMPLETE;
}

static int parse(struct parser *p, struct text *rest)
{
	struct text line;
	int status;

	/* Empty lines before a request are left over from the previous one: RFC 9112, 2.2. */
	do {
		if (!take_line(rest, &line))
			return REQUEST_INCOMPLETE;
	} while (!line.length);
	status = parse_request_line(p, line);
	if (status != REQUEST_COMPLETE)
		return status;
	status = parse_headers(p, rest);
	if (status != REQUEST_COMPLETE)
		return status;
	if (p->hosts > 1 || (p->minor && !p->hosts))
		return BAD_REQUEST;
	p->request->keep_alive = !p->close && (p->minor || p->keep_alive);
	return REQUEST_COMPLETE;
}

int request__parse(const char *data, size_t length, struct request *request, size_t *used)
{
	struct parser p = {.request = request};
	struct text rest = {data, length < REQUEST_HEAD_MAX ? length : REQUEST_HEAD_MAX};
	int status;

	request->method[0] = request->path[0] = '\0';
	request->accept[0] = request->accept_encoding[0] = '\0';
	request->has_accept = request->keep_alive = request->has_body = false;
	request->sender = (struct request_sender){0};
	status = parse(&p, &rest);
	if (status == REQUEST_COMPLETE)
		*used = (size_t)(rest.start - data);
	if (status == REQUEST_INCOMPLETE && length >= REQUEST_HEAD_MAX)
		return memchr(data, '\n', REQUEST_HEAD_MAX) ? HEAD_TOO_LARGE : URI_TOO_LONG;
	return status;
}
