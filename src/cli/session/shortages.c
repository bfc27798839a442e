// SPDX-License-Identifier: BSD-2-Clause
// Allocations that fail for good, see shortages.h.
#include "cli/session/shortages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/text_stream.h"
#include "model/oom.h"
#include "output/oom/oom_text.h"
#include "privilege/file_rights.h"

#define RELIEF_NS (100 * NS_PER_MS)
/*
 * A framework that says its verdict is given the time to free its caches and to try again; the
 * call may also be another library's, so the report still comes within a second.
 */
#define VERDICT_NS (800 * NS_PER_MS)
/*
 * With expandable segments it takes a request piece by piece. If one is missing it returns the
 * others, which takes seconds for a large GPU, and then tries again or says its verdict.
 */
#define PIECES_VERDICT_NS (10 * NS_PER_S)
#define DELAY_MS 120 /* from the notice to the verdict */
/* NVML is waited for that long, and so often: on a busy machine the thread that asks it is late. */
#define NVML_NS (500 * NS_PER_MS)
#define NVML_LOOKS 5
#define PENDING_MAX 64 /* failures without a verdict */
#define REPORTS_MAX 20 /* also of files */
#define FILE_MAX (1 << 20)
/* A process that goes on after a failure, and fails again and again, has one report. */
#define REPEAT_NS (10 * NS_PER_S)

struct pending {
	struct record_shortage record;
	struct timespec wall;
	uint64_t start_ns;  /* with the pid identifies the process */
	uint64_t relief_ns; /* how long it may take until the failure is taken back */
	int32_t pid;
	unsigned int looks; /* how often it was looked at */
	bool asked;	    /* relief_ns considers whether a verdict comes */
	bool cuda_failed;   /* of a framework's verdict: the thread's call of CUDA had failed */
};

struct shortages {
	struct shortages_options options;
	const struct log *log;
	struct site_history *history;
	struct event *due;
	int directory; /* -1: none */
	struct pending pending[PENDING_MAX];
	size_t count;
	struct oom reported[REPORTS_MAX];
	size_t reports;
	uint64_t left_out; /* failures for good without a report */
};

int shortages__new(const struct shortages_options *options, const struct log *log,
		   struct shortages **out, struct error *err)
{
	struct shortages *shortages = calloc(1, sizeof(*shortages));
	int ret = 0;

	if (!shortages)
		return error__set(err, -ENOMEM, "out of memory");
	shortages->options = *options;
	shortages->log = log;
	shortages->directory = -1;
	shortages->history = site_history__new();
	if (!shortages->history)
		ret = error__set(err, -ENOMEM, "out of memory");
	if (!ret && options->directory) {
		shortages->directory = file_rights__open(AT_FDCWD, options->directory,
							 O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
		if (shortages->directory < 0)
			ret = error__set(err, shortages->directory, "--oom-dir %s: %s",
					 options->directory, strerror(-shortages->directory));
	}
	if (ret) {
		shortages__free(shortages);
		return ret;
	}
	*out = shortages;
	return 0;
}

void shortages__free(struct shortages *shortages)
{
	if (!shortages)
		return;
	if (shortages->due)
		event_free(shortages->due);
	if (shortages->directory >= 0)
		close(shortages->directory);
	site_history__free(shortages->history);
	free(shortages);
}

/* --- reports --- */

/* Never writes to a file that is there already: O_EXCL. */
static void write_file(const struct shortages *shortages, int32_t pid, const char *text,
		       size_t length)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "oom-%d-%zu.txt", pid, shortages->reports);
	fd = file_rights__open(shortages->directory, name,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, length < FILE_MAX ? length : FILE_MAX) < 0)
		log__warn(shortages->log, "--oom-dir: cannot write %s: %s", name,
			  strerror(fd < 0 ? -fd : errno));
	if (fd >= 0)
		close(fd);
}

static void print(const struct shortages *shortages, const struct oom *oom,
		  const struct timespec *wall)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (out)
		oom_text__print(out, oom, wall);
	if (!out || fclose(out)) {
		oom_text__print(stderr, oom, wall);
		if (shortages->directory >= 0)
			log__warn(shortages->log, "--oom-dir: a report is missing: out of memory");
		return;
	}
	fputs(text, stderr);
	if (shortages->directory >= 0)
		write_file(shortages, oom->pid, text, length);
	free(text);
}

