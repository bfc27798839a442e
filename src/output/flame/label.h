/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What frames of a flame graph are called: escaped (base/escape.h), one line,
 * never empty. malloc; NULL without memory.
 */
#ifndef OUTPUT_FLAME_LABEL_H
#define OUTPUT_FLAME_LABEL_H

#include "model/model.h"

char *flame_label__text(const char *text);
char *flame_label__frame(const struct stack_frame *frame); /* as frame_text__print_label */
char *flame_label__process(const struct process *process); /* "train (1234)" */

#endif
