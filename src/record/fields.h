/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of the members of the model's structures, for recordings: what is written, and how it is
 * found again. A recording has the members' names, so a file of another version is read by name:
 * what it lacks is zero, what this gpuprobe does not know is skipped. Arrays that are indexed by an
 * enumeration keep their order: new values come at the end.
 *
 * tests/static/recorded_fields.py compares the tables with the structures: each member has a row.
 */
#ifndef RECORD_FIELDS_H
#define RECORD_FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_UNSIGNED = 0, /* and bool, and enumerations */
	FIELD_SIGNED,
	FIELD_DOUBLE,
	FIELD_WIDE,    /* __int128 */
	FIELD_TEXT,    /* an array of characters that ends with a NUL */
	FIELD_STRING,  /* a pointer to text, or NULL */
	FIELD_STACK,   /* a pointer to struct stack, or NULL */
	FIELD_ROW,     /* a row of api_functions, written by its symbol */
	FIELD_STRUCTS, /* a structure, or an array of them */
	/* The others are lists, whose count is elsewhere in the structure: */
	FIELD_LIST,	/* a pointer to structures */
	FIELD_POINTERS, /* a pointer to pointers to structures */
	FIELD_SLOTS,	/* an array of pointers to structures */
	FIELD_POINTER,	/* a pointer to one structure, or NULL; it has no count */
	FIELD_MADE,	/* `make` makes the list */
	FIELD_SKIPPED,	/* not recorded: the row says why */
};

struct recorded_type;

/* A list of structures that the model does not have in this form. */
struct made_list {
	void *items;
	size_t count;
	void *memory; /* to be released with free(3); NULL: none */
};

struct recorded_field {
	const char *name;
	enum field_kind kind;
	uint32_t offset;
	uint32_t size;	/* of one value, or of the array of FIELD_TEXT */
	uint32_t count; /* values; FIELD_SLOTS: room */
	/*
	 * Values must be below it, because they are used as an index or a count; 0: any value is
	 * good
	 */
	uint64_t limit;
	const struct recorded_type *type; /* of structures */
	uint32_t count_offset;		  /* of the list's count, a size_t */
	bool needed;			  /* FIELD_STRING: "" in place of NULL */
	/* it only grows, so that a difference says what happened, see record/difference.h */
	bool total;
	/* the kind of the names in it (record/pseudonyms.h); "": always left out; NULL: no names */
	const char *hides;
	bool kept; /* structures of one moment: their totals do not grow */
	/* FIELD_MADE: from the structure with this field. 0 or -ENOMEM */
	int (*make)(const void *object, struct made_list *list);
};

/* The first `keys` fields find an element of a list in the reading before. */
struct recorded_type {
	const char *name;
	size_t size;
	const struct recorded_field *fields;
	size_t field_count;
	size_t keys;
};

/* --- rows; T is the structure --- */

/* NOLINTBEGIN(bugprone-macro-parentheses): arguments are members, and rows are initializers */

#define FIELD_KIND_OF(value) \
	_Generic((value), double \
		 : FIELD_DOUBLE, __int128 \
		 : FIELD_WIDE, signed char \
		 : FIELD_SIGNED, short \
		 : FIELD_SIGNED, int \
		 : FIELD_SIGNED, long \
		 : FIELD_SIGNED, long long \
		 : FIELD_SIGNED, bool \
		 : FIELD_UNSIGNED, unsigned char \
		 : FIELD_UNSIGNED, unsigned short \
		 : FIELD_UNSIGNED, unsigned int \
		 : FIELD_UNSIGNED, unsigned long \
		 : FIELD_UNSIGNED, unsigned long long \
		 : FIELD_UNSIGNED)

#define FIELD_OF(member) .name = #member, .offset = offsetof(T, member)
#define FIELD_SIZE(member) ((uint32_t)sizeof(((T *)0)->member))
#define FIELD_TYPE(structure) .type = &recorded_##structure

#define VALUE(member) BELOW(member, 0)
#define BELOW(member, most) \
	{ \
		FIELD_OF(member), .kind = FIELD_KIND_OF(((T *)0)->member), \
				  .size = FIELD_SIZE(member), .count = 1, .limit = (most) \
	}
