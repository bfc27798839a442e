// SPDX-License-Identifier: BSD-2-Clause
// Folded stacks, see forms.h.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "output/flame/forms.h"

/* A semicolon would begin another frame. stackcollapse uses a colon instead, so readers know it. */
static void print_label(FILE *out, const char *label)
{
	for (; *label; label++)
		fputc(*label == ';' ? ':' : *label, out);
}

int flame_folded__print(FILE *out, const struct flame_graph *graph)
{
	const struct flame_node **path = calloc(graph->depth + 1, sizeof(struct flame_node *));

	if (!path)
		return -ENOMEM;
	for (const struct flame_node *node = graph->root; node; node = flame_node__next(node)) {
		path[node->depth] = node;
		if (!node->self)
			continue;
		for (unsigned int depth = 1; depth <= node->depth; depth++) {
			print_label(out, path[depth]->frame->label);
			fputc(depth < node->depth ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", node->self);
	}
	free(path);
	return 0;
}
