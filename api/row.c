// SPDX-License-Identifier: BSD-2-Clause
// A row of functions.tsv: from text to struct table_function.
#include "row.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

/* Of names of libraries, with the comma that separates them. */
#define LIBRARY_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-"

enum column {
	COLUMN_LAYER,
	COLUMN_SYMBOL,
	COLUMN_FAMILY,
	COLUMN_OPERATION,
	COLUMN_KIND,
	COLUMN_FLAGS,
	COLUMN_ROLES,
	COLUMN_ARGUMENTS,
};

int row__fail(const struct row *row, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return error__set(row->err, -EINVAL, "%s:%u: %s", row->file, row->line, text);
}

int row__split(struct row *row, char *text, size_t count)
{
	size_t n = 0;
	char *field;

	while ((field = strsep(&text, "\t"))) {
		if (n == count)
			return row__fail(row, "more than %zu columns", count);
		if (!*field)
			return row__fail(row, "column %zu is empty, it needs at least a -", n + 1);
		row->fields[n++] = field;
	}
	if (n < count)
		return row__fail(row, "%zu columns, %zu are needed", n, count);
	return 0;
}

bool row__is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	}
	return true;
}

size_t function__base_length(const char *symbol)
{
	size_t length = strlen(symbol);

	if (length > 5 && (strcmp(symbol + length - 5, "_ptds") == 0 ||
			   strcmp(symbol + length - 5, "_ptsz") == 0))
		return length - 5;
	return length;
}

size_t function__stem_length(const char *symbol)
{
	size_t base = function__base_length(symbol), length = base;

	while (length && isdigit((unsigned char)symbol[length - 1]))
		length--;
	return length > 2 && length < base && symbol[length - 1] == 'v' &&
			       symbol[length - 2] == '_' ?
		       length - 2 :
		       base;
}

static int parse_symbol(struct table_function *function, const struct row *row)
{
	const char *symbol = row->fields[COLUMN_SYMBOL];

	if (!row__is_identifier(symbol))
		return row__fail(row, "%s is not a symbol", symbol);
	function->symbol = strdup(symbol);
	return function->symbol ? 0 : -ENOMEM;
}

/* layer, family, operation and kind: one word each. */
static int parse_words(struct table_function *function, const struct row *row)
{
	int layer, operation, kind;

	layer = word__layer(row->fields[COLUMN_LAYER]);
	if (layer < 0)
		return row__fail(row, "unknown layer %s", row->fields[COLUMN_LAYER]);
	function->family = word__family(row->fields[COLUMN_FAMILY]);
	if (!function->family)
		return row__fail(row, "unknown family %s", row->fields[COLUMN_FAMILY]);
	operation = word__operation(row->fields[COLUMN_OPERATION]);
	if (operation < 0)
		return row__fail(row, "unknown operation %s", row->fields[COLUMN_OPERATION]);
	kind = word__kind((enum operation)operation, row->fields[COLUMN_KIND]);
	if (kind < 0)
		return row__fail(row, "operation %s has no kind %s", row->fields[COLUMN_OPERATION],
				 row->fields[COLUMN_KIND]);
	function->desc.layer = (__u8)layer;
	function->desc.operation = (__u8)operation;
	function->desc.kind = (__u8)kind;
	return 0;
}

static int parse_unit(struct table_function *function, const struct row *row, const char *text)
{
	if (strcmp(text, "2") != 0 && strcmp(text, "4") != 0)
		return row__fail(row, "a unit is 2 or 4 bytes, not %s", text);
	function->desc.unit = (__u8)(*text - '0');
	return 0;
}

static int parse_plain(struct table_function *function, const struct row *row)
{
	if (function__stem_length(function->symbol) == function__base_length(function->symbol))
		return row__fail(row, "%s has no version that a plain name could be without",
				 function->symbol);
	function->plain = true;
	return 0;
}

static int parse_params(struct table_function *function, const struct row *row, const char *text)
{
	int params = word__params(text);

	if (params < 0)
		return row__fail(row, "unknown parameter structure \"%s\"", text);
	function->desc.params = (__u8)params;
	return 0;
}

static int parse_soname(struct table_function *function, const struct row *row, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 2 || text[digits] || *text == '0')
		return row__fail(row, "a soname is a number from 1 to 99, not %s", text);
	function->soname = (uint8_t)atoi(text);
	return 0;
}

static int parse_returns(struct table_function *function, const struct row *row, const char *text)
{
	int returns = word__returns(text);

	if (returns < 0)
		return row__fail(row, "a function returns value, nothing, earlier or nccl, not %s",
				 text);
	function->returns = (uint8_t)returns;
	return 0;
}

