// SPDX-License-Identifier: BSD-2-Clause
// Samples threads that run; see running.h.
#include "dump/running.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define BATCH 64	  /* threads sampled together: descriptors and locked memory are limited */
#define PERIOD_NS 1000000 /* of CPU time of the thread */
#define DATA_PAGES 16	  /* 64 KiB: room for one and a half samples */
#define BIT(register) (1ull << PERF_REG_X86_##register)

/* A sample has the registers in the order of their numbers. */
#define REGISTER_MASK \
	(BIT(BX) | BIT(BP) | BIT(SP) | BIT(IP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15))

struct event {
	int fd;
	struct perf_event_mmap_page *ring;
};

static size_t ring_bytes(void)
{
	return (1 + DATA_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static int open_event(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGISTER_MASK,
		.sample_stack_user = STACK_COPY_MAX,
		.wakeup_events = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* .fd is -1 if the event cannot be opened. */
static struct event event__open(pid_t tid)
{
	struct event event = {.fd = open_event(tid)};

	if (event.fd < 0)
		return event;
	event.ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event.fd, 0);
	if (event.ring == MAP_FAILED) {
		close(event.fd);
		event.fd = -1;
	}
	return event;
}

static void event__close(struct event *event)
{
	if (event->fd < 0)
		return;
	munmap(event->ring, ring_bytes());
	close(event->fd);
}

/*
 * Reads a sample as perf_event_open(2) lays it out: the ABI of the registers, the registers, the
 * size of the stack, the stack, and the valid part of it. If the thread had no user registers, none
 * of these follow.
 */
static bool take_sample(const struct perf_event_header *header, struct thread_look *look)
{
	const uint64_t *words = (const uint64_t *)(header + 1);
	size_t count = (header->size - sizeof(*header)) / sizeof(*words),
	       registers = (size_t)__builtin_popcountll(REGISTER_MASK);
	const uint64_t *valid;
	uint64_t size;

	if (count < 1 + registers + 1 || words[0] != PERF_SAMPLE_REGS_ABI_64)
		return false;
	size = words[1 + registers];
	if (!size || size > STACK_COPY_MAX || count < 1 + registers + 1 + size / sizeof(*words) + 1)
		return false;
	valid = &words[1 + registers + 1 + size / sizeof(*words)];
	look->stack.registers = (struct stack_registers){
		.bx = words[1],
		.bp = words[2],
		.sp = words[3],
		.ip = words[4],
		.r12 = words[5],
		.r13 = words[6],
		.r14 = words[7],
		.r15 = words[8],
	};
	look->stack.copied = (uint32_t)(*valid < size ? *valid : size) & ~7u;
	memcpy(look->copy, &words[1 + registers + 1], look->stack.copied);
	return true;
}

/*
 * Takes the first record of the ring. The ring is read from its start, so no record wraps around.
 */
static bool take_first(const struct event *event, struct thread_look *look)
{
	uint64_t head = __atomic_load_n(&event->ring->data_head, __ATOMIC_ACQUIRE);
	const struct perf_event_header *header =
		(const void *)((const char *)event->ring + event->ring->data_offset);

	return head >= sizeof(*header) && header->type == PERF_RECORD_SAMPLE &&
	       header->size <= head && take_sample(header, look);
}

/* Returns how many threads still have no sample. */
static size_t take_all(const struct event *events, struct running_thread *threads,
		       struct pollfd *polled, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (events[i].fd >= 0 && !threads[i].seen)
			threads[i].seen = take_first(&events[i], threads[i].look);
		polled[i] = (struct pollfd){.fd = threads[i].seen ? -1 : events[i].fd,
					    .events = POLLIN};
		left += polled[i].fd >= 0;
	}
	return left;
}

static void sample_batch(struct running_thread *threads, size_t count, int wait_ms)
{
	uint64_t until = clock__boot_ns() + (uint64_t)wait_ms * NS_PER_MS, now;
	struct event events[BATCH];
	struct pollfd polled[BATCH];

	for (size_t i = 0; i < count; i++)
		events[i] = event__open(threads[i].tid);
	while (take_all(events, threads, polled, count) && (now = clock__boot_ns()) < until)
		poll(polled, count, (int)((until - now) / NS_PER_MS) + 1);
	for (size_t i = 0; i < count; i++)
		event__close(&events[i]);
}

void running_threads__sample(struct running_thread *threads, size_t count, int wait_ms)
{
	for (size_t i = 0; i < count; i += BATCH)
		sample_batch(&threads[i], count - i < BATCH ? count - i : BATCH, wait_ms);
}
