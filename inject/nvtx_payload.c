// SPDX-License-Identifier: BSD-2-Clause
// Payloads of NVTX as text, see nvtx_payload.h.
#include "nvtx_payload.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SCHEMAS 128 /* of all domains */
#define ENUMS 32
#define MEMBERS 16 /* of a schema, or values of an enumeration; the others are left out */
#define MEMBER_NAME 40
#define DYNAMIC_IDS (UINT64_C(1) << 32) /* ids that a program does not choose begin here */

enum schema_mask {
	SCHEMA_NAME = 1 << 1,
	SCHEMA_TYPE = 1 << 2,
	SCHEMA_ENTRIES = 1 << 4,
	SCHEMA_COUNT = 1 << 5,
	SCHEMA_ID = 1 << 8,
};

enum enum_mask {
	ENUM_ENTRIES = 1 << 2,
	ENUM_COUNT = 1 << 3,
	ENUM_SIZE = 1 << 4,
	ENUM_ID = 1 << 5,
};

#define SCHEMA_STATIC 1 /* members have fixed places */
#define ENTRY_HIDDEN 0x200
#define ENTRY_NO_NUMBER 0x7e /* pointers, arrays, and places that are told elsewhere */

/* How a member is printed. */
enum form {
	FORM_NONE = 0,
	FORM_INT,
	FORM_UINT,
	FORM_HEX,
	FORM_REAL,
};

struct number_type {
	uint8_t form, size;
};

/* By NVTX's number of a type. */
static const struct number_type types[] = {
	[5] = {FORM_INT, sizeof(int)},
	[6] = {FORM_UINT, sizeof(int)},
	[11] = {FORM_INT, 1},
	[12] = {FORM_UINT, 1},
	[13] = {FORM_INT, 2},
	[14] = {FORM_UINT, 2},
	[15] = {FORM_INT, 4},
	[16] = {FORM_UINT, 4},
	[17] = {FORM_INT, 8},
	[18] = {FORM_UINT, 8},
	[19] = {FORM_REAL, sizeof(float)},
	[20] = {FORM_REAL, sizeof(double)},
	[22] = {FORM_UINT, sizeof(size_t)},
	[23] = {FORM_HEX, sizeof(void *)},
	[43] = {FORM_REAL, 4},
	[44] = {FORM_REAL, 8},
};

struct member {
	struct number_type type;
	uint64_t of_enum; /* its id; 0: it is a number */
	uint64_t offset;  /* or of an enumeration: the value */
	char name[MEMBER_NAME];
};

/* A schema or an enumeration. `id` is written last: 0 means that it is not complete. */
struct registered {
	uint64_t id;
	const void *domain;
	uint8_t size; /* of an enumeration's values */
	size_t count;
	char name[MEMBER_NAME];
	struct member members[MEMBERS];
};

static struct registered schemas[SCHEMAS], enums[ENUMS];
static uint32_t schema_count, enum_count;
static uint64_t latest_id = DYNAMIC_IDS;

/* --- the tables --- */

/* NULL: there is no room. */
static struct registered *take_place(struct registered *table, uint32_t *count, uint32_t most)
{
	uint32_t place = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);

	if (place < most)
		return &table[place];
	__atomic_fetch_sub(count, 1, __ATOMIC_RELAXED);
	return NULL;
}

static const struct registered *find(const struct registered *table, uint32_t most,
				     const void *domain, uint64_t id)
{
	for (uint32_t i = 0; i < most && id; i++)
		if (__atomic_load_n(&table[i].id, __ATOMIC_ACQUIRE) == id &&
		    table[i].domain == domain)
			return &table[i];
	return NULL;
}

static uint64_t finish(struct registered *added, const void *domain, uint64_t id)
{
	if (!id)
		id = __atomic_add_fetch(&latest_id, 1, __ATOMIC_RELAXED);
	added->domain = domain;
	__atomic_store_n(&added->id, id, __ATOMIC_RELEASE);
	return id;
}

static void copy_name(char name[MEMBER_NAME], const char *from)
{
	snprintf(name, MEMBER_NAME, "%s", from ? from : "");
}

/* --- registering --- */

static struct number_type type_of(const void *domain, uint64_t type)
{
	const struct registered *of_enum = find(enums, ENUMS, domain, type);

	if (of_enum)
		return (struct number_type){FORM_UINT, of_enum->size};
	return type < sizeof(types) / sizeof(*types) ? types[type] : (struct number_type){0};
}

/* A member without an offset comes after the one before it. False: the next place is unknown. */
static bool add_member(struct registered *schema, const void *domain,
		       const struct schema_entry *entry, uint64_t *next)
{
	struct number_type type = type_of(domain, entry->type);
	struct member *member = &schema->members[schema->count];
	uint64_t offset = entry->offset;

	if (entry->flags & ENTRY_NO_NUMBER || !type.size)
		return false;
	if (!offset)
		offset = (*next + type.size - 1) / type.size * type.size;
	*next = offset + type.size;
	if (entry->flags & ENTRY_HIDDEN)
		return true;
	*member = (struct member){.type = type, .offset = offset};
	if (find(enums, ENUMS, domain, entry->type))
		member->of_enum = entry->type;
	copy_name(member->name, entry->name);
	schema->count++;
	return true;
}