static bool was_reported(const struct shortages *shortages, const struct pending *pending)
{
	for (size_t i = 0; i < shortages->reports; i++)
		if (shortages->reported[i].pid == pending->pid &&
		    shortages->reported[i].start_ns == pending->start_ns &&
		    pending->record.time_ns - shortages->reported[i].time_ns < REPEAT_NS)
			return true;
	return false;
}

static struct process *find_process(const struct model *model, const struct pending *pending)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].pid == pending->pid &&
		    model->processes[i].start_ns == pending->start_ns)
			return &model->processes[i];
	return NULL;
}

/* For JSON. Stacks and sites are those of this reading only. */
static void keep(struct shortages *shortages, struct model *model, const struct oom *oom)
{
	struct oom *kept = &shortages->reported[shortages->reports++];

	*kept = *oom;
	kept->stack = NULL;
	kept->site_count = 0;
	kept->increase.site = NULL;
	model->ooms = shortages->reported;
	model->oom_count = shortages->reports;
}

static void report(struct shortages *shortages, const struct pending *pending)
{
	const struct shortages_options *options = &shortages->options;
	struct model *model = options->model(options->arg);
	struct process *process = find_process(model, pending);
	struct oom oom = {
		.tid = pending->record.tid,
		.time_ns = pending->record.time_ns,
		.bytes = pending->record.bytes,
		.row = pending->record.row,
		.of_framework = pending->record.header.type == RECORD_SHORTAGE_FINAL,
		.allocated = pending->record.allocated,
		.reserved = pending->record.reserved,
		.cuda_failed = pending->cuda_failed,
	};

	if (process)
		process->out_of_memory++;
	if (!process || shortages->reports == REPORTS_MAX || was_reported(shortages, pending)) {
		shortages->left_out++;
		return;
	}
	oom.stack =
		pending->record.stack ? options->stack(pending->record.stack, options->arg) : NULL;
	oom__describe(&oom, model, process, pending->record.device, shortages->history);
	oom_text__name_line(&oom);
	keep(shortages, model, &oom);
	print(shortages, &oom, &pending->wall);
}

/* --- notices --- */

static bool is_verdict(const struct pending *pending)
{
	return pending->record.header.type == RECORD_SHORTAGE_FINAL;
}

/*
 * Whether the failure may be taken back at this age. The process is asked about its framework only
 * when it matters, since most failures are taken back, or judged, at once.
 */
static bool is_open(const struct shortages *shortages, struct pending *pending, uint64_t age_ns)
{
	uint8_t kind = api_functions[pending->record.row].desc.kind;

	if (age_ns > pending->relief_ns && !pending->asked && !is_verdict(pending)) {
		pending->asked = true;
		if (shortages->options.awaits_verdict(pending->pid, shortages->options.arg))
			pending->relief_ns =
				kind == MEMORY_PHYSICAL ? PIECES_VERDICT_NS : VERDICT_NS;
	}
	return age_ns <= pending->relief_ns;
}

/* Whether there was time for a relief. An ended process needs none. */
static bool is_over(const struct shortages *shortages, struct pending *pending,
		    const struct model *model, uint64_t now_ns)
{
	const struct process *process = find_process(model, pending);
	uint64_t age_ns = now_ns - pending->record.time_ns;

	return !is_open(shortages, pending, age_ns) ||
	       (age_ns > RELIEF_NS && (!process || process->ended));
}

/* Whether NVML was queried after the failure, if it answers in time. */
static bool knows_gpu(const struct pending *pending, const struct model *model, uint64_t now_ns)
{
	return (now_ns - pending->record.time_ns >= NVML_NS && pending->looks >= NVML_LOOKS) ||
	       model->gpus_ns > pending->record.time_ns;
}

