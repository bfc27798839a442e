// SPDX-License-Identifier: BSD-2-Clause
// Where stacks break off, see stack_break.h.
#include "stack/stack_break.h"

#include <stdio.h>

void stack_break__note(struct stack_break *known, const struct stack *stack)
{
	if (!stack || !stack->broken || *known->object)
		return;
	known->found = true;
	for (uint32_t i = stack->count; i && !*known->object; i--) {
		const struct stack_frame *frame = &stack->frames[i - 1];

		if (frame->kind == FRAME_NATIVE && frame->object)
			snprintf(known->object, sizeof(known->object), "%s", frame->object);
	}
}