uint64_t nvtx_payload__add_schema(const void *domain, const struct schema_attributes *attributes)
{
	struct registered *schema = attributes ? take_place(schemas, &schema_count, SCHEMAS) : NULL;
	uint64_t mask, next = 0;
	size_t count = 0;

	if (!schema)
		return 0;
	mask = attributes->mask;
	if (mask & SCHEMA_ENTRIES && mask & SCHEMA_COUNT && attributes->entries)
		count = attributes->count;
	if (mask & SCHEMA_TYPE && attributes->type != SCHEMA_STATIC)
		count = 0;
	for (size_t i = 0; i < count && schema->count < MEMBERS; i++) {
		const struct schema_entry *entry = &attributes->entries[i];

		if (!add_member(schema, domain, entry, &next) && i + 1 < count &&
		    !attributes->entries[i + 1].offset)
			break;
	}
	copy_name(schema->name, mask & SCHEMA_NAME ? attributes->name : NULL);
	return finish(schema, domain, mask & SCHEMA_ID ? attributes->id : 0);
}

uint64_t nvtx_payload__add_enum(const void *domain, const struct enum_attributes *attributes)
{
	const uint64_t needed = ENUM_ENTRIES | ENUM_COUNT | ENUM_SIZE;
	struct registered *of_enum = attributes ? take_place(enums, &enum_count, ENUMS) : NULL;
	uint64_t mask;

	if (!of_enum)
		return 0;
	mask = attributes->mask;
	if ((mask & needed) == needed && attributes->size <= sizeof(uint64_t)) {
		of_enum->size = (uint8_t)attributes->size;
		of_enum->count = attributes->count < MEMBERS ? attributes->count : MEMBERS;
	}
	for (size_t i = 0; i < of_enum->count; i++) {
		of_enum->members[i].offset = attributes->entries[i].value;
		copy_name(of_enum->members[i].name, attributes->entries[i].name);
	}
	return finish(of_enum, domain, mask & ENUM_ID ? attributes->id : 0);
}

/* --- text --- */

struct text {
	char *at;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
	size_t room = NVTX_PAYLOAD_SIZE - text->length;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text->at + text->length, room, format, args);
	va_end(args);
	if (length > 0)
		text->length += (size_t)length < room ? (size_t)length : room - 1;
}

static int64_t signed_of(uint64_t bits, uint8_t size)
{
	unsigned int unused = 64 - 8u * size;

	return (int64_t)(bits << unused) >> unused;
}

static double real_of(uint64_t bits, uint8_t size)
{
	double real;
	float single;

	memcpy(&single, &bits, sizeof(single));
	memcpy(&real, &bits, sizeof(real));
	return size == sizeof(float) ? (double)single : real;
}

static const char *enum_name(const void *domain, uint64_t id, uint64_t value)
{
	const struct registered *of_enum = find(enums, ENUMS, domain, id);

	for (size_t i = 0; of_enum && i < of_enum->count; i++)
		if (of_enum->members[i].offset == value)
			return of_enum->members[i].name;
	return NULL;
}

static void append_value(struct text *text, const void *domain, const struct member *member,
			 uint64_t bits)
{
	const char *name = member->of_enum ? enum_name(domain, member->of_enum, bits) : NULL;

	if (name && *name)
		append(text, "%s", name);
	else if (member->type.form == FORM_INT)
		append(text, "%" PRId64, signed_of(bits, member->type.size));
	else if (member->type.form == FORM_HEX)
		append(text, "0x%" PRIx64, bits);
	else if (member->type.form == FORM_REAL)
		append(text, "%g", real_of(bits, member->type.size));
	else
		append(text, "%" PRIu64, bits);
}

static void append_payload(struct text *text, const void *domain,
			   const struct payload_data *payload)
{
	const struct registered *schema = find(schemas, SCHEMAS, domain, payload->schema);

	for (size_t i = 0; schema && payload->payload && i < schema->count; i++) {
		const struct member *member = &schema->members[i];
		uint64_t bits = 0;

		if (member->offset > payload->size ||
		    member->type.size > payload->size - member->offset)
			continue;
		memcpy(&bits, (const char *)payload->payload + member->offset, member->type.size);
		append(text, "%s%s=", text->length ? ", " : "", member->name);
		append_value(text, domain, member, bits);
	}
}

void nvtx_payload__describe(const void *domain, const struct payload_data *payloads, size_t count,
			    char text[NVTX_PAYLOAD_SIZE])
{
	struct text written = {text, 0};

	text[0] = '\0';
	for (size_t i = 0; payloads && i < count && i < MEMBERS; i++)
		append_payload(&written, domain, &payloads[i]);
}

const char *nvtx_payload__name(const void *domain, const struct payload_data *payloads,
			       size_t count)
{
	const struct registered *schema =
		payloads && count ? find(schemas, SCHEMAS, domain, payloads->schema) : NULL;

	return schema ? schema->name : "";
}
