// SPDX-License-Identifier: BSD-2-Clause
// Findings in the metrics, see finding_series.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/metrics/finding_series.h"
#include "base/table.h"
#include "output/finding/findings.h"

#define SEVERITIES (SEVERITY_CRITICAL + 1)

static const struct metric_family active = {
	"gpuprobe_finding_active",
	METRIC_GAUGE,
	"What is wrong with a process, by the finding's id: 1 while there is evidence for it, 0 "
	"when there is no more.",
};
static const struct metric_family cost = {
	"gpuprobe_finding_cost_seconds",
	METRIC_COUNTER,
	"Time that a finding has cost its process so far, the most that was known at any time, in "
	"seconds.",
};

/* The reported state of one kind of finding of one process. */
struct reported {
	bool known[SEVERITIES];	 /* was detected with this severity */
	bool active[SEVERITIES]; /* is detected now */
	bool has_cost;
	uint64_t cost_ns; /* highest value so far */
	uint64_t next_ns; /* sum of the findings detected now */
};

/* Identifies a process: it is another one if any of these differs. No padding: hashed as bytes. */
struct identity {
	uint64_t start_ns;
	uint32_t pid; /* 0: findings that belong to several processes */
	uint32_t pad;
};

struct entry {
	struct identity identity;
	bool seen; /* on this page */
	UT_hash_handle hh;
	struct reported reported[]; /* by kind */
};

struct finding_series {
	struct entry *entries;
};

struct finding_series *finding_series__new(void)
{
	return calloc(1, sizeof(struct finding_series));
}

static void forget(struct finding_series *series, struct entry *entry)
{
	HASH_DEL(series->entries, entry);
	free(entry);
}

void finding_series__free(struct finding_series *series)
{
	if (!series)
		return;
	TABLE_CLEAR(series->entries, free);
	free(series);
}

/* --- known processes --- */

static struct entry *find(const struct finding_series *series, int32_t pid, uint64_t start_ns)
{
	struct identity identity = {.start_ns = start_ns, .pid = (uint32_t)pid};
	struct entry *entry;

	HASH_FIND(hh, series->entries, &identity, sizeof(identity), entry);
	return entry;
}

static struct entry *find_or_add(struct finding_series *series, const struct finding *finding)
{
	struct entry *entry = find(series, finding->pid, finding->start_ns);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry) + finding_kind_count * sizeof(entry->reported[0]));
	if (!entry)
		return NULL;
	entry->identity =
		(struct identity){.start_ns = finding->start_ns, .pid = (uint32_t)finding->pid};
	HASH_ADD(hh, series->entries, identity, sizeof(entry->identity), entry);
	if (entry->hh.tbl)
		return entry;
	free(entry);
	return NULL;
}

static void begin(struct finding_series *series)
{
	for (struct entry *entry = series->entries; entry; entry = entry->hh.next) {
		entry->seen = false;
		for (size_t kind = 0; kind < finding_kind_count; kind++) {
			memset(entry->reported[kind].active, 0,
			       sizeof(entry->reported[kind].active));
			entry->reported[kind].next_ns = 0;
		}
	}
}

static int take(struct finding_series *series, const struct finding *finding)
{
	struct entry *entry = find_or_add(series, finding);
	struct reported *reported;

	if (!entry)
		return -ENOMEM;
	reported = &entry->reported[finding_kind__index(finding->kind)];
	reported->known[finding->severity] = true;
	reported->active[finding->severity] = true;
	if (finding->has_cost) {
		reported->has_cost = true;
		reported->next_ns += finding->cost_ns;
		if (reported->cost_ns < reported->next_ns)
			reported->cost_ns = reported->next_ns;
	}
	return 0;
}

/* --- the page --- */

static void begin_sample(struct exposition_writer *w, const struct entry *entry, size_t kind)
{
	char pid[16] = "";

	if (entry->identity.pid)
		snprintf(pid, sizeof(pid), "%u", entry->identity.pid);
	exposition__sample(w);
	exposition__label(w, "id", finding_kinds[kind]->id);
	if (!w->sink)
		exposition__label(w, "pid", pid);
}

static void write_active(struct exposition_writer *w, const struct entry *entry)
{
	for (size_t kind = 0; kind < finding_kind_count; kind++) {
		const struct reported *reported = &entry->reported[kind];

		for (int severity = 0; severity < SEVERITIES; severity++) {
			if (!reported->known[severity])
				continue;
			begin_sample(w, entry, kind);
			exposition__label(w, "severity", findings_text__severity_word(severity));
			exposition__number(w, reported->active[severity]);
		}
	}
}

static void write_cost(struct exposition_writer *w, const struct entry *entry)
{
	for (size_t kind = 0; kind < finding_kind_count; kind++) {
		if (!entry->reported[kind].has_cost)
			continue;
		begin_sample(w, entry, kind);
		exposition__number(w, entry->reported[kind].cost_ns);
	}
}

static void write_family(struct metrics_page *page, struct finding_series *series,
			 const struct metric_family *family, enum metric_sum sum,
			 void (*write)(struct exposition_writer *w, const struct entry *entry))
{
	struct entry *entry = find(series, 0, 0);

	if (!metrics_page__begin_family(page, family, sum))
		return;
	if (entry) {
		entry->seen = true;
		write(&page->writer, entry);
	}
	for (size_t i = 0; series->entries && i < page->process_count; i++) {
		entry = find(series, page->processes[i]->pid, page->processes[i]->start_ns);
		if (!entry)
			continue;
		entry->seen = true;
		metrics_page__turn(page, page->processes[i]);
		write(&page->writer, entry);
	}
	metrics_page__end_family(page);
}

static void sweep(struct finding_series *series)
{
	struct entry *entry, *next;

	HASH_ITER (hh, series->entries, entry, next)
		if (!entry->seen)
			forget(series, entry);
}

int finding_series__write(struct metrics_page *page, struct finding_series *series,
			  const struct finding_list *list)
{
	int ret = 0;

	begin(series);
	for (size_t i = 0; i < list->count && !ret; i++)
		ret = take(series, &list->items[i]);
	write_family(page, series, &active, SUM_MOST, write_active);
	write_family(page, series, &cost, SUM_ADDED, write_cost);
	sweep(series);
	return ret;
}
