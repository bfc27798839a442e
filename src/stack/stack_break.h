/* SPDX-License-Identifier: BSD-2-Clause */
/* Where shown stacks break off, for the hint to take them in another way. */
#ifndef STACK_STACK_BREAK_H
#define STACK_STACK_BREAK_H

#include <stdbool.h>

#include "stack/stack.h"

#define STACK_BREAK_OBJECT_SIZE 64

struct stack_break {
	bool found;
	/* of the last native frame before a break, cut; "" if none is known */
	char object[STACK_BREAK_OBJECT_SIZE];
};

/* Notes the stack if it is broken. NULL and other stacks change nothing. */
void stack_break__note(struct stack_break *known, const struct stack *stack);

#endif
