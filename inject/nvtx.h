/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libgpuprobe-nvtx.so exports: the function that NVTX calls, and empty functions that
 * gpuprobe's probes watch.
 */
#ifndef INJECT_NVTX_H
#define INJECT_NVTX_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/nvtx.h"

/*
 * Each copy of NVTX in the program calls it at its first range, because of NVTX_INJECTION64_PATH.
 * `get_table` gives NVTX's tables by number. Returns 1: all is well, or 0: the copy is too old.
 */
int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t number));

/*
 * The same for NVTX's extension for payloads: `extension` has the table that gets its functions.
 * Returns 1, or 0: it is another extension.
 */
struct nvtx_extension;
int InitializeInjectionNvtxExtension(const struct nvtx_extension *extension);

/*
 * A range begins in this thread and domain; gpuprobe_nvtx_pop ends the latest one. `text` is
 * "DOMAIN: MESSAGE" with a domain of so many bytes, or the message alone with 0. `payload` is a
 * text, "" if there is none, here and below.
 */
void gpuprobe_nvtx_push(uint64_t name, uint64_t domain, const char *text, size_t domain_length,
			const char *payload);
void gpuprobe_nvtx_pop(uint64_t domain, const char *payload);

/* A range begins that has an id of its own, and any thread may end it. */
void gpuprobe_nvtx_start(uint64_t name, uint64_t id, const char *text, size_t domain_length,
			 const char *payload);
void gpuprobe_nvtx_end(uint64_t id, const char *payload);

/* A moment with a text, as that of a range. */
void gpuprobe_nvtx_mark(const char *text, size_t domain_length, const char *payload);

/* Tells the text of ranges that have the number `name`. */
void gpuprobe_nvtx_name(uint64_t name, const char *text);

#endif
