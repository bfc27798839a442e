/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the expected layout of an interpreter's structures with what it says about itself in
 * memory. The type of code objects has a name, a size, and a list of members with their offsets;
 * the type of strings has a name and a size; and since 3.13 there is a table of offsets.
 */
#ifndef SYMBOL_PYTHON_LAYOUT_H
#define SYMBOL_PYTHON_LAYOUT_H

#include <sys/types.h>

#include "symbol/python_offsets.h"
#include "target/memory_reader.h"

/*
 * `runtime` is the address of _PyRuntime; offsets->target.code_type that of PyCode_Type,
 * offsets->text_type that of PyUnicode_Type. Returns 0, -EAGAIN if the loader has not finished with
 * the interpreter, or another negative errno, with the difference in *err, if the layout is not as
 * expected.
 */
int python_layout__check(struct memory_reader *memory, pid_t pid, uint64_t runtime,
			 struct python_offsets *offsets, struct error *err);

#endif
