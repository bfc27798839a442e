// SPDX-License-Identifier: BSD-2-Clause
// The metrics page, see metrics.h.
#include "output/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/kernel_series.h"
#include "output/self_metrics.h"
#include "output/words.h"

struct metrics {
	struct metrics_options options;
	struct kernel_series *kernels;
};

/* One page in the making. */
struct page {
	struct exposition_writer writer;
	const struct model *model;
	const struct process **processes; /* those that have series, in order of first sight */
	size_t process_count;
};

static const struct metric_family live_bytes = {
	"gpuprobe_memory_live_bytes", METRIC_GAUGE,
	"Bytes allocated and not freed, by kind of memory.",
};
static const struct metric_family live_allocations = {
	"gpuprobe_memory_live_allocations", METRIC_GAUGE,
	"Allocations not freed, by kind of memory.",
};
static const struct metric_family allocations = {
	"gpuprobe_allocations", METRIC_COUNTER,
	"Successful allocation calls for memory of every kind, host memory included.",
};
static const struct metric_family allocation_failures = {
	"gpuprobe_allocation_failures", METRIC_COUNTER,
	"Failed allocation calls for memory of every kind, host memory included.",
};
static const struct metric_family frees = {
	"gpuprobe_frees", METRIC_COUNTER,
	"Successful free calls for memory of every kind, host memory included.",
};
static const struct metric_family free_failures = {
	"gpuprobe_free_failures", METRIC_COUNTER,
	"Failed free calls for memory of every kind, host memory included.",
};
static const struct metric_family allocation_seconds = {
	"gpuprobe_allocation_seconds", METRIC_COUNTER,
	"Time inside successful allocation calls, in seconds.",
};
static const struct metric_family live_at_exit = {
	"gpuprobe_live_at_exit_bytes", METRIC_COUNTER,
	"Bytes of device, managed and pool memory that ended processes had not freed.",
};
static const struct metric_family kernel_launches = {
	"gpuprobe_kernel_launches", METRIC_COUNTER,
	"Kernel launch calls by kernel; kernels without a name or beyond --metrics-kernels are"
	" counted as other.",
};
static const struct metric_family graph_launches = {
	"gpuprobe_graph_launches", METRIC_COUNTER, "Graph launch calls.",
};
static const struct metric_family copies = {
	"gpuprobe_copies", METRIC_COUNTER,
	"Successful copy and set calls by kind and mode.",
};
static const struct metric_family copy_bytes = {
	"gpuprobe_copy_bytes", METRIC_COUNTER,
	"Bytes of successful copy and set calls by kind and mode.",
};
static const struct metric_family copy_seconds = {
	"gpuprobe_copy_seconds", METRIC_COUNTER,
	"Time inside successful copy and set calls in seconds; of async ones the time to enqueue,"
	" not to copy.",
};
static const struct metric_family waits = {
	"gpuprobe_waits", METRIC_COUNTER,
	"Successful calls that block until the GPU is done, by what they wait for: stream, event,"
	" device; synchronous copies and frees beside them.",
};
static const struct metric_family wait_seconds = {
	"gpuprobe_wait_seconds", METRIC_COUNTER,
	"Time inside calls that block until the GPU is done, in seconds.",
};
static const struct metric_family queries = {
	"gpuprobe_queries", METRIC_COUNTER,
	"Stream and event queries by their answer.",
};
static const struct metric_family errors = {
	"gpuprobe_errors", METRIC_COUNTER,
	"Failed calls by function and error; of launches only a sample is checked unless"
	" --check-launches is given.",
};
static const struct metric_family events_lost = {
	"gpuprobe_events_lost", METRIC_COUNTER,
	"Calls and records that gpuprobe missed, by reason.",
};
static const struct metric_family probes_attached = {
	"gpuprobe_probes_attached", METRIC_GAUGE, "Probe sites attached, by layer.",
};
static const struct metric_family build = {
	"gpuprobe_build", METRIC_INFO, "The gpuprobe that serves this page.",
};

struct metrics *metrics__new(const struct metrics_options *options)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->options = *options;
	metrics->kernels = kernel_series__new(options->kernels);
	if (!metrics->kernels) {
		free(metrics);
		return NULL;
	}
	return metrics;
}

void metrics__free(struct metrics *metrics)
{
	if (!metrics)
		return;
	kernel_series__free(metrics->kernels);
	free(metrics);
}

