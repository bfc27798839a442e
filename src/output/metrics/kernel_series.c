// SPDX-License-Identifier: BSD-2-Clause
// The kernels' own series and the rest, see kernel_series.h.
#include <stdlib.h>
#include <string.h>

#include "output/metrics/kernel_series.h"

#include "symbol/kernel_name.h"

/* A kernel without a name, and its launches as reported in "other". */
struct nameless {
	uint64_t serial;
	uint64_t handle;
	uint64_t launches;
	bool seen;
	UT_hash_handle hh;   /* by serial */
	UT_hash_handle gone; /* by handle, during the search for a name */
};

struct entry {
	uint64_t serial; /* of the process */
	struct process_kernels kernels;
	struct nameless *nameless;
	bool updated;
	UT_hash_handle hh;
};

struct kernel_series {
	unsigned int limit;
	struct entry *entries;
};

struct kernel_series *kernel_series__new(unsigned int limit)
{
	struct kernel_series *series = calloc(1, sizeof(*series));

	if (series)
		series->limit = limit;
	return series;
}

static void free_entry(struct entry *e)
{
	struct kernel_count *kernel, *next_kernel;

	HASH_ITER (hh, e->kernels.kernels, kernel, next_kernel) {
		HASH_DEL(e->kernels.kernels, kernel);
		free(kernel->label);
		free(kernel);
	}
	TABLE_CLEAR(e->nameless, free);
	free(e);
}

void kernel_series__sweep(struct kernel_series *series)
{
	struct entry *e, *next;

	HASH_ITER (hh, series->entries, e, next) {
		if (!e->updated) {
			HASH_DEL(series->entries, e);
			free_entry(e);
			continue;
		}
		e->updated = false;
	}
}

void kernel_series__free(struct kernel_series *series)
{
	if (!series)
		return;
	TABLE_CLEAR(series->entries, free_entry);
	free(series);
}

static struct entry *find_entry(struct kernel_series *series, const struct process *p)
{
	struct entry *e;

	HASH_FIND(hh, series->entries, &p->serial, sizeof(p->serial), e);
	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->serial = p->serial;
	HASH_ADD(hh, series->entries, serial, sizeof(e->serial), e);
	if (!e->hh.tbl) {
		free(e);
		return NULL;
	}
	return e;
}

/*
 * The label of a kernel. NULL for one without a name, and for one whose name would collide with the
 * series of the rest or look like a missing label.
 */
static const char *label_of(const struct kernel *k, char *buffer, size_t size)
{
	if (!k->name || !k->name[0])
		return NULL;
	kernel_name__cut(k->name, buffer, size, KERNEL_SERIES_LABEL);
	return strcmp(buffer, KERNEL_SERIES_OTHER) ? buffer : NULL;
}

static struct kernel_count *find_label(struct entry *e, const char *label)
{
	struct kernel_count *c;

	HASH_FIND_STR(e->kernels.kernels, label, c);
	return c;
}

static void add_label(struct entry *e, const char *label)
{
	struct kernel_count *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->label = strdup(label);
	if (c->label)
		HASH_ADD_KEYPTR(hh, e->kernels.kernels, c->label, strlen(c->label), c);
	if (!c->label || !c->hh.tbl) {
		free(c->label);
		free(c);
	}
}

static int by_serial(const void *a, const void *b)
{
	const struct kernel *x = *(const struct kernel *const *)a;
	const struct kernel *y = *(const struct kernel *const *)b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Assigns series to kernels with names while there is room, in order of first sight. */
static void claim_labels(struct entry *e, const struct process *p, unsigned int limit)
{
	char buffer[KERNEL_SERIES_LABEL + 1];
	const struct kernel **order;
	const char *label;
	size_t i;

	if (!p->kernel_count || HASH_COUNT(e->kernels.kernels) >= limit)
		return;
	order = calloc(p->kernel_count, sizeof(*order));
	if (!order)
		return;
	for (i = 0; i < p->kernel_count; i++)
		order[i] = &p->kernels[i];
	qsort(order, p->kernel_count, sizeof(*order), by_serial);
	for (i = 0; i < p->kernel_count && HASH_COUNT(e->kernels.kernels) < limit; i++) {
		label = label_of(order[i], buffer, sizeof(buffer));
		if (label && !find_label(e, label))
			add_label(e, label);
	}
	free(order);
}

/* Remembers the launches that "other" reports for a kernel without a name. */
static void note_nameless(struct entry *e, const struct kernel *k)
{
	struct nameless *n;

	HASH_FIND(hh, e->nameless, &k->serial, sizeof(k->serial), n);
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return;
		n->serial = k->serial;
		HASH_ADD(hh, e->nameless, serial, sizeof(n->serial), n);
		if (!n->hh.tbl) {
			free(n);
			return;
		}
	}
	n->handle = k->handle;
	n->launches = k->launches;
	n->seen = true;
}

/*
 * Returns the launches that "other" reported for a kernel before it had a name, and forgets them.
 */