static int parse_libraries(struct table_function *function, const struct row *row, const char *text)
{
	if (function->libraries)
		return row__fail(row, "two flags library=");
	if (strncmp(text, "lib", 3) != 0 || strspn(text, LIBRARY_CHARACTERS) != strlen(text))
		return row__fail(row, "a library is a name such as libnccl.so, not %s", text);
	function->libraries = strdup(text);
	return function->libraries ? 0 : -ENOMEM;
}

/* The flags that name arguments: they are applied once the arguments have been parsed. */
struct argument_flags {
	char *address, *given; /* "NAME,...", or NULL */
};

static int parse_flags(struct table_function *function, const struct row *row,
		       struct argument_flags *flags)
{
	char *rest = row->fields[COLUMN_FLAGS], *word;
	int rc = 0;

	function->desc.unit = 1;
	if (strcmp(rest, "-") == 0)
		return 0;
	while (!rc && (word = strsep(&rest, " "))) {
		if (strcmp(word, "async") == 0)
			function->desc.flags |= FUNCTION_ASYNC;
		else if (strcmp(word, "per_thread") == 0)
			function->desc.flags |= FUNCTION_PER_THREAD;
		else if (strcmp(word, "plain") == 0)
			rc = parse_plain(function, row);
		else if (strncmp(word, "unit=", 5) == 0)
			rc = parse_unit(function, row, word + 5);
		else if (strncmp(word, "params=", 7) == 0)
			rc = parse_params(function, row, word + 7);
		else if (strncmp(word, "soname=", 7) == 0)
			rc = parse_soname(function, row, word + 7);
		else if (strncmp(word, "returns=", 8) == 0)
			rc = parse_returns(function, row, word + 8);
		else if (strncmp(word, "library=", 8) == 0)
			rc = parse_libraries(function, row, word + 8);
		else if (strncmp(word, "address=", 8) == 0)
			flags->address = word + 8;
		else if (strncmp(word, "given=", 6) == 0)
			flags->given = word + 6;
		else
			rc = row__fail(row, "unknown flag \"%s\"", word);
	}
	return rc;
}

static bool is_type(const char *text)
{
	if (!isalpha((unsigned char)*text))
		return false;
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("_ *", *text))
			return false;
	}
	return true;
}

/* Parses "NAME LOCATION TYPE" into an argument that is all zero. */
static int parse_argument(struct table_argument *argument, const struct row *row, char *text)
{
	char *name = strsep(&text, " "), *location = strsep(&text, " "), *type = text;
	int size;

	if (!location || !type)
		return row__fail(row, "argument %s is not NAME LOCATION TYPE", name);
	if (!row__is_identifier(name))
		return row__fail(row, "\"%s\" is not the name of an argument", name);
	if (arg_location__parse(location, &argument->location))
		return row__fail(row, "unknown location %s of argument %s", location, name);
	size = is_type(type) ? type__size(type) : -1;
	if (size < 0)
		return row__fail(row, "unknown type \"%s\" of argument %s", type, name);
	if (!arg_location__fits(&argument->location, size))
		return row__fail(row, "argument %s of %d bytes cannot be at %s", name, size,
				 location);
	argument->size = (uint8_t)size;
	argument->name = strdup(name);
	argument->type = strdup(type);
	return argument->name && argument->type ? 0 : -ENOMEM;
}

/* Checks the last argument against those before it. */
static int check_last_argument(const struct table_function *function, const struct row *row)
{
	const struct table_argument *last = &function->arguments[function->argument_count - 1];
	const struct table_argument *a;

	for (a = function->arguments; a < last; a++) {
		/* An argument without a name has ended the reading, so none is NULL here. */
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
		if (strcmp(a->name, last->name) == 0)
			return row__fail(row, "two arguments are called %s", a->name);
		if (arg_location__overlap(&a->location, &last->location))
			return row__fail(row, "arguments %s and %s are at the same location",
					 a->name, last->name);
	}
	return 0;
}

static int parse_arguments(struct table_function *function, const struct row *row)
{
	char *rest = row->fields[COLUMN_ARGUMENTS], *next;
	int rc;

	function->unrecorded = strcmp(rest, "?") == 0;
	if (strcmp(rest, "-") == 0 || function->unrecorded)
		return 0;
	function->arguments = calloc(MAX_ARGUMENTS, sizeof(*function->arguments));
	if (!function->arguments)
		return -ENOMEM;
	for (; rest; rest = next) {
		next = strstr(rest, "; ");
		if (next) {
			*next = '\0';
			next += 2;
		}
		if (function->argument_count == MAX_ARGUMENTS)
			return row__fail(row, "more than %d arguments", MAX_ARGUMENTS);
		rc = parse_argument(&function->arguments[function->argument_count++], row, rest);
		if (!rc)
			rc = check_last_argument(function, row);
		if (rc)
			return rc;
	}
	return 0;
}

