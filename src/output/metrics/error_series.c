// SPDX-License-Identifier: BSD-2-Clause
// Failed calls in the metrics, by function and error, see series.h.
#include "output/metrics/series.h"

#include <string.h>

static const struct metric_family errors = {
	"gpuprobe_errors",
	METRIC_COUNTER,
	"Failed calls by function and error; of launches only a sample is checked unless"
	" --check-launches is given.",
};

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

void error_series__write(struct metrics_page *page)
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
			metrics_page__sample(w, p);
			exposition__label(w, "function", f->function);
			exposition__label(w, "error", error_label(f, buffer, sizeof(buffer)));
			exposition__u64(w, count);
		}
	}
}
