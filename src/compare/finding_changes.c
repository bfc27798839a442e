// SPDX-License-Identifier: BSD-2-Clause
// What came and went of the findings, see pairs.h.
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "compare/pairs.h"
#include "finding/finding.h"

static const struct json_value *list_of(const struct compared_run *run)
{
	const struct json_value *list = json_value__member(run->json, "findings");

	return list && list->type == JSON_ARRAY ? list->first : NULL;
}

static const char *id_of(const struct json_value *finding)
{
	const char *id = json_value__string(finding, "id");

	return id ? id : "";
}

/* The worst one of that kind comes first in the list. */
static const struct json_value *find(const struct json_value *list, const char *id)
{
	for (; list; list = list->next)
		if (!strcmp(id_of(list), id))
			return list;
	return NULL;
}

static bool names(const struct json_value *list, const char *id)
{
	list = list && list->type == JSON_ARRAY ? list->first : NULL;
	for (; list; list = list->next)
		if ((list->type == JSON_STRING && !strcmp(list->text, id)) ||
		    !strcmp(id_of(list), id))
			return true;
	return false;
}

/* Whether a finding that is not there could have been there. */
static bool was_judged(const struct compared_run *run, const char *id)
{
	return json_value__member(run->json, "findings") &&
	       !names(json_value__member(run->json, "not_looked_for"), id) &&
	       !names(json_value__member(run->json, "not_judged"), id) &&
	       !names(json_value__member(run->json, "not_looked_for_where_sampled"), id);
}

/* A threshold of times, rates or shares may be passed by chance: equal runs differ there. */
static bool is_of_times(const struct finding_kind *kind)
{
	for (size_t i = 0; i < FINDING_THRESHOLDS && kind->thresholds[i].name; i++)
		if (kind->thresholds[i].unit != UNIT_COUNT &&
		    kind->thresholds[i].unit != UNIT_BYTES)
			return true;
	return false;
}

static bool is_worse(const struct json_value *finding)
{
	const struct finding_kind *kind = finding_kind__find(id_of(finding));
	const char *severity = json_value__string(finding, "severity");

	if (!severity || !strcmp(severity, "info"))
		return false;
	return !strcmp(severity, "critical") || (kind && !is_of_times(kind));
}

static bool same_thresholds(const struct compared_run *a, const struct compared_run *b,
			    const char *id)
{
	const struct json_value *x =
		json_value__member(json_value__member(a->json, "thresholds"), id);
	const struct json_value *y =
		json_value__member(json_value__member(b->json, "thresholds"), id);

	for (x = x && x->type == JSON_OBJECT ? x->first : NULL; x; x = x->next) {
		double other;

		if (json_value__number(y, x->key, &other) && other != x->number)
			return false;
	}
	return true;
}

#define FINDINGS_MAX 1000 /* of a run that are compared */

/* Findings of `run` that `other` has not. */
static int add_changes(struct comparison *comparison, const struct compared_run *run,
		       const struct compared_run *other)
{
	bool came = run == comparison->b;
	size_t count = 0;
	int ret = 0;

	for (const struct json_value *f = list_of(run); f && !ret; f = f->next) {
		const char *id = id_of(f);
		const struct finding_change change = {f, came, came && is_worse(f)};

		if (count++ == FINDINGS_MAX)
			return comparison__refuse(comparison,
						  "only the first %d findings are compared",
						  FINDINGS_MAX);
		if (find(list_of(run), id) != f || find(list_of(other), id))
			continue;
		if (!was_judged(other, id))
			continue;
		if (!same_thresholds(run, other, id))
			ret = comparison__refuse(
				comparison, "findings %.40s: A and B have other thresholds", id);
		else
			ret = ARRAY_APPEND(comparison->findings, comparison->finding_count, change);
		comparison->worse |= !ret && change.worse;
	}
	return ret;
}

int comparison__findings(struct comparison *comparison)
{
	int ret = add_changes(comparison, comparison->b, comparison->a);

	return ret ? ret : add_changes(comparison, comparison->a, comparison->b);
}
