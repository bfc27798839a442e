// SPDX-License-Identifier: BSD-2-Clause
/*
 * Judges what a receiver answered, see reply.h. The answer may be anything: a wrong port may belong
 * to any server.
 */
#include "export/reply.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/protobuf.h"

/* metrics_service.proto and logs_service.proto of OTLP; google/rpc/status.proto */
enum answer_field {
	RESPONSE_PARTIAL = 1,
	PARTIAL_REJECTED = 1,
	PARTIAL_MESSAGE = 2,
	STATUS_MESSAGE = 2,
};

/* --- reading protobuf --- */

struct field {
	uint32_t number;
	uint64_t value;		   /* of a varint */
	const unsigned char *data; /* of a text or message; NULL: it is neither */
	size_t length;
};

struct span {
	const unsigned char *at, *end;
};

static bool read_varint(struct span *in, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; in->at < in->end && shift < 64; shift += 7) {
		*value |= (uint64_t)(*in->at & 0x7f) << shift;
		if (!(*in->at++ & 0x80))
			return true;
	}
	return false;
}

static bool skip(struct span *in, uint64_t bytes)
{
	if ((uint64_t)(in->end - in->at) < bytes)
		return false;
	in->at += bytes;
	return true;
}

/* False at the end, and where the bytes are no protobuf. */
static bool read_field(struct span *in, struct field *field)
{
	uint64_t tag, length;

	*field = (struct field){0};
	if (!read_varint(in, &tag))
		return false;
	field->number = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case PROTOBUF_VARINT: return read_varint(in, &field->value);
	case PROTOBUF_FIXED64: return skip(in, 8);
	case PROTOBUF_LENGTH:
		if (!read_varint(in, &length))
			return false;
		field->data = in->at;
		field->length = (size_t)length;
		return skip(in, length);
	case 5: return skip(in, 4); /* fixed32 */
	default: return false;
	}
}

/* --- texts --- */

/* Appends the first line, in printable ASCII. */
static void append(char reason[EXPORT_REASON_SIZE], const unsigned char *text, size_t length)
{
	size_t at = strlen(reason);

	for (size_t i = 0; i < length && at + 1 < EXPORT_REASON_SIZE; i++) {
		if (text[i] == '\n' || text[i] == '\r')
			break;
		reason[at++] = isprint(text[i]) ? (char)text[i] : '?';
	}
	reason[at] = '\0';
}

static const char *status_word(int status)
{
	switch (status) {
	case 301:
	case 302:
	case 307:
	case 308: return " (a redirect: give the address that it leads to)";
	case 400: return " Bad Request";
	case 401: return " Unauthorized";
	case 403: return " Forbidden";
	case 404: return " Not Found (is the path right?)";
	case 405: return " Method Not Allowed";
	case 413: return " Content Too Large";
	case 415: return " Unsupported Media Type";
	case 429: return " Too Many Requests";
	case 502: return " Bad Gateway";
	case 503: return " Service Unavailable";
	case 504: return " Gateway Timeout";
	default: return "";
	}
}

static void describe_error(const struct export_reply *reply, char reason[EXPORT_REASON_SIZE])
{
	struct span in = {reply->body, reply->body ? reply->body + reply->length : NULL};
	struct field field;

	snprintf(reason, EXPORT_REASON_SIZE, "status %d%s", reply->status,
		 status_word(reply->status));
	if (!reply->body)
		return;
	if (reply->is_text) {
		append(reason, (const unsigned char *)": ", 2);
		append(reason, reply->body, reply->length);
		return;
	}
	while (read_field(&in, &field)) {
		if (field.number != STATUS_MESSAGE || !field.length)
			continue;
		append(reason, (const unsigned char *)": ", 2);
		append(reason, field.data, field.length);
		return;
	}
}

/* --- success --- */

static void read_partial(struct span in, struct export_verdict *verdict)
{
	struct field field;

	while (read_field(&in, &field)) {
		/* An int64: a negative number of items makes no sense. */
		if (field.number == PARTIAL_REJECTED && !field.data && field.value <= INT64_MAX)
			verdict->rejected = field.value;
		if (field.number == PARTIAL_MESSAGE && field.data) {
			verdict->reason[0] = '\0';
			append(verdict->reason, field.data, field.length);
		}
	}
}

static void judge_success(const struct export_reply *reply, struct export_verdict *verdict)
{
	struct span in = {reply->body, reply->body ? reply->body + reply->length : NULL};
	struct field field;

	verdict->outcome = EXPORT_ACCEPTED;
	while (!reply->is_text && read_field(&in, &field))
		if (field.number == RESPONSE_PARTIAL && field.data)
			read_partial((struct span){field.data, field.data + field.length}, verdict);
}

/* --- failure --- */

/* A number of seconds, or a date. */
static uint64_t pause_of(const char *text, int64_t now)
{
	struct tm tm = {0};
	char *end;
	unsigned long long seconds = strtoull(text, &end, 10);
	const char *rest;

	if (isdigit((unsigned char)text[0]) && !*end)
		return seconds > EXPORT_RETRY_MAX_MS / 1000 ? EXPORT_RETRY_MAX_MS : seconds * 1000;
	rest = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (!rest || *rest || timegm(&tm) <= now)
		return 0;
	seconds = (unsigned long long)(timegm(&tm) - now);
	return seconds > EXPORT_RETRY_MAX_MS / 1000 ? EXPORT_RETRY_MAX_MS : seconds * 1000;
}

/* By the specification, all other errors are for good. */
static bool is_retried(int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

void export_reply__judge(const struct export_reply *reply, int64_t now,
			 struct export_verdict *verdict)
{
	*verdict = (struct export_verdict){.outcome = EXPORT_FAILED};
	if (!reply->status) {
		append(verdict->reason, (const unsigned char *)reply->failure,
		       strlen(reply->failure));
		return;
	}
	if (reply->status >= 200 && reply->status < 300) {
		judge_success(reply, verdict);
		return;
	}
	describe_error(reply, verdict->reason);
	if (is_retried(reply->status))
		verdict->pause_ms = pause_of(reply->retry_after, now);
	else
		verdict->outcome = EXPORT_REFUSED;
}

void export_reply__clear(struct export_reply *reply)
{
	free(reply->body);
	*reply = (struct export_reply){0};
}
