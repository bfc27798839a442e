// SPDX-License-Identifier: BSD-2-Clause
// The list of findings, and functions with which a rule fills in a finding, see finding.h.
#include "finding/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct finding *finding_list__add(struct finding_list *list, const struct finding_input *input,
				  const struct process *process)
{
	struct finding *finding;

	if (ARRAY_RESERVE(list->items, list->count, 1))
		return NULL;
	finding = &list->items[list->count++];
	*finding = (struct finding){.kind = input->kind, .severity = input->kind->severity};
	if (process) {
		finding->pid = process->pid;
		finding->start_ns = process->start_ns;
		memcpy(finding->comm, process->comm, sizeof(finding->comm));
		finding->comm[sizeof(finding->comm) - 1] = '\0';
	}
	return finding;
}

static __attribute__((format(printf, 2, 0))) int set_text(char **text, const char *format,
							  va_list args)
{
	char *made;

	if (vasprintf(&made, format, args) < 0)
		return -ENOMEM;
	free(*text);
	*text = made;
	return 0;
}

int finding__subject(struct finding *finding, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = set_text(&finding->subject, format, args);
	va_end(args);
	return ret;
}

int finding__title(struct finding *finding, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = set_text(&finding->title, format, args);
	va_end(args);
	return ret;
}

int finding__evidence(struct finding *finding, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = set_text(&finding->evidence, format, args);
	va_end(args);
	return ret;
}

void finding__number(struct finding *finding, const char *name, double value,
		     enum finding_unit unit)
{
	if (finding->number_count == FINDING_NUMBERS)
		return;
	finding->numbers[finding->number_count++] =
		(struct finding_number){.name = name, .value = value, .unit = unit};
}

void finding__cost(struct finding *finding, uint64_t cost_ns, uint64_t of_ns)
{
	finding->has_cost = true;
	finding->cost_ns = cost_ns;
	finding->share = of_ns ? (double)cost_ns / (double)of_ns : 0;
	finding->weight = (double)cost_ns;
}

struct finding_key finding__key(const struct finding *finding)
{
	return (struct finding_key){
		.start_ns = finding->start_ns,
		.pid = finding->pid,
		.tid = finding->tid,
		.kind = (uint32_t)finding_kind__index(finding->kind),
		.subject =
			finding->subject ? hash__of(finding->subject, strlen(finding->subject)) : 0,
	};
}

void finding__saving(struct finding *finding, uint64_t saving_ns, const char *assumption)
{
	finding->has_saving = true;
	finding->saving_ns = saving_ns;
	finding->assumption = assumption;
}

void finding_list__follow(struct finding_list *list, const struct finding_input *input, bool judged,
			  uint64_t followed_ns, uint64_t needed_ns)
{
	struct finding_trend *trend = list->trends;

	while (trend < &list->trends[list->trend_count] && trend->kind != input->kind)
		trend++;
	if (trend == &list->trends[FINDING_COURSES])
		return;
	if (trend == &list->trends[list->trend_count])
		list->trend_count++;
	trend->kind = input->kind;
	trend->needed_ns = needed_ns;
	trend->examined++;
	if (judged)
		return;
	trend->unjudged++;
	if (followed_ns > trend->followed_ns)
		trend->followed_ns = followed_ns;
}

static uint64_t cost_of(const struct finding *finding)
{
	return finding->has_cost ? finding->cost_ns : 0;
}

/*
 * A copy of each finding with its index, to keep equal ones in the order in which they were added.
 */
struct ranked {
	struct finding finding;
	size_t index;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	size_t x_kind = finding_kind__index(x->finding.kind);
	size_t y_kind = finding_kind__index(y->finding.kind);

	if (x->finding.severity != y->finding.severity)
		return x->finding.severity < y->finding.severity ? 1 : -1;
	if (cost_of(&x->finding) != cost_of(&y->finding))
		return cost_of(&x->finding) < cost_of(&y->finding) ? 1 : -1;
	if (x_kind != y_kind)
		return x_kind < y_kind ? -1 : 1;
	if (x->finding.weight != y->finding.weight)
		return x->finding.weight < y->finding.weight ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

int finding_list__sort(struct finding_list *list)
{
	struct ranked *ranked;

	if (list->count < 2)
		return 0;
	ranked = malloc(list->count * sizeof(*ranked));
	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		ranked[i] = (struct ranked){.finding = list->items[i], .index = i};
	qsort(ranked, list->count, sizeof(*ranked), compare);
	for (size_t i = 0; i < list->count; i++)
		list->items[i] = ranked[i].finding;
	free(ranked);
	return 0;
}

static void release(struct finding *finding)
{
	free(finding->subject);
	free(finding->title);
	free(finding->evidence);
	free(finding->details);
}

void finding_list__retain(struct finding_list *list,
			  bool (*keep)(const struct finding *finding, const void *arg),
			  const void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (keep(&list->items[i], arg))
			list->items[kept++] = list->items[i];
		else
			release(&list->items[i]);
	}
	list->count = kept;
}

void finding_list__clear(struct finding_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		release(&list->items[i]);
	free(list->items);
	*list = (struct finding_list){0};
}
