// SPDX-License-Identifier: BSD-2-Clause
// The series of groups: sums of what their members add. See process_groups.h.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "output/metrics/process_groups_private.h"

#define OTHER "other"

static void free_sum(struct sum *sum)
{
	free(sum->labels);
	free(sum);
}

static void free_family(struct family *family)
{
	TABLE_CLEAR(family->sums, free_sum);
	free(family);
}

void group_sums__clear(struct process_groups *groups)
{
	TABLE_CLEAR(groups->families, free_family);
}

static void forget_in(struct family *family, const struct group *group)
{
	struct sum **at = &family->first, *sum;

	while ((sum = *at)) {
		if (sum->group != group) {
			at = &sum->next;
			continue;
		}
		*at = sum->next;
		HASH_DEL(family->sums, sum);
		free_sum(sum);
	}
	family->last = at;
}

void group_sums__forget(struct process_groups *groups, const struct group *group)
{
	for (struct family *family = groups->families; family; family = family->hh.next)
		forget_in(family, group);
}

/* --- samples --- */

static struct sum *add_sum(struct family *family, const char *key, const char *labels)
{
	struct sum *sum = calloc(1, sizeof(*sum) + strlen(key) + 1);

	if (!sum)
		return NULL;
	memcpy(sum->key, key, strlen(key) + 1);
	sum->labels = strdup(labels);
	if (sum->labels)
		HASH_ADD_KEYPTR(hh, family->sums, sum->key, strlen(sum->key), sum);
	if (!sum->labels || !sum->hh.tbl) {
		free_sum(sum);
		return NULL;
	}
	*family->last = sum;
	family->last = &sum->next;
	return sum;
}

/* The series of a group with these labels. */
static struct sum *sum_of(struct process_groups *groups, struct group *group, const char *labels)
{
	struct sum *sum = NULL;
	char *key;

	if (asprintf(&key, "%p %s", (void *)group, labels) < 0)
		return NULL;
	HASH_FIND_STR(groups->family->sums, key, sum);
	if (!sum)
		sum = add_sum(groups->family, key, labels);
	if (sum)
		sum->group = group;
	free(key);
	return sum;
}

/* What the member adds to the sum, in this turn or before. */
static struct part *part_of(struct member *member, struct sum *sum)
{
	for (size_t i = 0; i < member->count; i++) {
		size_t at = (member->at + i) % member->count;

		if (member->parts[at].sum != sum)
			continue;
		member->at = at + 1;
		return &member->parts[at];
	}
	if (ARRAY_APPEND(member->parts, member->count, (struct part){.sum = sum}))
		return NULL;
	member->at = member->count;
	return &member->parts[member->count - 1];
}

static void take_gauge(struct process_groups *groups, struct sum *sum, uint64_t value)
{
	if (sum->page != groups->page)
		sum->value = 0;
	if (groups->how == SUM_ADDED)
		saturate__add(&sum->value, value);
	else if (value > sum->value)
		sum->value = value;
}

void group_sums__take(void *arg, const char *labels, uint64_t value)
{
	struct process_groups *groups = arg;
	struct member *member = groups->turn;
	struct sum *sum = sum_of(groups, member ? member->group : NULL, labels);
	struct part *part = NULL;

	if (sum && groups->is_counter && member) {
		part = part_of(member, sum);
		if (part)
			saturate__add(&part->next, value);
	} else if (sum) {
		take_gauge(groups, sum, value);
	}
	if (!sum || (groups->is_counter && member && !part))
		groups->error = -ENOMEM;
	else
		sum->page = groups->page;
}

/* Adds what the process whose turn ends has counted since the page before. */
static void settle(struct process_groups *groups)
{
	struct member *member = groups->turn;

	for (size_t i = 0; groups->is_counter && member && i < member->count; i++) {
		struct part *part = &member->parts[i];

		if (part->next > part->value) {
			saturate__add(&part->sum->value, part->next - part->value);
			part->value = part->next;
		}
		part->next = 0;
	}
}

/* --- families --- */

static struct family *find_family(struct process_groups *groups, const char *name)
{
	struct family *family;

	HASH_FIND_STR(groups->families, name, family);
	if (family)
		return family;
	family = calloc(1, sizeof(*family));
	if (!family)
		return NULL;
	family->name = name;
	family->last = &family->first;
	HASH_ADD_KEYPTR(hh, groups->families, family->name, strlen(name), family);
	if (family->hh.tbl)
		return family;
	free(family);
	return NULL;
}

bool process_groups__begin_family(struct process_groups *groups, struct exposition_writer *w,
				  const struct metric_family *family, enum metric_sum sum)
{
	groups->family = find_family(groups, family->name);
	if (!groups->family || exposition__divert(w, &groups->sink)) {
		groups->error = -ENOMEM;
		return false;
	}
	exposition__family(w, family);
	groups->is_counter = family->type == METRIC_COUNTER;
	groups->how = sum;
	groups->turn = NULL;
	return true;
}

void process_groups__turn(struct process_groups *groups, const struct process *p)
{
	settle(groups);
	groups->turn = p ? process_groups__member(groups, p) : NULL;
}

/* What tells apart jobs without a Slurm number. */
static void label_other_ids(struct exposition_writer *w, const struct workload *names)
{
	if (!names->slurm_job[0] && names->slurm_sluid[0])
		exposition__label(w, "slurm_sluid", names->slurm_sluid);
	if (names->pbs_job[0])
		exposition__label(w, "pbs_job_id", names->pbs_job);
}

void group_sums__label(struct exposition_writer *w, enum metrics_by by, const struct group *group)
{
	static const struct group nobody = {0};
	bool other = group && group->is_other;
	const char *id, *job;

	group = group ? group : &nobody;
	id = group->is_unknown ? UNKNOWN : group->container_id;
	job = group->is_unknown ? UNKNOWN : group->names.slurm_job;
	switch (by) {
	case METRICS_BY_CONTAINER:
		exposition__label(w, "namespace", other ? OTHER : group->names.namespace);
		exposition__label(w, "pod", other ? OTHER : group->names.pod);
		exposition__label(w, "container", other ? OTHER : group->names.container);
		exposition__label(w, "container_id", other ? OTHER : id);
		break;
	case METRICS_BY_USER: exposition__label(w, "user", other ? OTHER : group->user); break;
	case METRICS_BY_JOB:
		exposition__label(w, "slurm_job_id", other ? OTHER : job);
		label_other_ids(w, &group->names);
		break;
	case METRICS_BY_PROCESS: break;
	}
}

/* Counters stay as long as their group; gauges only while a process has them. */
static bool is_on_page(const struct process_groups *groups, const struct sum *sum)
{
	if (groups->is_counter && sum->group)
		return sum->group->page == groups->page;
	return sum->page == groups->page;
}

void process_groups__end_family(struct process_groups *groups, struct exposition_writer *w)
{
	settle(groups);
	groups->turn = NULL;
	if (exposition__divert(w, NULL))
		groups->error = -ENOMEM;
	for (const struct sum *sum = groups->family->first; sum; sum = sum->next) {
		if (!is_on_page(groups, sum))
			continue;
		exposition__sample(w);
		group_sums__label(w, groups->by, sum->group);
		exposition__taken_labels(w, sum->labels);
		exposition__number(w, sum->value);
	}
}