static uint64_t take_nameless(struct entry *e, const struct kernel *k)
{
	struct nameless *n;
	uint64_t launches;

	HASH_FIND(hh, e->nameless, &k->serial, sizeof(k->serial), n);
	if (!n)
		return 0;
	launches = n->launches;
	HASH_DEL(e->nameless, n);
	free(n);
	return launches;
}

/* Adds up the launches by label into `next`; returns the sum over all kernels. */
static uint64_t add_up(struct entry *e, const struct process *p)
{
	char buffer[KERNEL_SERIES_LABEL + 1];
	struct kernel_count *c;
	uint64_t sum = 0;
	const char *label;
	size_t i;

	for (c = e->kernels.kernels; c; c = c->hh.next)
		c->next = 0;
	for (i = 0; i < p->kernel_count; i++) {
		const struct kernel *k = &p->kernels[i];

		sum += k->launches;
		label = label_of(k, buffer, sizeof(buffer));
		c = label ? find_label(e, label) : NULL;
		if (c) {
			c->next += k->launches;
			c->offset += take_nameless(e, k);
		} else if (!k->name) {
			note_nameless(e, k);
		}
	}
	for (c = e->kernels.kernels; c; c = c->hh.next) {
		c->next = c->next > c->offset ? c->next - c->offset : 0;
		if (c->next < c->value)
			c->next = c->value;
	}
	return sum;
}

/*
 * Leaves up to `most` of a series' new launches in "other", which has already reported them.
 * Returns how many.
 */
static uint64_t hold_back(struct kernel_count *c, uint64_t most)
{
	uint64_t rise = c->next - c->value, n = rise < most ? rise : most;

	c->offset += n;
	c->next -= n;
	return n;
}

/*
 * Removes the kernels without a name that no longer exist from the list. Returns them, by handle.
 */
static struct nameless *collect_gone(struct entry *e)
{
	struct nameless *n, *next, *gone = NULL, *same;

	HASH_ITER (hh, e->nameless, n, next) {
		if (n->seen) {
			n->seen = false;
			continue;
		}
		HASH_DEL(e->nameless, n);
		HASH_FIND(gone, gone, &n->handle, sizeof(n->handle), same);
		if (same)
			same->launches += n->launches;
		else
			HASH_ADD(gone, gone, handle, sizeof(n->handle), n);
		if (same || !n->gone.tbl)
			free(n);
	}
	return gone;
}

/*
 * A kernel without a name disappears when the model learns its name and merges it with the kernel
 * that already has that name, which then has its handle. The launches that "other" reported stay
 * there.
 */
static void settle_gone(struct entry *e, const struct process *p)
{
	struct nameless *gone = collect_gone(e), *n, *next;
	char buffer[KERNEL_SERIES_LABEL + 1];
	struct kernel_count *c;
	const char *label;
	size_t i;

	for (i = 0; gone && i < p->kernel_count; i++) {
		HASH_FIND(gone, gone, &p->kernels[i].handle, sizeof(n->handle), n);
		label = n ? label_of(&p->kernels[i], buffer, sizeof(buffer)) : NULL;
		c = label ? find_label(e, label) : NULL;
		if (!c || c->next - c->value < n->launches)
			continue;
		hold_back(c, n->launches);
		n->launches = 0;
	}
	HASH_ITER (gone, gone, n, next) {
		HASH_DELETE(gone, gone, n);
		free(n);
	}
}

/*
 * Settles launches that "other" reported and no handle accounts for, because several handles were
 * merged under one name at once or memory was short. If one series rose by that much, it has them;
 * otherwise several series share them.
 */
static void settle_rest(struct entry *e, uint64_t missing)
{
	struct kernel_count *c;

	for (c = e->kernels.kernels; c; c = c->hh.next) {
		if (c->next - c->value >= missing) {
			hold_back(c, missing);
			return;
		}
	}
	for (c = e->kernels.kernels; c && missing; c = c->hh.next)
		missing -= hold_back(c, missing);
}

static uint64_t launches_named(const struct entry *e)
{
	const struct kernel_count *c;
	uint64_t sum = 0;

	for (c = e->kernels.kernels; c; c = c->hh.next)
		sum += c->next;
	return sum;
}

const struct process_kernels *kernel_series__update(struct kernel_series *series,
						    const struct process *process)
{
	struct entry *e = find_entry(series, process);
	uint64_t total, named, other;
	struct kernel_count *c;

	if (!e)
		return NULL;
	e->updated = true;
	claim_labels(e, process, series->limit);
	total = add_up(e, process);
	if (total < process->launches)
		total = process->launches;
	settle_gone(e, process);
	named = launches_named(e);
	other = total > named ? total - named : 0;
	if (other < e->kernels.other)
		settle_rest(e, e->kernels.other - other);
	else
		e->kernels.other = other;
	for (c = e->kernels.kernels; c; c = c->hh.next)
		c->value = c->next;
	return &e->kernels;
}
