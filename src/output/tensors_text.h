/* SPDX-License-Identifier: BSD-2-Clause */
/* A process's tensors in one sentence, the same in all reports. */
#ifndef OUTPUT_TENSORS_TEXT_H
#define OUTPUT_TENSORS_TEXT_H

#include <stdio.h>

#include "base/quantity.h"
#include "model/tensors.h"

/*
 * Prints "33.5 GiB held, 31.2 GiB in 48,112 tensors, 2.3 GiB unused (1.9 GiB pinned by 41 tensors)"
 * without a newline; behind it `before` and what it lacks, if it lacks anything: "since attach:
 * older segments and tensors are unknown", "stacks of 12.3 % of the tensors taken: call sites are
 * estimates". The process must have tensors.
 */
void tensors_text__print(FILE *out, const struct process *process, enum quantity_form form,
			 const char *before);

/* "about " in front of what call sites of the process's tensors have, if they are sampled. */
const char *tensors_text__about(const struct process *process);

/*
 * Prints ", peak 3.9 MiB, 40 made, 8 freed, 2.00 per step (1.2 MiB)" for a call site of the
 * process's tensors, which it must have; nothing if the stack is unknown (NULL).
 */
void tensors_text__print_site(FILE *out, const struct process *process, const struct stack *stack,
			      enum quantity_form form);

/* Prints ", 2.00 per step (1.2 MiB)"; nothing if the process has no steps, or few. */
void tensors_text__print_step(FILE *out, const struct tensors *tensors,
			      const struct tensor_site *site);

/*
 * For a stack without Python frames in a process whose tensors have them elsewhere: a line that
 * says what this means, after `indent` blanks.
 */
void tensors_text__print_thread(FILE *out, const struct process *process, const struct stack *stack,
				int indent);

#endif
