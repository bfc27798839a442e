// SPDX-License-Identifier: BSD-2-Clause
// Marks equal labels, see label_set.h.
#include "symbol/label_set.h"

#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "symbol/kernel_name.h"
#include "symbol/plain_label.h"

/* Room for " #3f2a.999999": a process has room for fewer names than that. */
#define MARK_MAX 13
#define STEM_MAX (KERNEL_LABEL_MAX - MARK_MAX)

struct label_use {
	char label[KERNEL_LABEL_SIZE]; /* with its mark, if it has one */
	unsigned int kernels;	       /* that have it, and those with numbers behind it */
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

int label_set__take(struct label_set *set, const char *label, const char *mangled,
		    char unique[KERNEL_LABEL_SIZE])
{
	struct label_use *use = take(set, label);
	char marked[KERNEL_LABEL_SIZE];
	size_t length;

	if (use && use->kernels) {
		length = plain_label__cut(label, strlen(label), marked, STEM_MAX);
		snprintf(marked + length, sizeof(marked) - length, " #%04x",
			 kernel_name__hash(mangled) & 0xffff);
		use = take(set, marked);
		label = marked;
	}
	if (!use)
		return -ENOMEM;
	if (!use->kernels++)
		snprintf(unique, KERNEL_LABEL_SIZE, "%s", label);
	else
		snprintf(unique, KERNEL_LABEL_SIZE, "%.*s.%u", (int)strlen(label), label,
			 use->kernels);
	return 0;
}

void label_set__clear(struct label_set *set)
{
	TABLE_CLEAR(set->uses, free);
	set->bytes = 0;
}
