/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * functions.tsv, enums.tsv, errors.tsv and allocators.tsv in memory: read, checked, sorted, and
 * written as C. functions.tsv documents its columns.
 *
 * An inconsistency is a one-line error, "FILE:LINE: what".
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "gpuprobe/function.h"
#include "gpuprobe/trace.h"
#include "api/api.h"
#include "arg_location.h"

#define MAX_ARGUMENTS 24

struct table_argument {
	char *name;
	char *type;
	struct arg_location location;
	uint8_t size;
	uint8_t passing; /* enum api_passing */
};

struct table_function {
	char *symbol;
	const char *family;
	struct function_desc desc;
	struct table_argument *arguments;
	size_t argument_count;
	uint8_t soname;	 /* the last library major with this form; 0: the newest */
	uint8_t returns; /* enum trace_returns */
	bool unrecorded; /* its arguments are unknown */
	bool plain;	 /* <cuda.h> hides its version */
	char *libraries; /* LAYER_LIBRARY: how their files' names begin, "NAME,..."; or NULL */
	unsigned int line;
};

struct table_code {
	enum layer layer;
	int code;
	char *name;
	unsigned int line;
};

struct table_value {
	char *type;
	char *name;
	int value;
	unsigned int line;
};

/* A probe point of an allocator. */
struct table_probe {
	char *allocator, *library, *provider, *name;
	struct api_probe_operands operands;
	uint8_t action; /* enum tensor_action */
};

struct table {
	struct table_function *functions; /* by symbol (strcmp), then soname, the newest last */
	size_t function_count;
	struct table_code *codes; /* by layer, then code */
	size_t code_count;
	struct table_value *values; /* of enumerations, by type (strcmp), then value */
	size_t value_count;
	struct table_probe *probes; /* in the file's order */
	size_t probe_count;
};

/* An empty table, or NULL if out of memory. */
struct table *table__new(void);
void table__free(struct table *table);

/*
 * Fill the table from a stream; `file` is its name for messages. Call each once. They return 0,
 * -EINVAL if the table is wrong, -EIO if it cannot be read, or -ENOMEM.
 */
int table__read_functions(struct table *table, FILE *in, const char *file, struct error *err);
int table__read_codes(struct table *table, FILE *in, const char *file, struct error *err);
int table__read_values(struct table *table, FILE *in, const char *file, struct error *err);
int table__read_probes(struct table *table, FILE *in, const char *file, struct error *err);

/*
 * Writes the C file whose contents src/api/api_tables.h declares. Returns 0, or -EIO if the stream
 * has an error afterwards.
 */
int table__write(const struct table *table, FILE *out);

#endif
