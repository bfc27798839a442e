// SPDX-License-Identifier: BSD-2-Clause
// Takes in stack records; see intake.h.
#include "stack/intake.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/ring.h"
#include "base/table.h"
#include "stack/process.h"
#include "symbol/python_code.h"

#define CODE_BYTES_MAX (64u << 20) /* for Python's code objects */
/*
 * Above this limit records stay in the ring, and those that do not fit into the ring are counted as
 * lost.
 */
#define WAITING_BYTES_MAX (64u << 20)
#define FULL_PAUSE_NS (5 * NS_PER_MS)

struct interpreter {
	struct python_owner owner;
	struct python_offsets offsets;
	UT_hash_handle hh; /* by pid */
};

struct stack_intake {
	pthread_mutex_t lock; /* protects all of the following except the thread's own eventfds */
	struct ring ring;     /* all zero without a thread */
	int ring_fd;
	struct interpreter *interpreters;
	struct memory_reader *own_memory; /* NULL without a thread */
	struct python_codes *codes;
	struct python_names names;
	struct taken_stack *waiting; /* the oldest first */
	size_t waiting_count, waiting_bytes;
	uint64_t malformed;
	int waiting_fd; /* eventfd, readable while records wait */
	int stop_fd;	/* eventfd that tells the thread to end */
	pthread_t thread;
	bool runs;
};

void taken_stack__free(struct taken_stack *taken)
{
	if (!taken)
		return;
	free(taken->texts);
	free(taken);
}

/* --- records --- */

/* The ring may reserve more for a record than was copied into it. */
static bool can_be(const struct stack_record *record, size_t size)
{
	if (size < sizeof(*record) || (uintptr_t)record % _Alignof(struct stack_record))
		return false;
	return record->id && record->pid > 0 && record->natives <= STACK_FRAMES_MAX &&
	       record->pythons <= PYTHON_FRAMES_MAX + 1 && record->callers <= STACK_CALLERS &&
	       record->copied <= STACK_COPY_MAX && record->copied <= size - sizeof(*record);
}

static const struct interpreter *interpreter_of(const struct stack_intake *intake,
						const struct stack_record *record)
{
	const struct interpreter *interpreter =
		TABLE_FIND(intake->interpreters, owner.pid, &record->pid);

	return interpreter && stack_process__is_same_start(interpreter->owner.start_ns,
							   record->start_ns) ?
		       interpreter :
		       NULL;
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static const char *copy_text(const char *text, char **at)
{
	size_t size = text_size(text);
	char *copy = *at;

	if (!text)
		return NULL;
	memcpy(copy, text, size);
	*at += size;
	return copy;
}

/* Copies the names with their texts: the texts of code objects may be dropped. */
static int keep_names(const struct python_names *names, struct taken_stack *taken)
{
	size_t size = 0;
	char *at;

	for (uint32_t i = 0; i < names->count; i++)
		size += text_size(names->frames[i].function) + text_size(names->frames[i].file);
	taken->python.count = names->count;
	memcpy(taken->python.frames, names->frames, names->count * sizeof(*names->frames));
	memcpy(taken->python.entry, names->entry, names->count * sizeof(*names->entry));
	if (!size)
		return 0;
	at = taken->texts = malloc(size);
	if (!at)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->count; i++) {
		taken->python.frames[i].function = copy_text(names->frames[i].function, &at);
		taken->python.frames[i].file = copy_text(names->frames[i].file, &at);
	}
	return 0;
}

static void put(struct stack_intake *intake, struct taken_stack *taken)
{
	uint64_t one = 1;

	if (!intake->waiting && write(intake->waiting_fd, &one, sizeof(one)) < 0) {
		/* It is already readable. */
	}
	DL_APPEND(intake->waiting, taken);
	intake->waiting_bytes += taken->size;
	intake->waiting_count++;
}

static int take(struct stack_intake *intake, const struct stack_record *record)
{
	const struct interpreter *interpreter = interpreter_of(intake, record);
	size_t size = sizeof(*record) + record->copied;
	struct taken_stack *taken = malloc(sizeof(*taken) + record->copied);

	if (!taken)
		return -ENOMEM;
	taken->size = size;
	taken->texts = NULL;
	memcpy(&taken->record, record, size);
	python_codes__prune(intake->codes);
	python_names__make(&intake->names, intake->codes, interpreter ? &interpreter->owner : NULL,
			   interpreter ? &interpreter->offsets : NULL, record);
	if (keep_names(&intake->names, taken)) {
		taken_stack__free(taken);
		return -ENOMEM;
	}
	put(intake, taken);
	return 0;
}

static int take_checked(struct stack_intake *intake, const void *record, size_t size)
{
	if (can_be(record, size))
		return take(intake, record);
	intake->malformed++;
	return -EINVAL;
}

int stack_intake__take(struct stack_intake *intake, const void *record, size_t size)
{
	int ret;

	pthread_mutex_lock(&intake->lock);
	ret = take_checked(intake, record, size);
	pthread_mutex_unlock(&intake->lock);
	return ret;
}

struct taken_stack *stack_intake__pop(struct stack_intake *intake)
{
	struct taken_stack *taken;
	uint64_t count;

	pthread_mutex_lock(&intake->lock);
	taken = intake->waiting;
	if (taken) {
		DL_DELETE(intake->waiting, taken);
		intake->waiting_bytes -= taken->size;
		intake->waiting_count--;
	}
	if (taken && !intake->waiting && read(intake->waiting_fd, &count, sizeof(count)) < 0) {
		/* It was not readable. */
	}
	pthread_mutex_unlock(&intake->lock);
	return taken;
}

