// SPDX-License-Identifier: BSD-2-Clause
// The kernel around a BPF program, see machine.h.
#include "machine.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel.bpf.h"

#define MEMORIES 64

struct memory {
	uintptr_t from;
	size_t bytes;
};

struct waiting_record {
	struct waiting_record *next;
	_Alignas(16) unsigned char bytes[];
};

struct machine machine;

static struct memory memories[MEMORIES];
static size_t memory_count;
static struct waiting_record *first_record, **last_record = &first_record;

__u64 machine__time(void)
{
	struct machine before = machine;

	if (machine.meanwhile) {
		machine.meanwhile = NULL;
		before.meanwhile(before.meanwhile_arg);
		machine.task = before.task;
		machine.cookie = before.cookie;
	}
	return before.now_ns;
}

__u64 machine__pid_tgid(void)
{
	return (__u64)(__u32)machine.task->tgid << 32 | (__u32)machine.task->pid;
}

void machine__report_memory(const void *from, size_t bytes)
{
	assert(memory_count < MEMORIES);
	memories[memory_count++] = (struct memory){(uintptr_t)from, bytes};
}

long machine__read(void *to, size_t bytes, const void *from)
{
	uintptr_t at = (uintptr_t)from;

	for (size_t i = 0; i < memory_count; i++) {
		const struct memory *memory = &memories[i];

		if (at < memory->from || bytes > memory->bytes ||
		    at - memory->from > memory->bytes - bytes)
			continue;
		memcpy(to, from, bytes);
		return 0;
	}
	/* As the kernel does. */
	memset(to, 0, bytes);
	return -EFAULT;
}

static struct waiting_record *record_of(void *bytes)
{
	return (void *)((unsigned char *)bytes - offsetof(struct waiting_record, bytes));
}

void *machine__reserve(size_t bytes)
{
	struct waiting_record *record = calloc(1, sizeof(*record) + bytes);

	assert(record);
	return record->bytes;
}

void machine__submit(void *bytes)
{
	struct waiting_record *record = record_of(bytes);

	*last_record = record;
	last_record = &record->next;
}

void machine__discard(void *bytes)
{
	free(record_of(bytes));
}

long machine__output(const void *record, size_t bytes)
{
	machine__submit(memcpy(machine__reserve(bytes), record, bytes));
	return 0;
}

void *machine__take_record(void)
{
	struct waiting_record *record = first_record;

	if (!record)
		return NULL;
	first_record = record->next;
	if (!first_record)
		last_record = &first_record;
	record->next = NULL;
	return record->bytes;
}

void machine__clear(void)
{
	void *record;

	while ((record = machine__take_record()))
		machine__discard(record);
	memory_count = 0;
	machine = (struct machine){};
}
