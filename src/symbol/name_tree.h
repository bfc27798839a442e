/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A demangled name as a tree: the parts of a qualified name, the template arguments of a part, and
 * the parameters of a lambda. Parameters of other functions are left out. Names may be hostile:
 * parts, nesting and time have limits, and whatever exceeds them is missing in the tree.
 */
#ifndef SYMBOL_NAME_TREE_H
#define SYMBOL_NAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_PARTS_MAX 512

enum name_part_kind {
	NAME_IDENTIFIER,
	NAME_OPERATOR, /* "operator()" and the like */
	NAME_LAMBDA,   /* the text is its number in the function: "1" */
	NAME_NUMBER,   /* without a suffix: "4ul" is "4" */
	NAME_ENUM,     /* "(at::native::NormType)1" is "1" */
	NAME_BOOL,     /* "true", "false", "(bool)1" */
};

/* Other parts are named by their index. 0 is none: a part without text, arguments and the like. */
struct name_part {
	const char *text; /* in the parsed name */
	uint16_t length;
	uint16_t arguments;  /* its first template argument */
	uint16_t parameters; /* a lambda's first parameter */
	uint16_t inner;	     /* the next part of the qualified name, after "::" */
	uint16_t next;	     /* after the first part of an argument: the next argument */
	uint8_t kind;	     /* enum name_part_kind */
};

struct name_tree {
	struct name_part parts[NAME_PARTS_MAX];
	size_t count;
};

/*
 * Parses the name of a function, without return type and parameters. `name` must stay valid while
 * the tree is used. Returns the index of its outermost scope, or 0 if there is nothing to name.
 */
uint16_t name_tree__parse(struct name_tree *tree, const char *name);

/* Whether the part's text is `text`. */
bool name_part__is(const struct name_part *part, const char *text);

#endif
