// SPDX-License-Identifier: BSD-2-Clause
// Reads the TSV files; see table.h.
#include "table.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"
#include "words.h"

static const char functions_header[] =
	"layer\tsymbol\tfamily\toperation\tkind\tflags\troles\targuments\tnote";
static const char codes_header[] = "layer\tcode\tname";
static const char values_header[] = "type\tvalue\tname";
static const char probes_header[] = "allocator\tlibrary\tprovider\tprobe\taction\toperands";

/* Adds the row in `text` to the table. */
typedef int (*row_reader)(struct table *table, struct row *row, char *text);

struct table *table__new(void)
{
	return calloc(1, sizeof(struct table));
}

void table__free(struct table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->function_count; i++)
		function__clear(&table->functions[i]);
	for (i = 0; i < table->code_count; i++)
		free(table->codes[i].name);
	for (i = 0; i < table->value_count; i++) {
		free(table->values[i].type);
		free(table->values[i].name);
	}
	for (i = 0; i < table->probe_count; i++) {
		free(table->probes[i].allocator);
		free(table->probes[i].library);
		free(table->probes[i].provider);
		free(table->probes[i].name);
	}
	free(table->functions);
	free(table->codes);
	free(table->values);
	free(table->probes);
	free(table);
}

/* Removes the newline; -EINVAL if the line has a NUL byte or a carriage return. */
static int trim(const struct row *row, char *text, size_t length)
{
	if (length && text[length - 1] == '\n')
		text[--length] = '\0';
	if (strlen(text) != length || strchr(text, '\r'))
		return row__fail(row, "a NUL byte or a carriage return in the line");
	return 0;
}

/* Passes every row below the header to `reader`; skips comments and empty lines. */
static int read_rows(struct table *table, FILE *in, struct row *row, const char *header,
		     row_reader reader)
{
	bool seen_header = false;
	size_t capacity = 0;
	char *text = NULL;
	ssize_t length;
	int rc = 0;

	while (!rc && (length = getline(&text, &capacity, in)) >= 0) {
		row->line++;
		rc = trim(row, text, (size_t)length);
		if (rc || !*text || *text == '#')
			continue;
		if (seen_header) {
			rc = reader(table, row, text);
		} else if (strcmp(text, header) == 0) {
			seen_header = true;
		} else {
			rc = row__fail(row, "not the header line that is expected");
		}
	}
	free(text);
	if (!rc && ferror(in))
		return error__set(row->err, -EIO, "%s: cannot be read", row->file);
	if (!rc && !seen_header)
		return row__fail(row, "the header line is missing");
	return rc;
}

static int read_function(struct table *table, struct row *row, char *text)
{
	struct table_function *function;
	int rc = row__split(row, text, 9);

	if (rc)
		return rc;
	if (table->function_count == MAX_FUNCTIONS)
		return row__fail(row, "more than %d functions, see MAX_FUNCTIONS", MAX_FUNCTIONS);
	function = &table->functions[table->function_count++];
	rc = function__parse(function, row);
	return rc ? rc : function__check(function, row);
}

static int compare_functions(const void *left, const void *right)
{
	const struct table_function *a = left, *b = right;
	int order = strcmp(a->symbol, b->symbol);

	/* The row without a soname is the newest: 0 - 1 is larger than all others. */
	if (!order && a->soname != b->soname)
		return (unsigned int)a->soname - 1 < (unsigned int)b->soname - 1 ? -1 : 1;
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/*
 * Rows of one symbol are forms of one function for different libraries. They must agree in
 * everything that reports and counters use.
 */
static int check_forms(const struct table *table, struct row *row)
{
	const struct table_function *a, *b;
	size_t i;

	for (i = 1; i < table->function_count; i++) {
		a = &table->functions[i - 1];
		b = &table->functions[i];
		if (strcmp(a->symbol, b->symbol) != 0)
			continue;
		row->line = b->line;
		if (a->soname == b->soname)
			return row__fail(row, "%s is already in line %u", b->symbol, a->line);
		if (a->family != b->family || a->desc.operation != b->desc.operation ||
		    a->desc.kind != b->desc.kind)
			return row__fail(row, "%s is of another kind in line %u", b->symbol,
					 a->line);
	}
	return 0;
}

int table__read_functions(struct table *table, FILE *in, const char *file, struct error *err)
{
	struct row row = {.file = file, .err = err};
	int rc;

	table->functions = calloc(MAX_FUNCTIONS, sizeof(*table->functions));
	if (!table->functions)
		return error__set(err, -ENOMEM, "%s: out of memory", file);
	rc = read_rows(table, in, &row, functions_header, read_function);
	if (rc)
		return rc == -ENOMEM ? error__set(err, rc, "%s: out of memory", file) : rc;
	if (!table->function_count)
		return row__fail(&row, "the table is empty");

	qsort(table->functions, table->function_count, sizeof(*table->functions),
	      compare_functions);
	return check_forms(table, &row);
}

/* Parses an error code: a decimal of 0 or more and nothing else. */
static int parse_code(const struct row *row, const char *text, int *code)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value > INT_MAX)
		return row__fail(row, "%s is not an error code", text);
	*code = (int)value;
	return 0;
}

