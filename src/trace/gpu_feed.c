// SPDX-License-Identifier: BSD-2-Clause
// Lines of the work of GPUs, see gpu_feed.h.
#include "trace/gpu_feed.h"

#include <string.h>

#include "base/saturate.h"
#include "base/table.h"
#include "model/gpu_join.h"
#include "target/proc.h"
#include "trace/gpu_calls.h"
#include "trace/gpu_names.h"
#include "trace/gpu_work.h"
#include "trace/threads.h"

#define UNTOLD_NUMBERS 0xc0000000u /* of processes without a line: above those of BPF */
#define VAIN_SEARCHES 10000

struct feed_key {
	int64_t pid;
	uint64_t start_ns;
};

struct feed_process {
	struct feed_key key;
	struct gpu_feed *feed;
	struct trace_process shown; /* .cgroup is malloc'd */
	bool has_line;		    /* `shown` is that of a line */
	bool heard;		    /* something came from the library */
	bool failed;		    /* it could not start */
	uint64_t calls, matched;    /* that submitted work; with CUPTI's record of the call */
	struct gpu_names names;
	struct gpu_join *join; /* NULL: nothing yet, or no room */
	UT_hash_handle hh;
};

struct gpu_feed {
	struct gpu_feed_options options;
	struct feed_process *processes; /* a table, the oldest first */
	size_t joined;
	uint32_t untold; /* processes without a line so far */
	uint32_t vain;	 /* so many searches for ended processes are left out */
	struct gpu_names_room room;
	struct gpu_calls latest;
	struct gpu_feed_counts counts;			/* but for what processes have */
	uint64_t gone_calls, gone_matched, gone_silent; /* of forgotten processes */
	struct trace_line line;
	int ended; /* what options.line returned */
};

struct gpu_feed *gpu_feed__new(const struct gpu_feed_options *options)
{
	struct gpu_feed *feed = calloc(1, sizeof(*feed));

	if (feed)
		feed->options = *options;
	return feed;
}

static bool is_silent(const struct feed_process *process)
{
	return process->calls && !process->heard;
}

static void free_process(struct feed_process *process)
{
	struct gpu_feed *feed = process->feed;

	feed->gone_calls += process->calls;
	feed->gone_matched += process->matched;
	feed->gone_silent += is_silent(process);
	gpu_names__clear(&process->names, &feed->room);
	feed->joined -= process->join != NULL;
	gpu_join__free(process->join);
	free((char *)process->shown.cgroup);
	free(process);
}

void gpu_feed__free(struct gpu_feed *feed)
{
	if (!feed)
		return;
	TABLE_CLEAR(feed->processes, free_process);
	free(feed);
}

/* --- lines --- */

static bool is_wanted(const struct feed_process *process, const struct gpu_work *work)
{
	const struct gpu_feed_options *options = &process->feed->options;

	return options->kinds & 1u << work->kind && (process->has_line || !options->only_shown);
}

static void set_kernel(struct trace_line *line, const struct feed_process *process,
		       const struct gpu_work *work)
{
	const struct gpu_name *name = gpu_names__find(&process->names, work->name);

	line->kernel = name ? name->shown : NULL;
	line->kernel_label = name ? name->label : NULL;
	line->kernel_full = name ? name->mangled : NULL;
}

/* `joined`: NULL if the call is not known. */
static void show(struct feed_process *process, const struct gpu_work *work,
		 const struct gpu_joined *joined)
{
	struct gpu_feed *feed = process->feed;
	struct trace_line *line = &feed->line;
	struct trace_gpu_work gpu = {
		.kind = work->kind,
		.copy = work->copy,
		.has_call = joined != NULL,
		.device = work->device,
		.stream = work->stream,
		.bytes = work->bytes,
	};
	int64_t offset_ns;

	if (feed->ended || !is_wanted(process, work) || (!joined && feed->options.only_called))
		return;
	if (!process->join || !gpu_join__clock(process->join, &offset_ns)) {
		feed->counts.unplaced++;
		return;
	}
	if (joined)
		gpu.called_ns = joined->called_ns + (uint64_t)offset_ns;
	memset(line, 0, offsetof(struct trace_line, fields));
	line->kind = LINE_GPU;
	line->gpu = &gpu;
	line->process = &process->shown;
	line->tid = joined ? (pid_t)joined->tid : 0;
	line->device = work->device <= INT16_MAX ? (int16_t)work->device : -1;
	line->start_ns = work->start_ns + (uint64_t)offset_ns;
	line->duration_ns = work->end_ns - work->start_ns;
	if (trace_gpu_work__is_kernel(&gpu))
		set_kernel(line, process, work);
	feed->counts.work++;
	feed->counts.uncalled += !joined;
	feed->ended = feed->options.line(line, feed->options.line_arg);
}

