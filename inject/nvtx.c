// SPDX-License-Identifier: BSD-2-Clause
/*
 * libgpuprobe-nvtx.so: takes the calls of NVTX and tells probes of ranges. It opens no file, starts
 * no thread, takes no lock, and prints nothing.
 */
#include "nvtx.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "nvtx_payload.h"
#include "probe_point.h"

#define EXPORTED __attribute__((visibility("default")))

#define NAMES_TOLD 4096 /* names that need not be told again; a power of two */

/* --- NVTX's interface: what is used of it --- */

#define CALLBACKS 1 /* the number of the table that has get_functions */

enum module {
	CORE = 1,
	CORE2 = 5
};

struct callbacks {
	size_t size;
	/* entry k of *table is where the pointer to function k is */
	int (*get_functions)(int module, void ****table, unsigned int *count);
};

enum payload_type {
	PAYLOAD_UINT64 = 1,
	PAYLOAD_INT64,
	PAYLOAD_DOUBLE,
	PAYLOAD_UINT32,
	PAYLOAD_INT32,
	PAYLOAD_FLOAT,
};

#define PAYLOAD_SCHEMAS 0xdfbd0009 /* it points to struct payload_data */

enum message_type {
	MESSAGE_NONE,
	MESSAGE_TEXT,
	MESSAGE_WIDE,
	MESSAGE_REGISTERED
};

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, payload_count;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

/* Behind the handles of domains and of registered strings. */
struct text {
	char text[NVTX_NAME_SIZE];
};

static uint64_t names_told[NAMES_TOLD]; /* by the low bits of the name's number */
static uint64_t latest_id;		/* of ranges that start and end */
static struct text nameless;		/* without memory for another one */

/* --- what probes watch --- */

PROBE_POINT(gpuprobe_nvtx_push);
PROBE_POINT(gpuprobe_nvtx_pop);
PROBE_POINT(gpuprobe_nvtx_start);
PROBE_POINT(gpuprobe_nvtx_end);
PROBE_POINT(gpuprobe_nvtx_name);
PROBE_POINT(gpuprobe_nvtx_mark);

/* --- names --- */

/* Appends at `length`, cut to the room that is left; returns the new length. */
static size_t append(char text[NVTX_NAME_SIZE], size_t length, const char *more)
{
	size_t count = strnlen(more, NVTX_NAME_SIZE - 1 - length);

	memcpy(text + length, more, count);
	text[length + count] = '\0';
	return length + count;
}

/* Characters beyond ASCII become question marks. */
static size_t append_wide(char text[NVTX_NAME_SIZE], size_t length, const wchar_t *more)
{
	while (*more && length < NVTX_NAME_SIZE - 1) {
		text[length++] = *more > 0 && *more < 128 ? (char)*more : '?';
		more++;
	}
	text[length] = '\0';
	return length;
}

static uint64_t tell_name(const char *text)
{
	uint64_t number = nvtx_name_number(text), *told = &names_told[number % NAMES_TOLD];

	if (__atomic_load_n(told, __ATOMIC_RELAXED) == number)
		return number;
	gpuprobe_nvtx_name(number, text);
	__atomic_store_n(told, number, __ATOMIC_RELAXED);
	return number;
}

/* The name of a range or mark, and what belongs to it. */
struct name {
	size_t domain_length;
	char text[NVTX_NAME_SIZE]; /* "DOMAIN: MESSAGE" */
	char payload[NVTX_PAYLOAD_SIZE];
};

/* `type` is of the message. There is no payload. */
static void make_name(struct name *name, const struct text *domain, int type, const void *message)
{
	char *text = name->text;
	size_t length = 0;

	name->text[0] = name->payload[0] = '\0';
	if (domain && domain->text[0])
		length = append(text, length, domain->text);
	name->domain_length = length;
	if (length)
		length = append(text, length, ": ");
	if (type == MESSAGE_TEXT && message)
		append(text, length, message);
	else if (type == MESSAGE_WIDE && message)
		append_wide(text, length, message);
	else if (type == MESSAGE_REGISTERED && message)
		append(text, length, ((const struct text *)message)->text);
}

static void add_payload(struct name *name, const struct text *domain,
			const struct attributes *attributes)
{
	char *text = name->payload;
	uint64_t bits = attributes->payload;
	float single;
	double real;

	memcpy(&single, &bits, sizeof(single));
	memcpy(&real, &bits, sizeof(real));
	switch ((uint32_t)attributes->payload_type) {
	case PAYLOAD_UINT64: snprintf(text, NVTX_PAYLOAD_SIZE, "%" PRIu64, bits); break;
	case PAYLOAD_INT64: snprintf(text, NVTX_PAYLOAD_SIZE, "%" PRId64, (int64_t)bits); break;
	case PAYLOAD_DOUBLE: snprintf(text, NVTX_PAYLOAD_SIZE, "%g", real); break;
	case PAYLOAD_UINT32: snprintf(text, NVTX_PAYLOAD_SIZE, "%u", (uint32_t)bits); break;
	case PAYLOAD_INT32: snprintf(text, NVTX_PAYLOAD_SIZE, "%d", (int32_t)bits); break;
	case PAYLOAD_FLOAT: snprintf(text, NVTX_PAYLOAD_SIZE, "%g", (double)single); break;
	case PAYLOAD_SCHEMAS:
		nvtx_payload__describe(domain, (const struct payload_data *)(uintptr_t)bits,
				       (size_t)attributes->payload_count, text);
		break;
	default: break;
	}
}