static int read_code(struct table *table, struct row *row, char *text)
{
	struct table_code *codes, *code;
	int rc = row__split(row, text, 3);
	int layer;

	if (rc)
		return rc;
	layer = word__layer(row->fields[0]);
	if (layer < 0)
		return row__fail(row, "unknown layer %s", row->fields[0]);
	if (!row__is_identifier(row->fields[2]))
		return row__fail(row, "%s is not a name", row->fields[2]);
	codes = reallocarray(table->codes, table->code_count + 1, sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	table->codes = codes;
	code = &codes[table->code_count];
	*code = (struct table_code){.layer = (enum layer)layer, .line = row->line};
	rc = parse_code(row, row->fields[1], &code->code);
	if (rc)
		return rc;
	code->name = strdup(row->fields[2]);
	if (!code->name)
		return -ENOMEM;
	table->code_count++;
	return 0;
}

static int compare_codes(const void *left, const void *right)
{
	const struct table_code *a = left, *b = right;

	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

int table__read_codes(struct table *table, FILE *in, const char *file, struct error *err)
{
	struct row row = {.file = file, .err = err};
	const struct table_code *a, *b;
	size_t i;
	int rc;

	rc = read_rows(table, in, &row, codes_header, read_code);
	if (rc)
		return rc == -ENOMEM ? error__set(err, rc, "%s: out of memory", file) : rc;
	if (!table->code_count)
		return row__fail(&row, "the table is empty");

	qsort(table->codes, table->code_count, sizeof(*table->codes), compare_codes);
	for (i = 1; i < table->code_count; i++) {
		a = &table->codes[i - 1];
		b = &table->codes[i];
		if (a->layer != b->layer || a->code != b->code)
			continue;
		row.line = b->line;
		return row__fail(&row, "code %d of that layer is already in line %u", b->code,
				 a->line);
	}
	return 0;
}

/* Parses an int in decimal and nothing else. */
static int parse_value(const struct row *row, const char *text, int *value)
{
	const char *digits = text + (*text == '-');
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (*digits < '0' || *digits > '9' || *end || errno || number > INT_MAX || number < INT_MIN)
		return row__fail(row, "%s is not a value of an enumeration", text);
	*value = (int)number;
	return 0;
}

static int read_value(struct table *table, struct row *row, char *text)
{
	struct table_value *values, *value;
	int rc = row__split(row, text, 3), number = 0;

	if (!rc && !row__is_identifier(row->fields[0]))
		return row__fail(row, "%s is not a type", row->fields[0]);
	if (!rc && !row__is_identifier(row->fields[2]))
		return row__fail(row, "%s is not a name", row->fields[2]);
	if (!rc)
		rc = parse_value(row, row->fields[1], &number);
	if (rc)
		return rc;
	values = reallocarray(table->values, table->value_count + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	table->values = values;
	value = &values[table->value_count++];
	*value = (struct table_value){.value = number, .line = row->line};
	value->type = strdup(row->fields[0]);
	value->name = strdup(row->fields[2]);
	return value->type && value->name ? 0 : -ENOMEM;
}

static int compare_values(const void *left, const void *right)
{
	const struct table_value *a = left, *b = right;
	int order = strcmp(a->type, b->type);

	if (!order)
		order = (a->value > b->value) - (a->value < b->value);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

int table__read_values(struct table *table, FILE *in, const char *file, struct error *err)
{
	struct row row = {.file = file, .err = err};
	const struct table_value *a, *b;
	size_t i;
	int rc;

	rc = read_rows(table, in, &row, values_header, read_value);
	if (rc)
		return rc == -ENOMEM ? error__set(err, rc, "%s: out of memory", file) : rc;
	if (!table->value_count)
		return row__fail(&row, "the table is empty");

	qsort(table->values, table->value_count, sizeof(*table->values), compare_values);
	for (i = 1; i < table->value_count; i++) {
		a = &table->values[i - 1];
		b = &table->values[i];
		if (a->value != b->value || strcmp(a->type, b->type) != 0)
			continue;
		row.line = b->line;
		return row__fail(&row, "value %d of that type is already in line %u", b->value,
				 a->line);
	}
	return 0;
}

/* --- allocators --- */

/* Words go into C strings without escapes. */
static bool is_plain_word(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_.-")];
}

static int parse_operands(const struct row *row, char *text, struct api_probe_operands *operands)
{
	static const char *const words[] = {
		[TENSOR_POINTER] = "pointer",
		[TENSOR_DEVICE] = "device",
		[TENSOR_BYTES] = "bytes",
		[TENSOR_STREAM] = "stream",
		[TENSOR_ALLOCATED] = "allocated",
		[TENSOR_RESERVED] = "reserved",
		[TENSOR_ROLES] = "-",
	};
	char *word;

	while ((word = strsep(&text, ","))) {
		size_t role = 0;

		while (role <= TENSOR_ROLES && strcmp(word, words[role]) != 0)
			role++;
		if (role > TENSOR_ROLES)
			return row__fail(row, "%s is not the meaning of an operand", word);
		if (operands->count == API_OPERANDS)
			return row__fail(row, "more than %d operands", API_OPERANDS);
		for (size_t i = 0; role < TENSOR_ROLES && i < operands->count; i++)
			if (operands->roles[i] == role)
				return row__fail(row, "two operands are the %s", word);
		operands->roles[operands->count++] = (uint8_t)role;
	}
	return 0;
}

static bool has_operand(const struct api_probe_operands *operands, enum tensor_role role)
{
	for (size_t i = 0; i < operands->count; i++)
		if (operands->roles[i] == role)
			return true;
	return false;
}

static int parse_probe(const struct row *row, struct table_probe *probe)
{
	int rc;

	for (size_t i = 0; i < 4; i++)
		if (!is_plain_word(row->fields[i]))
			return row__fail(row, "%s is not a name", row->fields[i]);
	if (!strcmp(row->fields[4], "allocate"))
		probe->action = TENSOR_ALLOCATES;
	else if (!strcmp(row->fields[4], "free"))
		probe->action = TENSOR_FREES;
	else if (!strcmp(row->fields[4], "exhausted"))
		probe->action = TENSOR_EXHAUSTED;
	else
		return row__fail(row, "unknown action %s", row->fields[4]);
	rc = parse_operands(row, row->fields[5], &probe->operands);
	if (rc)
		return rc;
	if (probe->action != TENSOR_EXHAUSTED && !has_operand(&probe->operands, TENSOR_POINTER))
		return row__fail(row, "no operand is the pointer");
	if (probe->action != TENSOR_FREES && !has_operand(&probe->operands, TENSOR_BYTES))
		return row__fail(row, "no operand is the bytes");
	return 0;
}

static int read_probe(struct table *table, struct row *row, char *text)
{
	struct table_probe *probes, probe = {0};
	int rc = row__split(row, text, 6);

	if (!rc)
		rc = parse_probe(row, &probe);
	if (rc)
		return rc;
	probes = reallocarray(table->probes, table->probe_count + 1, sizeof(*probes));
	if (!probes)
		return -ENOMEM;
	table->probes = probes;
	probe.allocator = strdup(row->fields[0]);
	probe.library = strdup(row->fields[1]);
	probe.provider = strdup(row->fields[2]);
	probe.name = strdup(row->fields[3]);
	probes[table->probe_count++] = probe;
	return probe.allocator && probe.library && probe.provider && probe.name ? 0 : -ENOMEM;
}

int table__read_probes(struct table *table, FILE *in, const char *file, struct error *err)
{
	struct row row = {.file = file, .err = err};
	int rc = read_rows(table, in, &row, probes_header, read_probe);

	if (rc)
		return rc == -ENOMEM ? error__set(err, rc, "%s: out of memory", file) : rc;
	return table->probe_count ? 0 : row__fail(&row, "the table is empty");
}
