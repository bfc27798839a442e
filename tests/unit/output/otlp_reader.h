/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes OTLP requests, and reads them by the numbers of fields. */
#ifndef TESTS_OTLP_READER_H
#define TESTS_OTLP_READER_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "output/otlp/metrics.h"

/* --- a reader of requests --- */

struct span {
	const unsigned char *at, *end;
};

static inline uint64_t varint(struct span *in)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(in->at < in->end);
		value |= (uint64_t)(*in->at & 0x7f) << shift;
		if (!(*in->at++ & 0x80))
			return value;
	}
}

/* False at the end. A number is in *value, everything else in *inner. */
static inline bool next(struct span *in, uint32_t *field, uint64_t *value, struct span *inner)
{
	uint64_t tag, length;

	if (in->at == in->end)
		return false;
	tag = varint(in);
	*field = (uint32_t)(tag >> 3);
	*inner = (struct span){0};
	switch (tag & 7) {
	case 0: *value = varint(in); return true;
	case 1: length = 8; break;
	default: assert_int_equal(tag & 7, 2); length = varint(in);
	}
	assert_true((uint64_t)(in->end - in->at) >= length);
	*inner = (struct span){in->at, in->at + length};
	if ((tag & 7) == 1)
		memcpy(value, in->at, sizeof(*value));
	in->at += length;
	return true;
}

/* The `index`th field of this number; false: there are fewer. */
static inline bool find(struct span in, uint32_t number, unsigned int index, struct span *found)
{
	uint64_t value;
	uint32_t field;

	while (next(&in, &field, &value, found))
		if (field == number && !index--)
			return true;
	return false;
}

static inline uint64_t number(struct span in, uint32_t wanted)
{
	struct span inner;
	uint64_t value;
	uint32_t field;

	while (next(&in, &field, &value, &inner))
		if (field == wanted)
			return value;
	fail_msg("there is no field %u", wanted);
	return 0;
}

static inline bool is_text(struct span text, const char *expected)
{
	return (size_t)(text.end - text.at) == strlen(expected) &&
	       !memcmp(text.at, expected, strlen(expected));
}

/* Whether attributes, which have this field's number, have a text or number of that name. */
static inline bool has_attribute(struct span in, uint32_t field, const char *name, const char *text,
				 uint64_t value)
{
	struct span pair, key, any, inner;

	for (unsigned int i = 0; find(in, field, i, &pair); i++) {
		assert_true(find(pair, 1, 0, &key) && find(pair, 2, 0, &any));
		if (is_text(key, name))
			return text ? find(any, 1, 0, &inner) && is_text(inner, text) :
				      number(any, 3) == value;
	}
	return false;
}

/* The scope's metrics of a resource, by pid; 0: gpuprobe itself. */
static inline struct span metrics_of(struct span request, uint64_t pid)
{
	struct span one, resource, scope;

	for (unsigned int i = 0; find(request, 1, i, &one); i++) {
		assert_true(find(one, 1, 0, &resource) && find(one, 2, 0, &scope));
		assert_true(has_attribute(resource, 1, "service.name", "gpus", 0));
		if (pid ? has_attribute(resource, 1, "process.pid", NULL, pid) :
			  has_attribute(resource, 1, "service.instance.id", "node", 0))
			return scope;
	}
	fail_msg("there is no resource of %" PRIu64, pid);
	return (struct span){0};
}

static inline struct span metric_of(struct span scope, const char *name)
{
	struct span metric, text;

	for (unsigned int i = 0; find(scope, 2, i, &metric); i++)
		if (find(metric, 1, 0, &text) && is_text(text, name))
			return metric;
	fail_msg("there is no %s", name);
	return (struct span){0};
}

static inline bool has_metric(struct span scope, const char *name)
{
	struct span metric, text;

	for (unsigned int i = 0; find(scope, 2, i, &metric); i++)
		if (find(metric, 1, 0, &text) && is_text(text, name))
			return true;
	return false;
}

/* The metric's first point. `form`: 5 gauge, 7 sum, 9 histogram. */
static inline struct span point_of(struct span metric, uint32_t form)
{
	struct span data, point;

	assert_true(find(metric, form, 0, &data));
	if (form != 5)
		assert_int_equal(number(data, 2), 2);
	assert_true(find(data, 1, 0, &point));
	return point;
}

/* --- the scene --- */

#define BEGAN 5000

static const struct otlp_pair pairs[] = {{"service.name", "gpus"}, {"host.name", "node"}};
static const struct otlp_sender sender = {
	.version = "0.1.0",
	.instance = "node",
	.pairs = pairs,
	.pair_count = 2,
	.began_ns = BEGAN,
	.wall_offset_ns = 1000000,
};

struct taken {
	unsigned char *data;
	size_t length;
	uint64_t items;
	unsigned int requests;
};

static inline int take(void *arg, const void *data, size_t length, uint64_t items)
{
	struct taken *taken = arg;

	assert_true(length <= OTLP_REQUEST_MAX);
	free(taken->data);
	taken->data = malloc(length);
	assert_non_null(taken->data);
	memcpy(taken->data, data, length);
	taken->length = length;
	taken->items += items;
	taken->requests++;
	return 0;
}

static inline struct span span_of(const struct taken *taken)
{
	return (struct span){taken->data, taken->data + taken->length};
}

static inline uint64_t count_of(struct span scope, const char *prefix)
{
	struct span metric, text, data, point;
	uint64_t count = 0;

	for (unsigned int i = 0; find(scope, 2, i, &metric); i++) {
		assert_true(find(metric, 1, 0, &text));
		if (strncmp((const char *)text.at, prefix, strlen(prefix)) != 0)
			continue;
		for (uint32_t form = 5; form <= 9; form += 2)
			for (unsigned int k = 0;
			     find(metric, form, 0, &data) && find(data, 1, k, &point); k++)
				count++;
	}
	return count;
}

#endif