static struct table_argument *find_argument(const struct table_function *function, const char *name)
{
	size_t i;

	for (i = 0; i < function->argument_count; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): as above */
		if (strcmp(function->arguments[i].name, name) == 0)
			return &function->arguments[i];
	}
	return NULL;
}

/* Sets the passing of the arguments listed as "NAME,..." in address= and given=. */
static int set_passing(struct table_function *function, const struct row *row, char *names,
		       enum api_passing passing)
{
	struct table_argument *argument;
	char *name;

	while ((name = strsep(&names, ","))) {
		argument = find_argument(function, name);
		if (!argument)
			return row__fail(row, "a flag names no argument: %s", name);
		if (!type__is_pointer(argument->type))
			return row__fail(row, "%s is no pointer, a flag says it is", name);
		if (argument->passing)
			return row__fail(row, "flags name %s twice", name);
		argument->passing = (uint8_t)passing;
	}
	return 0;
}

static int set_role(struct table_function *function, const struct row *row, enum role role,
		    uint8_t location)
{
	if (function->desc.location[role] != LOCATION_NONE)
		return row__fail(row, "role %s is given twice", word__of_role(role));
	function->desc.location[role] = location;
	return 0;
}

/*
 * A dim3 takes two slots: the first holds x and y, 32 bits each, the second
 * holds z. gridx (blockx) gets all of the first, gridz (blockz) the second,
 * and gridy (blocky) none; so a gridx of 64 bits carries y in its upper half.
 */
static int set_dim3(struct table_function *function, const struct row *row, enum role x,
		    const struct arg_location *location)
{
	enum role z = x == ROLE_GRIDX ? ROLE_GRIDZ : ROLE_BLOCKZ;
	int rc = set_role(function, row, x, location->first);

	return rc ? rc : set_role(function, row, z, (location->first + 1) | LOCATION_32);
}

/* Parses "ROLE=ARGUMENT". */
static int parse_role(struct table_function *function, const struct row *row, char *text)
{
	char *word = strsep(&text, "="), *name = text;
	const struct table_argument *argument;
	int role = word__role(word);
	uint8_t location;

	if (role < 0 || !name)
		return row__fail(row, "unknown role \"%s\"", word);
	argument = find_argument(function, name);
	if (!argument)
		return row__fail(row, "role %s names no argument: %s", word, name);
	if ((role == ROLE_GRIDX || role == ROLE_BLOCKX) && strcmp(argument->type, "dim3") == 0)
		return set_dim3(function, row, (enum role)role, &argument->location);
	location = arg_location__encode(&argument->location, argument->size);
	if (location == LOCATION_NONE)
		return row__fail(row, "role %s names %s, which is in no single location", word,
				 name);
	if (role == ROLE_OUT && type__pointee_size(argument->type) == 4)
		function->desc.flags |= FUNCTION_OUT_32;
	return set_role(function, row, (enum role)role, location);
}

static int parse_roles(struct table_function *function, const struct row *row)
{
	char *rest = row->fields[COLUMN_ROLES], *word;
	int rc = 0;

	memset(function->desc.location, LOCATION_NONE, sizeof(function->desc.location));
	if (strcmp(rest, "-") == 0)
		return 0;
	while (!rc && (word = strsep(&rest, " ")))
		rc = parse_role(function, row, word);
	return rc;
}

int function__parse(struct table_function *function, const struct row *row)
{
	struct argument_flags flags = {NULL, NULL};
	int rc;

	memset(function, 0, sizeof(*function));
	function->line = row->line;
	rc = parse_symbol(function, row);
	if (!rc)
		rc = parse_words(function, row);
	if (!rc)
		rc = parse_flags(function, row, &flags);
	if (!rc)
		rc = parse_arguments(function, row);
	if (!rc)
		rc = set_passing(function, row, flags.address, PASSING_ADDRESS);
	if (!rc)
		rc = set_passing(function, row, flags.given, PASSING_GIVEN);
	if (!rc)
		rc = parse_roles(function, row);
	return rc;
}

void function__clear(struct table_function *function)
{
	size_t i;

	for (i = 0; i < function->argument_count; i++) {
		free(function->arguments[i].name);
		free(function->arguments[i].type);
	}
	free(function->arguments);
	free(function->symbol);
	free(function->libraries);
	memset(function, 0, sizeof(*function));
}