static void show_joined(const struct gpu_joined *joined, void *arg)
{
	show(arg, joined->work, joined);
}

static void show_unjoined(const struct gpu_work *work, void *arg)
{
	show(arg, work, NULL);
}

/* --- processes --- */

static void join(struct feed_process *process)
{
	if (process->join)
		process->matched += gpu_join__run(process->join, show_joined, process);
}

static bool has_ended(const struct feed_process *process)
{
	struct process_info info;

	return proc__info((pid_t)process->key.pid, &info) ||
	       !traced_process__began(&process->shown, info.start_ns);
}

/* Passes on what the process has left. */
static void end_join(struct feed_process *process)
{
	join(process);
	gpu_join__give_up(process->join, true);
	gpu_join__free(process->join);
	process->join = NULL;
	process->feed->joined--;
}

/*
 * The oldest process that has ended and, for a `joined` one, has a join; NULL: none is known. A
 * search reads /proc for each process, so a vain one is not repeated at once.
 */
static struct feed_process *oldest_ended(struct gpu_feed *feed, bool joined)
{
	struct feed_process *process, *next;

	if (feed->vain) {
		feed->vain--;
		return NULL;
	}
	HASH_ITER (hh, feed->processes, process, next)
		if ((!joined || process->join) && has_ended(process))
			return process;
	feed->vain = VAIN_SEARCHES;
	return NULL;
}

static struct gpu_join *take_join(struct feed_process *process)
{
	struct gpu_feed *feed = process->feed;
	struct feed_process *ended = NULL;

	if (process->join)
		return process->join;
	if (feed->joined == GPU_FEED_JOINED && (ended = oldest_ended(feed, true)))
		end_join(ended);
	if (feed->joined == GPU_FEED_JOINED)
		return NULL;
	process->join = gpu_join__new();
	if (process->join)
		gpu_join__keep_all(process->join, show_unjoined, process);
	feed->joined += process->join != NULL;
	return process->join;
}

static bool make_room(struct gpu_feed *feed)
{
	struct feed_process *ended;

	if (HASH_COUNT(feed->processes) < GPU_FEED_PROCESSES)
		return true;
	ended = oldest_ended(feed, false);
	if (!ended)
		return false;
	if (ended->join)
		end_join(ended);
	HASH_DEL(feed->processes, ended);
	free_process(ended);
	return true;
}

/* Of a process without a line: what /proc says. */
static void describe(struct feed_process *process)
{
	struct trace_process *shown = &process->shown;
	struct process_info info;

	shown->number = UNTOLD_NUMBERS + process->feed->untold++;
	shown->pid = (pid_t)process->key.pid;
	shown->start_ns = process->key.start_ns;
	if (proc__info(shown->pid, &info) || !traced_process__began(shown, info.start_ns))
		return;
	shown->parent = info.parent;
	memcpy(shown->comm, info.comm, strnlen(info.comm, sizeof(shown->comm) - 1));
}

/* NULL: there is no room. */
static struct feed_process *take_process(struct gpu_feed *feed, pid_t pid, uint64_t start_ns)
{
	const struct feed_key key = {pid, start_ns};
	struct feed_process *process = TABLE_FIND(feed->processes, key, &key);

	if (process || !make_room(feed))
		return process;
	process = TABLE_ADD_NEW(feed->processes, key, &key);
	if (!process)
		return NULL;
	process->feed = feed;
	describe(process);
	return process;
}

/* --- calls --- */

static void see(struct feed_process *process, const struct trace_process *shown)
{
	if (process->has_line && process->shown.number == shown->number)
		return;
	free((char *)process->shown.cgroup);
	process->shown = *shown;
	process->shown.cgroup = shown->cgroup ? strdup(shown->cgroup) : NULL;
	process->has_line = true;
}

bool gpu_feed__call(struct gpu_feed *feed, const struct trace_line *line)
{
	struct feed_process *process;
	struct gpu_join *join;
	struct gpu_call call;

	if (!gpu_calls__take(&feed->latest, line, &call))
		return false;
	process = take_process(feed, line->process->pid, line->process->start_ns);
	if (!process)
		return false;
	see(process, line->process);
	process->calls++;
	/* No record comes. */
	if (process->failed)
		return false;
	join = take_join(process);
	return join && gpu_join__add_call(join, &call);
}

/* --- records --- */

