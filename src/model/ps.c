// SPDX-License-Identifier: BSD-2-Clause
// The list of CUDA processes: its order and notes, see ps.h. ps_state.c judges what they do.
#include "model/ps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW SIZE_MAX

uint64_t ps_row__bytes(const struct ps_row *row)
{
	return row->context == PS_NO_CONTEXT ? 0 : process__nvml_bytes(row->process);
}

static uint64_t known_bytes(const struct ps_row *row)
{
	uint64_t bytes = ps_row__bytes(row);

	return bytes == GPU_UNKNOWN_BYTES ? 0 : bytes;
}

static int compare(const struct ps_row *a, uint64_t a_bytes, const struct ps_row *b,
		   uint64_t b_bytes)
{
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes ? 1 : -1;
	return (a->process->pid > b->process->pid) - (a->process->pid < b->process->pid);
}

static int compare_rows(const void *left, const void *right)
{
	const struct ps_row *a = left, *b = right;

	return compare(a, known_bytes(a), b, known_bytes(b));
}

void ps__sort(struct ps *ps)
{
	if (ps->count)
		qsort(ps->rows, ps->count, sizeof(*ps->rows), compare_rows);
}

/* --- the tree --- */

/* A row in the tree. Rows are named by their index in the list before it is sorted. */
struct node {
	const struct ps_row *row;
	size_t index, parent, child, sibling; /* NO_ROW: none */
	uint64_t bytes;			      /* of the row and all rows below it */
};

static int compare_pids(const void *left, const void *right)
{
	const struct node *a = left, *b = right;

	return (a->row->process->pid > b->row->process->pid) -
	       (a->row->process->pid < b->row->process->pid);
}

static int compare_nodes(const void *left, const void *right)
{
	const struct node *a = left, *b = right;

	return compare(a->row, a->bytes, b->row, b->bytes);
}

/*
 * A parent is older than its child. The two were not read at the same moment, so a pid may have
 * changed hands in between: whoever is not older is no parent, and so there are no cycles.
 */
static bool is_older(const struct process *parent, const struct process *child)
{
	if (parent->start_ns != child->start_ns)
		return parent->start_ns < child->start_ns;
	return parent->pid < child->pid;
}

static void find_parent(const struct node *by_pid, size_t count, struct node *node)
{
	const struct process wanted = {.pid = node->row->ancestor};
	const struct ps_row key_row = {.process = (struct process *)&wanted};
	const struct node key = {.row = &key_row},
			  *parent = bsearch(&key, by_pid, count, sizeof(*by_pid), compare_pids);

	node->parent = NO_ROW;
	if (!node->row->ancestor || !parent || !is_older(parent->row->process, node->row->process))
		return;
	node->parent = parent->index;
}

static void add_to_ancestors(struct node *nodes, const struct node *node)
{
	for (size_t at = node->parent; at != NO_ROW; at = nodes[at].parent)
		nodes[at].bytes += known_bytes(node->row);
}

/*
 * Puts each node before its siblings that have come so far; `by_bytes` ends with the least. Returns
 * the first of the nodes without a parent.
 */
static size_t link_siblings(struct node *nodes, const struct node *by_bytes, size_t count)
{
	size_t first = NO_ROW;

	for (size_t i = count; i--;) {
		struct node *node = &nodes[by_bytes[i].index];
		size_t *head = node->parent == NO_ROW ? &first : &nodes[node->parent].child;

		node->sibling = *head;
		*head = node->index;
	}
	return first;
}

static void write_rows(const struct node *nodes, size_t at, struct ps_row *rows)
{
	unsigned int depth = 0;

	while (at != NO_ROW) {
		*rows = *nodes[at].row;
		rows++->depth = depth;
		if (nodes[at].child != NO_ROW) {
			at = nodes[at].child;
			depth++;
			continue;
		}
		while (at != NO_ROW && nodes[at].sibling == NO_ROW) {
			at = nodes[at].parent;
			depth -= depth > 0;
		}
		if (at != NO_ROW)
			at = nodes[at].sibling;
	}
}

int ps__sort_as_tree(struct ps *ps)
{
	struct node *nodes = calloc(ps->count + 1, sizeof(*nodes)),
		    *sorted = calloc(ps->count + 1, sizeof(*sorted));
	struct ps_row *rows = calloc(ps->count + 1, sizeof(*rows));
	int ret = nodes && sorted && rows ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < ps->count; i++)
		sorted[i] = nodes[i] = (struct node){
			.row = &ps->rows[i],
			.index = i,
			.parent = NO_ROW,
			.child = NO_ROW,
			.bytes = known_bytes(&ps->rows[i]),
		};
	qsort(sorted, ps->count, sizeof(*sorted), compare_pids);
	for (size_t i = 0; i < ps->count; i++)
		find_parent(sorted, ps->count, &nodes[i]);
	for (size_t i = 0; i < ps->count; i++)
		add_to_ancestors(nodes, &nodes[i]);
	memcpy(sorted, nodes, ps->count * sizeof(*nodes));
	qsort(sorted, ps->count, sizeof(*sorted), compare_nodes);
	write_rows(nodes, link_siblings(nodes, sorted, ps->count), rows);
	free(ps->rows);
	ps->rows = rows;
	rows = NULL;
out:
	free(rows);
	free(sorted);
	free(nodes);
	return ret;
}

/* --- the list --- */

void ps__note(struct ps *ps, const char *format, ...)
{
	va_list arguments;

	if (ps->note_count == PS_NOTES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(ps->notes[ps->note_count++], PS_NOTE_SIZE, format, arguments);
	va_end(arguments);
}

void ps__free(struct ps *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < ps->count; i++)
		free(ps->rows[i].command);
	free(ps->rows);
	model__clear(&ps->model);
	free(ps);
}