size_t stack_intake__count(struct stack_intake *intake)
{
	size_t count;

	pthread_mutex_lock(&intake->lock);
	count = intake->waiting_count;
	pthread_mutex_unlock(&intake->lock);
	return count;
}

int stack_intake__set_python(struct stack_intake *intake, const struct python_owner *owner,
			     const struct python_offsets *offsets)
{
	struct interpreter *interpreter;
	int ret = 0;

	pthread_mutex_lock(&intake->lock);
	interpreter = TABLE_FIND(intake->interpreters, owner.pid, &owner->pid);
	if (interpreter) {
		HASH_DEL(intake->interpreters, interpreter);
		free(interpreter);
	}
	if (offsets) {
		interpreter = TABLE_ADD_NEW(intake->interpreters, owner.pid, &owner->pid);
		ret = interpreter ? 0 : -ENOMEM;
	}
	if (offsets && interpreter) {
		interpreter->owner = *owner;
		interpreter->offsets = *offsets;
	}
	pthread_mutex_unlock(&intake->lock);
	return ret;
}

int stack_intake__fd(const struct stack_intake *intake)
{
	return intake->waiting_fd;
}

uint64_t stack_intake__malformed(struct stack_intake *intake)
{
	uint64_t malformed;

	pthread_mutex_lock(&intake->lock);
	malformed = intake->malformed;
	pthread_mutex_unlock(&intake->lock);
	return malformed;
}

/* --- the thread --- */

static int on_record(const void *data, size_t size, void *arg)
{
	/* A malformed record is counted. If memory runs out, its stack stays unknown. */
	take_checked(arg, data, size);
	return 0;
}

/*
 * Takes in what is in the ring now, because more may come faster than it is read. Returns whether
 * more records wait than the limit allows.
 */
static bool consume(struct stack_intake *intake)
{
	bool full;

	pthread_mutex_lock(&intake->lock);
	full = intake->waiting_bytes > WAITING_BYTES_MAX;
	if (!full)
		ring__read(&intake->ring, ring__written(&intake->ring), on_record, intake);
	pthread_mutex_unlock(&intake->lock);
	return full;
}

void stack_intake__drain(struct stack_intake *intake)
{
	if (intake->ring.data)
		consume(intake);
}

static void *run(void *arg)
{
	const struct timespec pause = {.tv_nsec = FULL_PAUSE_NS};
	struct stack_intake *intake = arg;
	struct pollfd fds[] = {
		{.fd = intake->ring_fd, .events = POLLIN},
		{.fd = intake->stop_fd, .events = POLLIN},
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents)
			return NULL;
		if (consume(intake))
			nanosleep(&pause, NULL);
	}
}

/* Blocks signals: the thread of the event loop handles them. */
static int start_thread(struct stack_intake *intake)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&intake->thread, NULL, run, intake);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	intake->runs = !ret;
	return -ret;
}

static void stop_thread(struct stack_intake *intake)
{
	uint64_t one = 1;

	if (!intake->runs)
		return;
	while (write(intake->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(intake->thread, NULL);
}

static int open_ring(struct stack_intake *intake, int ring_fd)
{
	int ret;

	if (ring_fd < 0)
		return 0;
	intake->ring_fd = ring_fd;
	ret = ring__map(&intake->ring, ring_fd);
	return ret ? ret : start_thread(intake);
}

/* A memory reader cannot be shared by two threads. */
static int make_codes(struct stack_intake *intake, int ring_fd, struct memory_reader *memory,
		      const struct log *log)
{
	if (ring_fd >= 0) {
		intake->own_memory = memory_reader__new(log);
		if (!intake->own_memory)
			return -ENOMEM;
		memory = intake->own_memory;
	}
	intake->codes = python_codes__new(CODE_BYTES_MAX, memory);
	return intake->codes ? 0 : -ENOMEM;
}

int stack_intake__new(int ring_fd, struct memory_reader *memory, const struct log *log,
		      struct stack_intake **out, struct error *err)
{
	struct stack_intake *intake = calloc(1, sizeof(*intake));
	int ret;

	if (!intake)
		return error__set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&intake->lock, NULL);
	intake->waiting_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	intake->stop_fd = eventfd(0, EFD_CLOEXEC);
	ret = make_codes(intake, ring_fd, memory, log);
	if (intake->waiting_fd < 0 || intake->stop_fd < 0)
		ret = -errno;
	else if (!ret)
		ret = open_ring(intake, ring_fd);
	if (ret) {
		stack_intake__free(intake);
		return error__set(err, ret, "cannot take in stacks: %s", strerror(-ret));
	}
	*out = intake;
	return 0;
}

void stack_intake__free(struct stack_intake *intake)
{
	struct taken_stack *taken, *next_taken;

	if (!intake)
		return;
	stop_thread(intake);
	ring__unmap(&intake->ring);
	DL_FOREACH_SAFE (intake->waiting, taken, next_taken) {
		taken_stack__free(taken);
	}
	TABLE_CLEAR(intake->interpreters, free);
	python_codes__free(intake->codes);
	memory_reader__free(intake->own_memory);
	if (intake->waiting_fd >= 0)
		close(intake->waiting_fd);
	if (intake->stop_fd >= 0)
		close(intake->stop_fd);
	pthread_mutex_destroy(&intake->lock);
	free(intake);
}