/* When the call of CUPTI's record was, by gpuprobe's clock. */
static uint64_t moment_of(const struct feed_process *process, const struct gpu_work *work)
{
	int64_t offset_ns;

	return process->join && gpu_join__clock(process->join, &offset_ns) ?
		       work->start_ns + (uint64_t)offset_ns :
		       0;
}

static bool is_malformed(const struct gpu_work *work)
{
	return !work->kind || work->kind > GPU_WORK_CALL ||
	       (work->end_ns && work->end_ns < work->start_ns);
}

static void add_work(struct feed_process *process, const struct gpu_work *work)
{
	struct gpu_feed_counts *counts = &process->feed->counts;
	bool is_call = work->kind == GPU_WORK_CALL;

	if (is_malformed(work))
		counts->refused++;
	else if (!is_call && (!work->start_ns || !work->end_ns))
		counts->untimed++;
	else if (!is_call && (!work->correlation || !process->join))
		show(process, work, NULL);
	else if (process->join && gpu_join__add_work(process->join, work))
		join(process);
}

static uint64_t take_work(struct gpu_feed *feed, const struct gpu_times_work *record)
{
	struct feed_process *process = take_process(feed, record->head.pid, record->head.start_ns);
	uint64_t count = record->count < GPU_TIMES_BATCH ? record->count : GPU_TIMES_BATCH;
	uint64_t latest_ns = 0;

	saturate__add(&feed->counts.dropped, record->dropped);
	if (!process) {
		feed->counts.unplaced += count;
		return 0;
	}
	process->heard = true;
	take_join(process);
	for (uint64_t i = 0; i < count; i++) {
		add_work(process, &record->work[i]);
		if (record->work[i].kind == GPU_WORK_CALL)
			latest_ns = moment_of(process, &record->work[i]);
	}
	return latest_ns;
}

static void take_clock(struct gpu_feed *feed, const struct gpu_times_clock *record)
{
	struct feed_process *process = take_process(feed, record->head.pid, record->head.start_ns);

	if (process && take_join(process))
		gpu_join__set_clock(process->join, record->cupti_ns, record->boot_ns);
}

static void take_name(struct gpu_feed *feed, const struct gpu_times_name *record)
{
	struct feed_process *process = take_process(feed, record->head.pid, record->head.start_ns);
	char text[GPU_TIMES_NAME_SIZE];

	memcpy(text, record->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	if (!process || (*text && gpu_names__add(&process->names, &feed->room, record->name, text,
						 feed->options.full_names)))
		feed->counts.names++;
}

static void take_failure(struct gpu_feed *feed, const struct gpu_times_failure *record)
{
	struct feed_process *process = take_process(feed, record->head.pid, record->head.start_ns);
	char text[GPU_TIMES_REASON_SIZE];

	if (!process || process->failed)
		return;
	process->heard = process->failed = true;
	memcpy(text, record->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	feed->options.failed(record->head.pid, record->code, text, feed->options.failed_arg);
}

uint64_t gpu_feed__take(struct gpu_feed *feed, const void *record, size_t size)
{
	const struct gpu_times_head *head = record;

	if (size < sizeof(*head))
		return 0;
	if (head->function == GPU_TIMES_WORK && size >= sizeof(struct gpu_times_work))
		return take_work(feed, record);
	if (head->function == GPU_TIMES_NAME && size >= sizeof(struct gpu_times_name))
		take_name(feed, record);
	else if (head->function == GPU_TIMES_FAILURE && size >= sizeof(struct gpu_times_failure))
		take_failure(feed, record);
	else if (head->function == GPU_TIMES_CLOCK && size >= sizeof(struct gpu_times_clock))
		take_clock(feed, record);
	return 0;
}

/* --- what waits --- */

int gpu_feed__join(struct gpu_feed *feed)
{
	struct feed_process *process, *next;

	HASH_ITER (hh, feed->processes, process, next)
		join(process);
	return feed->ended;
}

int gpu_feed__give_up(struct gpu_feed *feed, bool all)
{
	struct feed_process *process, *next;

	HASH_ITER (hh, feed->processes, process, next)
		if (process->join)
			gpu_join__give_up(process->join, all);
	return feed->ended;
}

void gpu_feed__count(const struct gpu_feed *feed, struct gpu_feed_counts *counts)
{
	const struct feed_process *process, *next;
	uint64_t matched = feed->gone_matched;

	*counts = feed->counts;
	counts->calls = feed->gone_calls;
	counts->silent = feed->gone_silent;
	HASH_ITER (hh, feed->processes, process, next) {
		counts->calls += process->calls;
		counts->silent += is_silent(process);
		matched += process->matched;
	}
	counts->unrecorded = saturate__difference(counts->calls, matched);
}
