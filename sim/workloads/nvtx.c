// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps in NVTX ranges: "step" holds a copy, and "compute" with launches and a wait; "compute" is
 * in a domain, with a registered text. Another range begins in one thread and ends in another.
 *
 * With -DREAL_NVTX it is built with NVIDIA's header.
 */
#include "gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#else
#include "nvtx_api.h"
#endif

#define BYTES 4096

static struct {
	uint64_t steps, launches, deep, names, loose, marks;
	uint64_t payloads;
	bool unended;
	struct gpu gpu;
	struct kernels loaded;
} run = { .steps = 10, .launches = 5 };

static void launch(uint64_t count, CUstream stream)
{
	for (uint64_t i = 0; i < count; i++)
		NEED(cuLaunchKernel(run.loaded.handles[0], 1, 1, 1, 1, 1, 1, 0, stream, NULL,
				    NULL));
}

static void compute(nvtxDomainHandle_t domain, nvtxStringHandle_t text, CUstream stream)
{
	nvtxEventAttributes_t attributes = { .version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .messageType = NVTX_MESSAGE_TYPE_REGISTERED };

	attributes.message.registered = text;
	nvtxDomainRangePushEx(domain, &attributes);
	launch(run.launches, stream);
	NEED(cuStreamSynchronize(stream));
	nvtxDomainRangePop(domain);
}

static void make_steps(CUstream stream)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("model");
	nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "compute");
	CUdeviceptr device;
	void *host;

	NEED(cuMemAlloc(&device, BYTES));
	NEED(cuMemAllocHost(&host, BYTES));
	for (uint64_t step = 0; step < run.steps; step++) {
		nvtxRangePushA("step");
		NEED(cuMemcpyHtoDAsync(device, host, BYTES, stream));
		compute(domain, text, stream);
		nvtxRangePop();
	}
}

/* One more in each other than the next; and ranges with a name of their own. */
static void make_others(void)
{
	nvtxEventAttributes_t attributes = { .version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .messageType = NVTX_MESSAGE_TYPE_UNICODE };
	char name[32];

	attributes.message.unicode = L"w\u00efde";
	nvtxRangePushEx(&attributes);
	nvtxRangePop();
	for (uint64_t i = 0; i < run.deep; i++)
		nvtxRangePushA("deep");
	for (uint64_t i = 0; i < run.deep; i++)
		nvtxRangePop();
	for (uint64_t i = 0; i < run.names; i++) {
		snprintf(name, sizeof(name), "name %llu", (unsigned long long)i);
		nvtxRangePushA(name);
		nvtxRangePop();
	}
}

/* What a collective is called with, as NCCL tells it. */
struct collective {
	uint64_t communicator;
	size_t bytes;
	int32_t operation, root;
};

static uint64_t register_collective(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadEnum_t operations[] = { { "Sum", 0, 0 }, { "Max", 2, 0 } };
	const nvtxPayloadEnumAttr_t operation = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
		.entries = operations,
		.numEntries = 2,
		.sizeOfEnum = sizeof(int32_t),
	};
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "communicator" },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE, .name = "bytes" },
		{ .type = nvtxPayloadEnumRegister(domain, &operation), .name = "operation" },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "root",
		  .offset = offsetof(struct collective, root) },
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
		.name = "collective",
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 4,
	};

	return nvtxPayloadSchemaRegister(domain, &schema);
}

/* A payload at the beginning, one at the end, and one that is all there is. */
static void make_payloads(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
	struct collective collective = { 0xffffffffffff, 4096, 2, -1 };
	const nvtxPayloadData_t data = { register_collective(domain), sizeof(collective),
					 &collective };
	nvtxEventAttributes_t attributes = { .version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .messageType = NVTX_MESSAGE_TYPE_ASCII,
					     .payloadType = NVTX_PAYLOAD_TYPE_EXT,
					     .reserved0 = 1 };

	attributes.message.ascii = "ncclAllReduce";
	attributes.payload.ullValue = (uintptr_t)&data;
	for (uint64_t i = 0; i < run.payloads; i++) {
		collective.operation = 2;
		nvtxDomainRangePushEx(domain, &attributes);
		collective.operation = 7;
		nvtxRangePopPayload(domain, &data, 1);
		nvtxRangePushPayload(domain, &data, 1);
		nvtxDomainRangePop(domain);
	}
	attributes.payloadType = 3; /* a double */
	attributes.payload.dValue = 0.5;
	nvtxDomainRangePushEx(domain, &attributes);
	nvtxDomainRangePop(domain);
}

static void make_marks(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("model");
	nvtxEventAttributes_t attributes = { .version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .messageType = NVTX_MESSAGE_TYPE_ASCII };

	attributes.message.ascii = "mark";
	for (uint64_t i = 0; i < run.marks; i++) {
		nvtxMarkA("mark");
		nvtxDomainMarkEx(domain, &attributes);
	}
}

static void *end_range(void *arg)
{
	nvtxRangeEnd(*(nvtxRangeId_t *)arg);
	return NULL;
}

static void cross_threads(CUstream stream)
{
	nvtxRangeId_t here = nvtxRangeStartA("here"), across = nvtxRangeStartA("across");
	pthread_t thread;

	launch(run.loose, stream);
	nvtxRangeEnd(here);
	if (pthread_create(&thread, NULL, end_range, &across))
		abort();
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "steps", OPTION_NUMBER, &run.steps, NULL, "steps [10]" },
		{ "launches", OPTION_NUMBER, &run.launches, NULL, "launches a step [5]" },
		{ "deep", OPTION_NUMBER, &run.deep, NULL, "ranges in each other [0]" },
		{ "names", OPTION_NUMBER, &run.names, NULL, "ranges, each of its own name [0]" },
		{ "loose", OPTION_NUMBER, &run.loose, NULL,
		  "launches outside ranges, and as many in ranges with ids [0]" },
		{ "marks", OPTION_NUMBER, &run.marks, NULL, "marks of each kind [0]" },
		{ "payloads", OPTION_NUMBER, &run.payloads, NULL,
		  "ranges with payloads, in the domain NCCL [0]" },
		{ "unended", OPTION_FLAG, &run.unended, NULL, "leave ranges open at the end" },
		{ 0 },
	};
	CUstream stream;

	monitor_options__parse(argc, argv, "Makes NVTX ranges.", options);
	run.gpu = gpu__open(API_DRIVER);
	run.loaded = kernels__load(API_DRIVER, "kernel", 1, 0);
	gpu__enter(&run.gpu);
	NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	make_steps(stream);
	make_others();
	launch(run.loose, stream);
	cross_threads(stream);
	make_marks();
	if (run.payloads)
		make_payloads();
	if (run.unended) {
		nvtxRangePushA("open");
		nvtxRangeStartA("open too");
	}
	return 0;
}