/* By pid, and processes of one pid by age: all lie in one array. */
static int by_pid(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a;
	const struct process *y = *(const struct process *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_age(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a;
	const struct process *y = *(const struct process *const *)b;

	return x < y ? -1 : x > y;
}

/* Two processes of one pid would be one series twice: the newest of each is taken. */
static int choose_processes(struct page *page)
{
	size_t count = page->model->process_count, kept = 0, i;
	const struct process **all;

	if (!count)
		return 0;
	all = calloc(count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		all[i] = &page->model->processes[i];
	qsort(all, count, sizeof(*all), by_pid);
	for (i = 0; i < count; i++) {
		if (i + 1 == count || all[i]->pid != all[i + 1]->pid)
			all[kept++] = all[i];
	}
	qsort(all, kept, sizeof(*all), by_age);
	page->processes = all;
	page->process_count = kept;
	return 0;
}

static void process_sample(struct exposition_writer *w, const struct process *p)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", p->pid);
	exposition__sample(w);
	exposition__label(w, "pid", pid);
	exposition__label(w, "comm", p->comm);
}

/* A kind has series once it was used, device memory always: its 0 is worth knowing. */
static bool has_kind(const struct memory_totals *m, int kind)
{
	if (kind == MEMORY_DEVICE)
		return true;
	if (kind == MEMORY_UNKNOWN)
		return m->live_count > 0;
	return m->allocations || m->allocation_failures || m->frees || m->free_failures ||
	       m->live_count;
}

static void write_live(struct page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;
	size_t i;
	int kind;

	exposition__family(w, family);
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		for (kind = 0; kind < MEMORY_KINDS; kind++) {
			const struct memory_totals *m = &p->memory[kind];

			if (!has_kind(m, kind))
				continue;
			process_sample(w, p);
			exposition__label(w, "kind", words__memory_kind(kind));
			exposition__u64(w, family == &live_bytes ? m->live_bytes : m->live_count);
		}
	}
}

static uint64_t memory_value(const struct memory_totals *m, const struct metric_family *family)
{
	if (family == &allocations)
		return m->allocations;
	if (family == &allocation_failures)
		return m->allocation_failures;
	if (family == &frees)
		return m->frees;
	if (family == &free_failures)
		return m->free_failures;
	return m->allocation_ns;
}

static void write_memory_counter(struct page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;
	size_t i;
	int kind;

	exposition__family(w, family);
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];
		uint64_t sum = 0;

		for (kind = 0; kind < MEMORY_KINDS; kind++)
			sum += memory_value(&p->memory[kind], family);
		process_sample(w, p);
		if (family == &allocation_seconds)
			exposition__seconds(w, sum);
		else
			exposition__u64(w, sum);
	}
}

static void write_memory(struct page *page)
{
	write_live(page, &live_bytes);
	write_live(page, &live_allocations);
	write_memory_counter(page, &allocations);
	write_memory_counter(page, &allocation_failures);
	write_memory_counter(page, &frees);
	write_memory_counter(page, &free_failures);
	write_memory_counter(page, &allocation_seconds);
	exposition__family(&page->writer, &live_at_exit);
	exposition__sample(&page->writer);
	exposition__u64(&page->writer, page->model->live_at_exit_bytes);
}

static void kernel_sample(struct exposition_writer *w, const struct process *p, const char *label,
			  uint64_t launches)
{
	process_sample(w, p);
	exposition__label(w, "kernel", label);
	exposition__u64(w, launches);
}

static int write_kernels(struct page *page, struct kernel_series *series)
{
	struct exposition_writer *w = &page->writer;
	size_t i;

	exposition__family(w, &kernel_launches);
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];
		const struct process_kernels *kernels = kernel_series__update(series, p);
		const struct kernel_count *k;

		if (!kernels)
			return -ENOMEM;
		for (k = kernels->kernels; k; k = k->hh.next)
			kernel_sample(w, p, k->label, k->value);
		if (kernels->other)
			kernel_sample(w, p, KERNEL_SERIES_OTHER, kernels->other);
	}
	kernel_series__sweep(series);
	return 0;
}

static int write_launches(struct page *page, struct kernel_series *series)
{
	struct exposition_writer *w = &page->writer;
	size_t i;
	int err;

	err = write_kernels(page, series);
	if (err)
		return err;
	exposition__family(w, &graph_launches);
	for (i = 0; i < page->process_count; i++) {
		process_sample(w, page->processes[i]);
		exposition__u64(w, page->processes[i]->graph_launches);
	}
	return 0;
}

static void copy_sample(struct exposition_writer *w, const struct process *p, int kind, int mode)
{
	const struct copy_totals *c = &p->copies[kind][mode];

	if (!c->calls)
		return;
	process_sample(w, p);
	exposition__label(w, "kind", words__copy_kind(kind));
	exposition__label(w, "mode", mode ? "async" : "sync");
	if (w->family == &copies)
		exposition__u64(w, c->calls);
	else if (w->family == &copy_bytes)
		exposition__u64(w, c->bytes);
	else
		exposition__seconds(w, c->ns);
}

static void write_copy_counter(struct page *page, const struct metric_family *family)
{
	size_t i;
	int kind;

	exposition__family(&page->writer, family);
	for (i = 0; i < page->process_count; i++) {
		for (kind = 0; kind < COPY_KINDS; kind++) {
			copy_sample(&page->writer, page->processes[i], kind, 0);
			copy_sample(&page->writer, page->processes[i], kind, 1);
		}
	}
}

static void write_copies(struct page *page)
{
	write_copy_counter(page, &copies);
	write_copy_counter(page, &copy_bytes);
	write_copy_counter(page, &copy_seconds);
}