static void name_by(struct name *name, const struct text *domain,
		    const struct attributes *attributes)
{
	if (!attributes) {
		make_name(name, domain, MESSAGE_NONE, NULL);
		return;
	}
	make_name(name, domain, attributes->message_type, attributes->message);
	if (attributes->payload_type)
		add_payload(name, domain, attributes);
}

/* An event that has nothing but payloads is called as the first one's schema. */
static void name_by_payload(struct name *name, const struct text *domain,
			    const struct payload_data *payloads, size_t count)
{
	make_name(name, domain, MESSAGE_TEXT, nvtx_payload__name(domain, payloads, count));
	nvtx_payload__describe(domain, payloads, count, name->payload);
}

static struct text *keep_text(int type, const void *message)
{
	struct text *kept = calloc(1, sizeof(*kept));

	if (kept && message && type == MESSAGE_TEXT)
		append(kept->text, 0, message);
	else if (kept && message)
		append_wide(kept->text, 0, message);
	return kept ? kept : &nameless;
}

/* --- NVTX's functions; -2: nobody counts the depth --- */

#define NO_DEPTH (-2)

static int push(const struct text *domain, const struct name *name)
{
	gpuprobe_nvtx_push(tell_name(name->text), (uintptr_t)domain, name->text,
			   name->domain_length, name->payload);
	return NO_DEPTH;
}

static uint64_t start(const struct name *name)
{
	uint64_t id = __atomic_add_fetch(&latest_id, 1, __ATOMIC_RELAXED);

	gpuprobe_nvtx_start(tell_name(name->text), id, name->text, name->domain_length,
			    name->payload);
	return id;
}

static int push_message(int type, const void *message)
{
	struct name name;

	make_name(&name, NULL, type, message);
	return push(NULL, &name);
}

static int push_text(const char *message)
{
	return push_message(MESSAGE_TEXT, message);
}

static int push_wide(const wchar_t *message)
{
	return push_message(MESSAGE_WIDE, message);
}

static int push_in_domain(struct text *domain, const struct attributes *attributes)
{
	struct name name;

	name_by(&name, domain, attributes);
	return push(domain, &name);
}

static int push_attributes(const struct attributes *attributes)
{
	return push_in_domain(NULL, attributes);
}

static int pop_in_domain(struct text *domain)
{
	gpuprobe_nvtx_pop((uintptr_t)domain, "");
	return NO_DEPTH;
}

static int pop(void)
{
	return pop_in_domain(NULL);
}

static uint64_t start_message(int type, const void *message)
{
	struct name name;

	make_name(&name, NULL, type, message);
	return start(&name);
}

static uint64_t start_text(const char *message)
{
	return start_message(MESSAGE_TEXT, message);
}

static uint64_t start_wide(const wchar_t *message)
{
	return start_message(MESSAGE_WIDE, message);
}

static uint64_t start_in_domain(struct text *domain, const struct attributes *attributes)
{
	struct name name;

	name_by(&name, domain, attributes);
	return start(&name);
}

static uint64_t start_attributes(const struct attributes *attributes)
{
	return start_in_domain(NULL, attributes);
}

static void mark_message(int type, const void *message)
{
	struct name name;

	make_name(&name, NULL, type, message);
	gpuprobe_nvtx_mark(name.text, name.domain_length, name.payload);
}

static void mark_text(const char *message)
{
	mark_message(MESSAGE_TEXT, message);
}

static void mark_wide(const wchar_t *message)
{
	mark_message(MESSAGE_WIDE, message);
}

static void mark_in_domain(struct text *domain, const struct attributes *attributes)
{
	struct name name;

	name_by(&name, domain, attributes);
	gpuprobe_nvtx_mark(name.text, name.domain_length, name.payload);
}

static void mark_attributes(const struct attributes *attributes)
{
	mark_in_domain(NULL, attributes);
}

static void end(uint64_t id)
{
	gpuprobe_nvtx_end(id, "");
}

