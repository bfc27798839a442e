// SPDX-License-Identifier: BSD-2-Clause
// OTLP. The first byte chooses: the answer of a receiver, which may be any server, or the settings
// of variables: lists and addresses.
#include <stdlib.h>
#include <string.h>

#include "export/endpoint.h"
#include "export/pairs.h"
#include "export/reply.h"
#include "harness.h"

#define NOW 1795000000

static void must_be_plain(const char *text, size_t size)
{
	size_t length = strnlen(text, size);

	MUST(length < size);
	for (size_t i = 0; i < length; i++)
		MUST(text[i] >= ' ' && text[i] < 0x7f);
}

static void judge(struct input input)
{
	static const int statuses[] = {0, 200, 400, 429};
	struct export_reply reply = {.status = statuses[input__number(&input, 1) % 4]};
	struct export_verdict verdict;
	const uint8_t *bytes;
	size_t length;

	reply.is_text = input__number(&input, 1) & 1;
	length = input__bytes(&input, input__number(&input, 1) % sizeof(reply.retry_after), &bytes);
	memcpy(reply.retry_after, bytes, length);
	reply.length = input.left;
	reply.body = reply.length ? harness__exactly(input.at, input.left) : NULL;
	export_reply__judge(&reply, NOW, &verdict);
	must_be_plain(verdict.reason, sizeof(verdict.reason));
	MUST(verdict.pause_ms <= EXPORT_RETRY_MAX_MS);
	MUST(verdict.rejected <= INT64_MAX);
	export_reply__clear(&reply);
}

static void parse(struct input input)
{
	bool headers = input__number(&input, 1) & 1;
	char *text = input__rest(&input);
	struct export_endpoint endpoint;
	struct export_pairs pairs = {0};
	struct error err;

	if (!export_pairs__parse(&pairs, text, headers, "X", &err))
		for (size_t i = 0; i < pairs.count; i++)
			MUST(!headers || !strpbrk(pairs.items[i].value, "\r\n"));
	export_pairs__clear(&pairs);
	if (!export_endpoint__parse(&endpoint, text, headers ? "v1/logs" : NULL, &err)) {
		MUST(endpoint.port && *endpoint.host && *endpoint.target == '/');
		export_endpoint__clear(&endpoint);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	if (input__number(&input, 1) & 1)
		judge(input);
	else
		parse(input);
	return 0;
}
