/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack in the few lines that a person reads, innermost first. Consecutive frames of frameworks
 * become one line that says what they do (output/frameworks.h):
 *
 *   cudaMalloc+0x0 [libcudart.so.13]
 *   … aten::conv2d, 28 frames
 *   Block.forward (train.py:5)
 *   … nn.Sequential.forward, 5 frames
 *   Net.forward (train.py:9)
 *   main (train.py:18)
 *
 * The first frame, which is the CUDA call, and the program's own frames have a line each. The first
 * frame of a tensor is the framework's allocator, which folds with what called it. "[callers not
 * found]" has no line after the script's own `<module>`: only the interpreter's frames are missing.
 * Frames that only pass a call on to the program's next frame or start the program have none:
 * nn.Module's wrappers, the interpreter, the C library. A line in the middle counts frames if there
 * are too many. C++ functions have no arguments. All output is escaped.
 */
#ifndef OUTPUT_FOLDED_STACK_H
#define OUTPUT_FOLDED_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "stack/stack.h"

/*
 * A stack without frames of a framework is printed frame by frame up to this many frames, and in as
 * many lines if it is longer. The stack of a framework has at most FOLDED_FRAMEWORK_LINES.
 */
#define FOLDED_LINES 12
#define FOLDED_FRAMEWORK_LINES 8
/* columns of a line with its indentation; longer names are cut */
#define FOLDED_COLUMNS 100

/* One line: the frame `first`, or `count` frames from it on. */
struct folded_line {
	enum folded_kind {
		FOLDED_FRAME,
		FOLDED_RUN,
		FOLDED_REST
	} kind;
	uint32_t first, count;
};

/* Returns the number of lines. */
size_t folded_stack__lines(const struct stack *stack, struct folded_line lines[FOLDED_LINES]);

/*
 * Returns the index of the line with the user's own frame (model/user_line.h); `count` if none has
 * it.
 */
size_t folded_stack__own_line(const struct stack *stack, const struct folded_line *lines,
			      size_t count);

/* Prints a line in at most `columns`, without a newline. */
void folded_stack__print_line(FILE *out, const struct stack *stack, const struct folded_line *line,
			      int columns);

/*
 * Prints the stack, each line after `indent` blanks. `all_frames`: every frame, unfolded
 * (output/frame_text.h). NULL prints "[stack not known]".
 */
void folded_stack__print(FILE *out, const struct stack *stack, int indent, bool all_frames);

#endif
