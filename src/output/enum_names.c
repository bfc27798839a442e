// SPDX-License-Identifier: BSD-2-Clause
// Names of enumerators, see enum_names.h.
#include "output/enum_names.h"

#include "finding/host_reasons.h"
#include "gpuprobe/state.h"

const char *enum_names__memory_kind(enum memory_kind kind)
{
	switch (kind) {
	case MEMORY_DEVICE: return "device";
	case MEMORY_MANAGED: return "managed";
	case MEMORY_POOL: return "pool";
	case MEMORY_HOST: return "host";
	case MEMORY_REGISTERED: return "registered";
	case MEMORY_ARRAY: return "array";
	case MEMORY_PHYSICAL: return "physical";
	case MEMORY_IMPORTED: return "imported";
	case MEMORY_RESERVED: return "reserved";
	case MEMORY_MAPPED: return "mapped";
	default: return "unknown";
	}
}

const char *enum_names__copy_kind(enum copy_kind kind)
{
	switch (kind) {
	case COPY_H2H: return "H2H";
	case COPY_H2D: return "H2D";
	case COPY_D2H: return "D2H";
	case COPY_D2D: return "D2D";
	case COPY_DEFAULT: /* the direction depends on addresses, which are unknown */
		return "unknown";
	case COPY_P2P: return "P2P";
	case COPY_SET: return "set";
	default: return "unknown";
	}
}

const char *enum_names__site_kind(enum site_kind kind)
{
	switch (kind) {
	case SITE_ALLOCATION: return "allocation";
	case SITE_LAUNCH: return "launch";
	case SITE_WAIT: return "wait";
	case SITE_FAILURE: return "failure";
	case SITE_COPY: return "copy";
	case SITE_OBJECT: return "object";
	default: return "unknown";
	}
}

const char *enum_names__host_kind(unsigned int kind)
{
	static const char *const words[HOST_KINDS] = {
		[HOST_CPU] = "on-cpu",
		[HOST_IN_LAUNCH] = "launches",
		[HOST_IN_MEMORY] = "allocation",
		[HOST_IN_COPY] = "copies",
		[HOST_IN_WAIT] = "waits",
		[HOST_IN_MODULE] = "modules",
		[HOST_IN_GRAPH] = "graphs",
		[HOST_IN_OTHER] = "other-calls",
		[HOST_LOCK] = "lock",
		[HOST_GIL] = "gil",
		[HOST_QUEUE] = "queue",
		[HOST_OUTPUT] = "output",
		[HOST_DISK] = "disk",
		[HOST_FAULT] = "page-fault",
		[HOST_SLEEP] = "sleep",
		[HOST_READY] = "preempted",
		[HOST_THROTTLED] = "throttled",
		[HOST_STOPPED] = "stopped",
		[HOST_OFF] = "other-wait",
	};

	return kind < HOST_KINDS ? words[kind] : "unknown";
}

const char *enum_names__wait_scope(enum wait_scope scope)
{
	switch (scope) {
	case WAIT_STREAM: return "stream";
	case WAIT_EVENT: return "event";
	case WAIT_CONTEXT: return "device";
	default: return "unknown";
	}
}

const char *enum_names__object_kind(enum object_kind kind)
{
	static const char *const names[OBJECT_KINDS] = {
		[OBJECT_STREAM] = "stream",	    [OBJECT_EVENT] = "event",
		[OBJECT_CONTEXT] = "context",	    [OBJECT_MODULE] = "module",
		[OBJECT_LIBRARY] = "library",	    [OBJECT_GRAPH] = "graph",
		[OBJECT_GRAPH_EXEC] = "graph_exec", [OBJECT_POOL] = "pool",
		[OBJECT_CUBLAS] = "cublas",	    [OBJECT_CUBLASLT] = "cublaslt",
		[OBJECT_CUDNN] = "cudnn",	    [OBJECT_CUSPARSE] = "cusparse",
		[OBJECT_CUSOLVER] = "cusolver",	    [OBJECT_CUFFT] = "cufft",
		[OBJECT_CURAND] = "curand",	    [OBJECT_NCCL] = "nccl",
	};

	return kind < OBJECT_KINDS ? names[kind] : "unknown";
}

