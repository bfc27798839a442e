/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs use of NVTX, which is all in a header, as here: at the first call it loads the
 * library that NVTX_INJECTION64_PATH names, which puts its functions into tables. Without a library
 * a call does nothing.
 */
#ifndef SIM_NVTX_API_H
#define SIM_NVTX_API_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_MESSAGE_TYPE_UNICODE 2
#define NVTX_MESSAGE_TYPE_REGISTERED 3

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomain *nvtxDomainHandle_t;
typedef struct nvtxString *nvtxStringHandle_t;

typedef struct {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union {
		uint64_t ullValue;
		double dValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
		const wchar_t *unicode;
		nvtxStringHandle_t registered;
	} message;
} nvtxEventAttributes_t;

/* Payloads, which are an extension of NVTX. */
#define NVTX_PAYLOAD_TYPE_EXT ((int32_t)0xdfbd0009)
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT64 18
#define NVTX_PAYLOAD_ENTRY_TYPE_INT32 15
#define NVTX_PAYLOAD_ENTRY_TYPE_SIZE 22
#define NVTX_PAYLOAD_SCHEMA_TYPE_STATIC 1
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME (1 << 1)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE (1 << 2)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES (1 << 4)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES (1 << 5)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES (1 << 2)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES (1 << 3)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE (1 << 4)

typedef struct {
	uint64_t schemaId;
	size_t size;
	const void *payload;
} nvtxPayloadData_t;

typedef struct {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t arrayOrUnionDetail, offset;
	const void *semantics, *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	uint64_t type, flags;
	const nvtxPayloadSchemaEntry_t *entries;
	size_t numEntries, payloadStaticSize, packAlign;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadSchemaAttr_t;

typedef struct {
	const char *name;
	uint64_t value;
	int8_t isFlag;
} nvtxPayloadEnum_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	const nvtxPayloadEnum_t *entries;
	size_t numEntries, sizeOfEnum;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadEnumAttr_t;

#define NVTX_FUNCTIONS 16 /* of a module */

typedef void (*nvtx_function)(void);

static nvtx_function nvtx_core[NVTX_FUNCTIONS], nvtx_core2[NVTX_FUNCTIONS];
static nvtx_function nvtx_payload[NVTX_FUNCTIONS];
static nvtx_function *nvtx_core_table[NVTX_FUNCTIONS + 1], *nvtx_core2_table[NVTX_FUNCTIONS + 1];
static pthread_once_t nvtx_once = PTHREAD_ONCE_INIT;

static int nvtx_get_functions(int module, nvtx_function ***table, unsigned int *count)
{
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? nvtx_core_table : nvtx_core2_table;
	*count = NVTX_FUNCTIONS;
	return 1;
}

static const void *nvtx_get_table(uint32_t number)
{
	static const struct {
		size_t size;
		int (*get_functions)(int module, nvtx_function ***table, unsigned int *count);
	} callbacks = { sizeof(callbacks), nvtx_get_functions };

	return number == 1 ? &callbacks : NULL;
}

/* The extension for payloads has an entry of its own. */
static void nvtx_load_payload(void *library)
{
	struct {
		size_t number, count;
		nvtx_function *functions;
	} segment = { 0, NVTX_FUNCTIONS, nvtx_payload };
	const struct {
		uint16_t version, size, module, compatibility;
		size_t segment_count;
		const void *segments, *get_function, *info;
	} extension = { NVTX_VERSION, sizeof(extension), 2, 0x104, 1, &segment, NULL, NULL };
	int (*begin)(const void *extension);

	*(void **)&begin = dlsym(library, "InitializeInjectionNvtxExtension");
	if (begin)
		begin(&extension);
}

static void nvtx_load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(const void *(*get_table)(uint32_t number));

	for (int i = 1; i < NVTX_FUNCTIONS; i++) {
		nvtx_core_table[i] = &nvtx_core[i];
		nvtx_core2_table[i] = &nvtx_core2[i];
	}
	if (!library)
		return;
	*(void **)&begin = dlsym(library, "InitializeInjectionNvtx2");
	if (begin)
		begin(nvtx_get_table);
	nvtx_load_payload(library);
}

/* A function of the API: entry `number` of its module's table, if a library has put one there. */
#define NVTX_API_FUNCTION(type, name, table, number, params, args)			\
	static inline type name params							\
	{										\
		pthread_once(&nvtx_once, nvtx_load);					\
		return table[number] ? ((type(*) params)table[number])args : (type)0;	\
	}

NVTX_API_FUNCTION(nvtxRangeId_t, nvtxRangeStartA, nvtx_core, 5, (const char *message), (message))
NVTX_API_FUNCTION(int, nvtxRangePushEx, nvtx_core, 8, (const nvtxEventAttributes_t *attributes),
		  (attributes))
NVTX_API_FUNCTION(int, nvtxRangePushA, nvtx_core, 9, (const char *message), (message))
NVTX_API_FUNCTION(int, nvtxRangePop, nvtx_core, 11, (void), ())
NVTX_API_FUNCTION(int, nvtxDomainRangePushEx, nvtx_core2, 4,
		  (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes),
		  (domain, attributes))
NVTX_API_FUNCTION(int, nvtxDomainRangePop, nvtx_core2, 5, (nvtxDomainHandle_t domain), (domain))
NVTX_API_FUNCTION(nvtxStringHandle_t, nvtxDomainRegisterStringA, nvtx_core2, 10,
		  (nvtxDomainHandle_t domain, const char *text), (domain, text))
NVTX_API_FUNCTION(nvtxDomainHandle_t, nvtxDomainCreateA, nvtx_core2, 12, (const char *name),
		  (name))

NVTX_API_FUNCTION(uint64_t, nvtxPayloadSchemaRegister, nvtx_payload, 0,
		  (nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *attributes),
		  (domain, attributes))
NVTX_API_FUNCTION(uint64_t, nvtxPayloadEnumRegister, nvtx_payload, 1,
		  (nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t *attributes),
		  (domain, attributes))
NVTX_API_FUNCTION(int, nvtxRangePushPayload, nvtx_payload, 3,
		  (nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads, size_t count),
		  (domain, payloads, count))
NVTX_API_FUNCTION(int, nvtxRangePopPayload, nvtx_payload, 4,
		  (nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads, size_t count),
		  (domain, payloads, count))

static inline void nvtxMarkA(const char *message)
{
	pthread_once(&nvtx_once, nvtx_load);
	if (nvtx_core[2])
		((void (*)(const char *))nvtx_core[2])(message);
}

static inline void nvtxDomainMarkEx(nvtxDomainHandle_t domain,
				    const nvtxEventAttributes_t *attributes)
{
	pthread_once(&nvtx_once, nvtx_load);
	if (nvtx_core2[1])
		((void (*)(nvtxDomainHandle_t, const nvtxEventAttributes_t *))nvtx_core2[1])(
			domain, attributes);
}

static inline void nvtxRangeEnd(nvtxRangeId_t id)
{
	pthread_once(&nvtx_once, nvtx_load);
	if (nvtx_core[7])
		((void (*)(nvtxRangeId_t))nvtx_core[7])(id);
}

#endif