#define VALUES(member) \
	{ \
		FIELD_OF(member), .kind = FIELD_KIND_OF(((T *)0)->member[0]), \
				  .size = FIELD_SIZE(member[0]), \
				  .count = FIELD_SIZE(member) / FIELD_SIZE(member[0]) \
	}
#define TOTAL(member) \
	{ \
		FIELD_OF(member), .kind = FIELD_KIND_OF(((T *)0)->member), \
				  .size = FIELD_SIZE(member), .count = 1, .total = true \
	}
#define TOTALS(member) \
	{ \
		FIELD_OF(member), \
			.kind = FIELD_KIND_OF(((T *)0)->member[0]), .size = FIELD_SIZE(member[0]), \
			.count = FIELD_SIZE(member) / FIELD_SIZE(member[0]), .total = true \
	}
#define TEXT(member) \
	{ \
		FIELD_OF(member), .kind = FIELD_TEXT, .size = FIELD_SIZE(member), .count = 1 \
	}
#define HIDDEN_TEXT(member, names) \
	{ \
		FIELD_OF(member), .kind = FIELD_TEXT, .size = FIELD_SIZE(member), .count = 1, \
				  .hides = (names) \
	}
#define HIDDEN_STRING(member, names) \
	{ \
		FIELD_OF(member), .kind = FIELD_STRING, .count = 1, .hides = (names) \
	}
#define STRING(member) \
	{ \
		FIELD_OF(member), .kind = FIELD_STRING, .count = 1 \
	}
#define NEEDED_STRING(member) \
	{ \
		FIELD_OF(member), .kind = FIELD_STRING, .count = 1, .needed = true \
	}
#define STACK(member) \
	{ \
		FIELD_OF(member), .kind = FIELD_STACK, .count = 1 \
	}
#define ROW(member) \
	{ \
		FIELD_OF(member), .kind = FIELD_ROW, .size = FIELD_SIZE(member), .count = 1 \
	}
#define STRUCTS(member, structure) \
	{ \
		FIELD_OF(member), .kind = FIELD_STRUCTS, \
				  .count = FIELD_SIZE(member) / sizeof(struct structure), \
				  FIELD_TYPE(structure) \
	}
#define KEPT_STRUCTS(member, structure) \
	{ \
		FIELD_OF(member), .kind = FIELD_STRUCTS, \
				  .count = FIELD_SIZE(member) / sizeof(struct structure), \
				  FIELD_TYPE(structure), .kept = true \
	}
#define LISTED(member, how, counted, structure) \
	{ \
		FIELD_OF(member), .kind = (how), .count_offset = offsetof(T, counted), \
				  FIELD_TYPE(structure) \
	}
#define LIST(member, counted, structure) LISTED(member, FIELD_LIST, counted, structure)
#define POINTERS(member, counted, structure) LISTED(member, FIELD_POINTERS, counted, structure)
#define SLOTS(member, counted, structure) \
	{ \
		FIELD_OF(member), .kind = FIELD_SLOTS, \
				  .count = FIELD_SIZE(member) / sizeof(void *), \
				  .count_offset = offsetof(T, counted), FIELD_TYPE(structure) \
	}
#define POINTER(member, structure) \
	{ \
		FIELD_OF(member), .kind = FIELD_POINTER, FIELD_TYPE(structure) \
	}
#define MADE(member, how, counted, structure) \
	{ \
		FIELD_OF(member), .kind = FIELD_MADE, .make = (how), \
				  .count_offset = offsetof(T, counted), FIELD_TYPE(structure) \
	}
/* `why` is for the reader of the table. */
#define SKIPPED(member, why) \
	{ \
		FIELD_OF(member), .kind = FIELD_SKIPPED \
	}
/* The count of a list, which is recorded with the list. */
#define COUNTED(member) SKIPPED(member, "with its list")

/* NOLINTEND(bugprone-macro-parentheses) */

#define RECORDED_TYPE(structure, key_fields) \
	const struct recorded_type recorded_##structure = { \
		.name = #structure, \
		.size = sizeof(struct structure), \
		.fields = structure##_fields, \
		.field_count = sizeof(structure##_fields) / sizeof(structure##_fields[0]), \
		.keys = (key_fields), \
	}

#endif