static void end_in_domain(struct text *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

static struct text *register_text(struct text *domain, const char *message)
{
	(void)domain;
	return keep_text(MESSAGE_TEXT, message);
}

static struct text *register_wide(struct text *domain, const wchar_t *message)
{
	(void)domain;
	return keep_text(MESSAGE_WIDE, message);
}

static struct text *make_domain(const char *name)
{
	return keep_text(MESSAGE_TEXT, name);
}

static struct text *make_wide_domain(const wchar_t *name)
{
	return keep_text(MESSAGE_WIDE, name);
}

/* --- events with payloads, of NVTX's extension --- */

static void mark_payload(struct text *domain, const struct payload_data *payloads, size_t count)
{
	struct name name;

	name_by_payload(&name, domain, payloads, count);
	gpuprobe_nvtx_mark(name.text, name.domain_length, name.payload);
}

static int push_payload(struct text *domain, const struct payload_data *payloads, size_t count)
{
	struct name name;

	name_by_payload(&name, domain, payloads, count);
	return push(domain, &name);
}

static int pop_payload(struct text *domain, const struct payload_data *payloads, size_t count)
{
	char payload[NVTX_PAYLOAD_SIZE];

	nvtx_payload__describe(domain, payloads, count, payload);
	gpuprobe_nvtx_pop((uintptr_t)domain, payload);
	return NO_DEPTH;
}

static uint64_t start_payload(struct text *domain, const struct payload_data *payloads,
			      size_t count)
{
	struct name name;

	name_by_payload(&name, domain, payloads, count);
	return start(&name);
}

static void end_payload(struct text *domain, uint64_t id, const struct payload_data *payloads,
			size_t count)
{
	char payload[NVTX_PAYLOAD_SIZE];

	nvtx_payload__describe(domain, payloads, count, payload);
	gpuprobe_nvtx_end(id, payload);
}

static uint8_t is_enabled(struct text *domain)
{
	(void)domain;
	return 1;
}

/* --- starting --- */

struct function {
	unsigned int number;
	void *function;
};

#define FUNCTION(number, name) \
	{ \
		number, (void *)(uintptr_t)(name) \
	}

static const struct function core[] = {
	FUNCTION(1, mark_attributes),
	FUNCTION(2, mark_text),
	FUNCTION(3, mark_wide),
	FUNCTION(4, start_attributes),
	FUNCTION(5, start_text),
	FUNCTION(6, start_wide),
	FUNCTION(7, end),
	FUNCTION(8, push_attributes),
	FUNCTION(9, push_text),
	FUNCTION(10, push_wide),
	FUNCTION(11, pop),
};

/* A domain stays when the program destroys it: other threads may have ranges in it. */
static const struct function core2[] = {
	FUNCTION(1, mark_in_domain), FUNCTION(2, start_in_domain), FUNCTION(3, end_in_domain),
	FUNCTION(4, push_in_domain), FUNCTION(5, pop_in_domain),   FUNCTION(10, register_text),
	FUNCTION(11, register_wide), FUNCTION(12, make_domain),	   FUNCTION(13, make_wide_domain),
};

static const struct function payload_functions[] = {
	FUNCTION(0, nvtx_payload__add_schema),
	FUNCTION(1, nvtx_payload__add_enum),
	FUNCTION(2, mark_payload),
	FUNCTION(3, push_payload),
	FUNCTION(4, pop_payload),
	FUNCTION(5, start_payload),
	FUNCTION(6, end_payload),
	FUNCTION(7, is_enabled),
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool take_functions(const struct callbacks *callbacks, enum module module,
			   const struct function *functions, size_t count)
{
	void ***table = NULL;
	unsigned int size = 0;

	if (!callbacks->get_functions(module, &table, &size) || !table)
		return false;
	for (size_t i = 0; i < count; i++)
		if (functions[i].number < size && table[functions[i].number])
			*table[functions[i].number] = functions[i].function;
	return true;
}

/* A copy that has no domains yet still has ranges. */
EXPORTED int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t number))
{
	const struct callbacks *callbacks = get_table ? get_table(CALLBACKS) : NULL;

	if (!callbacks || callbacks->size < sizeof(*callbacks) || !callbacks->get_functions)
		return 0;
	if (!take_functions(callbacks, CORE, core, COUNT(core)))
		return 0;
	take_functions(callbacks, CORE2, core2, COUNT(core2));
	return 1;
}

/* NVTX's tables of an extension's functions. */
struct nvtx_segment {
	size_t number, count;
	void **functions;
};

struct nvtx_extension {
	uint16_t version, size, module, compatibility;
	size_t segment_count;
	struct nvtx_segment *segments;
	const void *get_function, *info;
};

#define PAYLOAD_MODULE 2

/* Functions that are not set do nothing. */
EXPORTED int InitializeInjectionNvtxExtension(const struct nvtx_extension *extension)
{
	const struct nvtx_segment *segment;

	if (!extension || extension->size < sizeof(*extension) ||
	    extension->module != PAYLOAD_MODULE || !extension->segment_count ||
	    !extension->segments)
		return 0;
	segment = extension->segments;
	for (size_t i = 0; i < COUNT(payload_functions); i++)
		if (payload_functions[i].number < segment->count)
			segment->functions[payload_functions[i].number] =
				payload_functions[i].function;
	return 1;
}
