// SPDX-License-Identifier: BSD-2-Clause
// Tells new findings from earlier ones, see seen.h.
#include "finding/seen.h"

#include <stdlib.h>

#include "base/table.h"

struct seen_finding {
	struct finding_key key;
	enum finding_severity severity;
	UT_hash_handle hh;
};

struct seen_findings {
	struct seen_finding *table;
};

struct seen_findings *seen_findings__new(void)
{
	return calloc(1, sizeof(struct seen_findings));
}

void seen_findings__free(struct seen_findings *seen)
{
	if (!seen)
		return;
	TABLE_CLEAR(seen->table, free);
	free(seen);
}

static bool has_room(const struct seen_findings *seen, const struct finding_key *key)
{
	size_t of_process = 0;

	for (const struct seen_finding *each = seen->table; each; each = each->hh.next)
		of_process += each->key.pid == key->pid && each->key.start_ns == key->start_ns;
	return HASH_COUNT(seen->table) < SEEN_FINDINGS && of_process < SEEN_OF_PROCESS;
}

/* Whether it is new, or more severe. Without memory it is not. */
static bool note(struct seen_findings *seen, const struct finding *finding)
{
	const struct finding_key key = finding__key(finding);
	struct seen_finding *found = TABLE_FIND(seen->table, key, &key);
	bool is_new = !found;

	if (!found && has_room(seen, &key))
		found = TABLE_ADD_NEW(seen->table, key, &key);
	if (!found || (!is_new && found->severity >= finding->severity))
		return false;
	found->severity = finding->severity;
	return true;
}

void seen_findings__each_new(struct seen_findings *seen, const struct finding_list *list,
			     enum finding_severity least,
			     void (*each)(const struct finding *finding, void *arg), void *arg)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].severity >= least && note(seen, &list->items[i]))
			each(&list->items[i], arg);
}

static void keep_first(const struct finding *finding, void *arg)
{
	const struct finding **first = arg;

	if (!*first)
		*first = finding;
}

const struct finding *seen_findings__note(struct seen_findings *seen,
					  const struct finding_list *list,
					  enum finding_severity least)
{
	const struct finding *first = NULL;

	seen_findings__each_new(seen, list, least, keep_first, &first);
	return first;
}
