// SPDX-License-Identifier: BSD-2-Clause
// Numbers equal labels, see label_set.h.
#include "symbol/label_set.h"

#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "symbol/plain_label.h"

/* Room for " #999999": a process has room for fewer names than that. */
#define STEM_MAX (KERNEL_LABEL_MAX - 8)

struct label_use {
	char label[KERNEL_LABEL_SIZE]; /* or what stays of it before a number */
	unsigned int kernels;	       /* that have it, the numbered ones included */
	UT_hash_handle hh;
};

static struct label_use *take(struct label_set *set, const char *label)
{
	struct label_use *use;

	HASH_FIND_STR(set->uses, label, use);
	if (use)
		return use;
	use = calloc(1, sizeof(*use));
	if (!use)
		return NULL;
	snprintf(use->label, sizeof(use->label), "%s", label);
	HASH_ADD_STR(set->uses, label, use);
	if (!use->hh.tbl) {
		free(use);
		return NULL;
	}
	set->bytes += sizeof(*use);
	return use;
}

int label_set__take(struct label_set *set, const char *label, char unique[KERNEL_LABEL_SIZE])
{
	char stem[KERNEL_LABEL_SIZE];
	struct label_use *use = take(set, label);
	size_t length;

	if (!use)
		return -ENOMEM;
	if (!use->kernels) {
		use->kernels = 1;
		snprintf(unique, KERNEL_LABEL_SIZE, "%s", label);
		return 0;
	}
	/* Long labels may have the same stem, which then counts for all of them. */
	length = plain_label__cut(label, strlen(label), stem, STEM_MAX);
	use = take(set, stem);
	if (!use)
		return -ENOMEM;
	if (!use->kernels)
		use->kernels = 1;
	snprintf(unique, KERNEL_LABEL_SIZE, "%.*s #%u", (int)length, stem, ++use->kernels);
	return 0;
}

void label_set__clear(struct label_set *set)
{
	TABLE_CLEAR(set->uses, free);
	set->bytes = 0;
}
