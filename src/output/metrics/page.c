// SPDX-License-Identifier: BSD-2-Clause
// A metrics page in the making, see page.h.
#include "output/metrics/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/gpu_label.h"
#include "output/metrics/process_groups.h"

/* By pid, and processes of one pid by age: all are in one array. */
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

/* The model may keep a process for longer, for a report that was not printed yet. */
static bool has_series(const struct model *model, const struct process *p)
{
	return !p->ended || model->now_ns < p->ended_ns + SERIES_ENDED_NS;
}

int metrics_page__choose_processes(struct metrics_page *page)
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
		if ((page->groups || i + 1 == count || all[i]->pid != all[i + 1]->pid) &&
		    has_series(page->model, all[i]))
			all[kept++] = all[i];
	}
	qsort(all, kept, sizeof(*all), by_age);
	page->processes = all;
	page->process_count = kept;
	return 0;
}

bool metrics_page__begin_family(struct metrics_page *page, const struct metric_family *family,
				enum metric_sum sum)
{
	if (!page->groups) {
		exposition__family(&page->writer, family);
		return true;
	}
	return sum != SUM_LEFT_OUT &&
	       process_groups__begin_family(page->groups, &page->writer, family, sum);
}

void metrics_page__turn(struct metrics_page *page, const struct process *p)
{
	if (page->groups)
		process_groups__turn(page->groups, p);
}

void metrics_page__end_family(struct metrics_page *page)
{
	if (page->groups)
		process_groups__end_family(page->groups, &page->writer);
}

static void write_processes(struct metrics_page *page)
{
	const struct metric *metric = page->metric;

	if (!metrics_page__begin_family(page, &metric->family, metric->sum))
		return;
	for (size_t k = 0; k < page->process_count; k++) {
		metrics_page__turn(page, page->processes[k]);
		metric->process(page, page->processes[k]);
	}
	metrics_page__end_family(page);
}

void metrics_page__write(struct metrics_page *page, const struct metric *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		page->metric = &metrics[i];
		if (metrics[i].process) {
			write_processes(page);
			continue;
		}
		exposition__family(&page->writer, &metrics[i].family);
		metrics[i].page(page);
	}
}

const char *metrics_page__one_of_many(struct metrics_page *page, const struct process *p,
				      enum many_things things, const char *label, const char *other)
{
	return !page->groups || !strcmp(label, other) ||
			       process_groups__admits(page->groups, p, things, label) ?
		       label :
		       other;
}

uint64_t metrics_page__value(const struct metrics_page *page, const void *of)
{
	return *(const uint64_t *)((const char *)of + page->metric->offset);
}

void metrics_page__write_total(struct metrics_page *page, const struct process *p)
{
	metrics_page__sample(&page->writer, p);
	exposition__number(&page->writer, metrics_page__value(page, p));
}

void metrics_page__sample(struct exposition_writer *w, const struct process *p)
{
	char pid[16];

	exposition__sample(w);
	/* A group's labels follow when its sums are known. */
	if (w->sink)
		return;
	snprintf(pid, sizeof(pid), "%d", p->pid);
	exposition__label(w, "pid", pid);
	exposition__label(w, "comm", p->comm);
}

void metrics_page__sample_on(struct metrics_page *page, const struct process *p, uint8_t device)
{
	const struct process_gpu *its = gpu_label__of_device(p, device);
	const struct gpu *gpu = its ? gpu_label__find(page->model, its) : NULL;
	struct exposition_writer *w = &page->writer;
	char number[8], label[GPU_LABEL_SIZE];

	snprintf(number, sizeof(number), "%u", device);
	if (gpu)
		gpu_label(gpu, label);
	metrics_page__sample(w, p);
	/* Processes of a group may number their devices differently. */
	if (!w->sink)
		exposition__label(w, "device", device == DEVICE_UNKNOWN ? "unknown" : number);
	exposition__label(w, "gpu", gpu ? label : "unknown");
	exposition__label(w, "uuid", gpu ? gpu->uuid : "");
}