const char *enum_names__kind_of(enum operation operation, uint8_t kind)
{
	switch (operation) {
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL: return enum_names__memory_kind(kind);
	case OP_COPY:
	case OP_SET: return enum_names__copy_kind(kind);
	case OP_WAIT:
	case OP_QUERY: return enum_names__wait_scope(kind);
	case OP_CREATE:
	case OP_DESTROY: return enum_names__object_kind(kind);
	case OP_GRAPH_LAUNCH: return kind == GRAPH_SIZE_UNKNOWN ? "unknown_size" : "-";
	case OP_CAPTURE: return kind == CAPTURE_END_TO ? "into_a_graph" : "-";
	default: return "-";
	}
}

const char *enum_names__tally_flag(uint16_t flag)
{
	switch (flag) {
	case TALLY_UNTRACKED: return "untracked";
	case TALLY_REPLACED: return "replaced";
	case TALLY_SAMPLED: return "sampled";
	case TALLY_NOT_READY: return "not_ready";
	case TALLY_CAPTURED: return "captured";
	case TALLY_PINNED: return "pinned";
	case TALLY_PAGEABLE: return "pageable";
	case TALLY_COVERED: return "covered";
	case TALLY_FIRST: return "first";
	case TALLY_IN_LAUNCH: return "in_launch";
	case TALLY_WITH_CONTEXT: return "with_context";
	case TALLY_OBJECT: return "object";
	case TALLY_REFERENCE: return "reference";
	case TALLY_DOUBLE: return "double";
	case TALLY_ENDED: return "ended";
	case TALLY_UNFOLLOWED: return "unfollowed";
	default: return "unknown";
	}
}

const char *enum_names__time_class(enum time_class class)
{
	static const char *const names[TIME_CLASSES] = {
		[TIME_LAUNCH] = "launch", [TIME_MEMORY] = "memory", [TIME_COPY] = "copy",
		[TIME_WAIT] = "wait",	  [TIME_OTHER] = "other",
	};

	return class < TIME_CLASSES ? names[class] : "unknown";
}

const char *enum_names__start_part(enum start_part part)
{
	static const char *const names[START_PARTS] = {
		[START_BEFORE] = "before CUDA", [START_DRIVER] = "driver",
		[START_CONTEXT] = "context",	[START_MODULES] = "modules",
		[START_GRAPHS] = "graphs",	[START_MEMORY] = "memory",
		[START_COPIES] = "copies",	[START_LAUNCHES] = "launches",
		[START_WAITS] = "waits",	[START_CALLS] = "other calls",
		[START_HOST] = "outside calls", [START_REST] = "not told apart",
	};

	return part < START_PARTS ? names[part] : "unknown";
}

const char *enum_names__implicit_wait(enum implicit_wait wait)
{
	static const char *const names[IMPLICIT_WAITS] = {
		[IMPLICIT_COPY] = "copy",
		[IMPLICIT_SET] = "set",
		[IMPLICIT_FREE] = "free",
		[IMPLICIT_LOAD] = "load",
		[IMPLICIT_FIRST_LAUNCH] = "first_launch",
	};

	return wait < IMPLICIT_WAITS ? names[wait] : "unknown";
}

const char *enum_names__copy_host(enum copy_host host)
{
	switch (host) {
	case COPY_HOST_PINNED: return "pinned";
	case COPY_HOST_PAGEABLE: return "pageable";
	default: return "unknown";
	}
}

const char *enum_names__layer(enum layer layer)
{
	switch (layer) {
	case LAYER_RUNTIME: return "runtime";
	case LAYER_DRIVER: return "driver";
	default: return "library";
	}
}

const char *enum_names__rate_family(enum rate_family family)
{
	static const char *const words[] = {"launch", "copy", "wait", "exact"};

	return words[family];
}

const char *enum_names__rate_families(enum rate_family family)
{
	static const char *const words[] = {"launches", "copies", "waits", "other calls"};

	return words[family];
}

const char *enum_names__section(enum section section)
{
	switch (section) {
	case SECTION_MEMORY: return "memory";
	case SECTION_LAUNCH: return "launches";
	case SECTION_COPY: return "copies";
	default: return "unknown";
	}
}

const char *enum_names__loss_name(enum loss loss)
{
	static const char *const names[LOSS_COUNT] = {
#define LOSS_NAME(id, name, text) [LOSS_##id] = (name),
		LOSSES(LOSS_NAME)
#undef LOSS_NAME
	};

	return names[loss];
}

const char *enum_names__loss_text(enum loss loss)
{
	static const char *const texts[LOSS_COUNT] = {
#define LOSS_TEXT(id, name, text) [LOSS_##id] = (text),
		LOSSES(LOSS_TEXT)
#undef LOSS_TEXT
	};

	return texts[loss];
}