/* A reading may be long, so there is none while failures only wait for a relief. */
static void update_if_over(struct shortages *shortages, const struct model *model, uint64_t now_ns)
{
	for (size_t i = 0; i < shortages->count; i++) {
		if (!is_over(shortages, &shortages->pending[i], model, now_ns))
			continue;
		/* Takes in the notices that take others back, too. */
		shortages->options.update(shortages->options.arg);
		return;
	}
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval delay = {.tv_usec = DELAY_MS * 1000};
	struct shortages *shortages = arg;
	uint64_t now_ns = clock__boot_ns();
	const struct model *model = shortages->options.model(shortages->options.arg);
	size_t kept = 0;

	(void)fd;
	(void)what;
	update_if_over(shortages, model, now_ns);
	for (size_t i = 0; i < shortages->count; i++) {
		struct pending *pending = &shortages->pending[i];

		pending->looks++;
		if (is_over(shortages, pending, model, now_ns) && knows_gpu(pending, model, now_ns))
			report(shortages, pending);
		else
			shortages->pending[kept++] = *pending;
	}
	shortages->count = kept;
	if (kept)
		evtimer_add(shortages->due, &delay);
}

int shortages__start(struct shortages *shortages, struct event_base *loop)
{
	shortages->due = evtimer_new(loop, on_due, shortages);
	return shortages->due ? 0 : -ENOMEM;
}

/*
 * Takes back the thread's failures; a framework's verdict stands, except for a later one. Sets
 * *cuda_failed if CUDA had failed before such a later verdict.
 */
static void relieve(struct shortages *shortages, const struct process *process,
		    const struct record_shortage *record, bool *cuda_failed)
{
	bool is_relief = record->header.type == RECORD_SHORTAGE_RELIEVED;
	size_t kept = 0, count = shortages->count;

	for (size_t i = 0; i < count; i++) {
		struct pending *pending = &shortages->pending[i];

		if (pending->pid != process->pid || pending->start_ns != process->start_ns ||
		    pending->record.tid != record->tid || (is_relief && is_verdict(pending)) ||
		    !is_open(shortages, pending, record->time_ns - pending->record.time_ns)) {
			shortages->pending[kept++] = *pending;
			continue;
		}
		*cuda_failed |= !is_verdict(pending) || pending->cuda_failed;
	}
	shortages->count = kept;
}

void shortages__take(struct shortages *shortages, const struct process *process,
		     const struct record_shortage *record)
{
	const struct timeval delay = {.tv_usec = DELAY_MS * 1000};
	struct pending *pending;
	bool cuda_failed = false;

	/* A framework's verdict stands for the failures of CUDA that led to it. */
	if (record->header.type != RECORD_SHORTAGE)
		relieve(shortages, process, record, &cuda_failed);
	if (record->header.type == RECORD_SHORTAGE_RELIEVED)
		return;
	if (shortages->count == PENDING_MAX || record->row >= api_function_count) {
		shortages->left_out++;
		return;
	}
	pending = &shortages->pending[shortages->count++];
	*pending = (struct pending){.record = *record,
				    .start_ns = process->start_ns,
				    .pid = process->pid,
				    .relief_ns = RELIEF_NS,
				    .cuda_failed = cuda_failed};
	clock_gettime(CLOCK_REALTIME, &pending->wall);
	if (!evtimer_pending(shortages->due, NULL))
		evtimer_add(shortages->due, &delay);
}

void shortages__sample(struct shortages *shortages)
{
	site_history__sample(shortages->history, shortages->options.model(shortages->options.arg));
}

void shortages__finish(struct shortages *shortages)
{
	const struct model *model = shortages->options.model(shortages->options.arg);

	for (size_t i = 0; i < shortages->count; i++) {
		const struct pending *pending = &shortages->pending[i];
		const struct process *process = find_process(model, pending);

		/* It is unknown what comes of a failure whose verdict is still to come. */
		if (pending->relief_ns > RELIEF_NS && process && !process->ended)
			shortages->left_out++;
		else
			report(shortages, pending);
	}
	shortages->count = 0;
	if (shortages->left_out)
		log__warn(shortages->log,
			  "%llu more allocation%s failed for lack of memory without a report",
			  (unsigned long long)shortages->left_out,
			  shortages->left_out == 1 ? "" : "s");
}