static void wait_sample(struct exposition_writer *w, const struct process *p, const char *kind,
			const struct wait_totals *waits_in)
{
	if (!waits_in->calls)
		return;
	process_sample(w, p);
	exposition__label(w, "kind", kind);
	if (w->family == &waits)
		exposition__u64(w, waits_in->calls);
	else
		exposition__seconds(w, waits_in->ns);
}

static void write_wait_counter(struct page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;
	size_t i;
	int scope;

	exposition__family(w, family);
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		for (scope = 0; scope < WAIT_SCOPES; scope++)
			wait_sample(w, p, words__wait_scope(scope), &p->waits[scope]);
		wait_sample(w, p, "copy", &p->copy_waits);
		wait_sample(w, p, "free", &p->free_waits);
	}
}

static void query_sample(struct exposition_writer *w, const struct process *p, int scope,
			 const char *answer, uint64_t count)
{
	if (!count)
		return;
	process_sample(w, p);
	exposition__label(w, "kind", words__wait_scope(scope));
	exposition__label(w, "answer", answer);
	exposition__u64(w, count);
}

static void write_queries(struct page *page)
{
	size_t i;
	int scope;

	exposition__family(&page->writer, &queries);
	for (i = 0; i < page->process_count; i++) {
		for (scope = 0; scope < WAIT_SCOPES; scope++) {
			const struct process *p = page->processes[i];
			const struct query_totals *q = &p->queries[scope];

			query_sample(&page->writer, p, scope, "done", q->calls - q->not_ready);
			query_sample(&page->writer, p, scope, "not_ready", q->not_ready);
		}
	}
}

static void write_waits(struct page *page)
{
	write_wait_counter(page, &waits);
	write_wait_counter(page, &wait_seconds);
	write_queries(page);
}

/* The error as a label: its name, or its number where the table has no name. */
static const char *error_label(const struct failure *f, char *buffer, size_t size)
{
	if (f->error)
		return f->error;
	snprintf(buffer, size, "%d", f->code);
	return buffer;
}

static bool same_series(const struct failure *a, const struct failure *b)
{
	if (strcmp(a->function, b->function) != 0)
		return false;
	if (!a->error || !b->error)
		return !a->error && !b->error && a->code == b->code;
	return strcmp(a->error, b->error) == 0;
}

/*
 * The count of failure `i` and of later ones that have its labels (one call in
 * a sampled and in an exact count); 0 when an earlier one has told it.
 */
static uint64_t error_count(const struct process *p, size_t i)
{
	uint64_t sum = p->failures[i].count;
	size_t k;

	for (k = 0; k < p->failure_count; k++) {
		if (k == i || !same_series(&p->failures[i], &p->failures[k]))
			continue;
		if (k < i)
			return 0;
		sum += p->failures[k].count;
	}
	return sum;
}

static void write_errors(struct page *page)
{
	struct exposition_writer *w = &page->writer;
	char buffer[16];
	size_t i, k;

	exposition__family(w, &errors);
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		for (k = 0; k < p->failure_count; k++) {
			const struct failure *f = &p->failures[k];
			uint64_t count = error_count(p, k);

			if (!count)
				continue;
			process_sample(w, p);
			exposition__label(w, "function", f->function);
			exposition__label(w, "error", error_label(f, buffer, sizeof(buffer)));
			exposition__u64(w, count);
		}
	}
}

static void write_gpuprobe(struct page *page, const char *version)
{
	struct exposition_writer *w = &page->writer;
	int i;

	exposition__family(w, &events_lost);
	for (i = 0; i < LOSS_COUNT; i++) {
		exposition__sample(w);
		exposition__label(w, "reason", words__loss_name(i));
		exposition__u64(w, page->model->lost[i]);
	}
	exposition__family(w, &probes_attached);
	for (i = 0; i < LAYER_COUNT; i++) {
		exposition__sample(w);
		exposition__label(w, "layer", words__layer(i));
		exposition__u64(w, page->model->sites_attached[i]);
	}
	exposition__family(w, &build);
	exposition__sample(w);
	exposition__label(w, "version", version);
	exposition__u64(w, 1);
	self_metrics__write(w);
}

int metrics__render(struct metrics *metrics, FILE *out, const struct model *model,
		    enum exposition form)
{
	struct page page = { .model = model };
	int err;

	exposition__begin(&page.writer, out, form);
	err = choose_processes(&page);
	if (err)
		return err;
	if (model->sections & SECTION_MEMORY)
		write_memory(&page);
	if (model->sections & SECTION_LAUNCH)
		err = write_launches(&page, metrics->kernels);
	if (err)
		goto out;
	if (model->sections & SECTION_COPY) {
		write_copies(&page);
		write_waits(&page);
	}
	write_errors(&page);
	write_gpuprobe(&page, metrics->options.version);
	exposition__end(&page.writer);
	err = ferror(out) ? -EIO : 0;
out:
	free(page.processes);
	return err;
}
