// SPDX-License-Identifier: BSD-2-Clause
// Writes the table as a C file. All text in it is an identifier, a type of letters, digits, spaces
// and stars, the name of a library, or one of our own words, so none needs escaping.
#include <errno.h>
#include <string.h>

#include "row.h"

static void write_arguments(const struct table *table, FILE *out)
{
	const struct table_argument *a;
	size_t i, j;

	/* One array for all functions. A table without arguments still needs one element. */
	fputs("static const struct api_argument arguments[] = {\n", out);
	for (i = 0; i < table->function_count; i++) {
		for (j = 0; j < table->functions[i].argument_count; j++) {
			a = &table->functions[i].arguments[j];
			fprintf(out, "\t{ \"%s\", \"%s\", 0x%02x, %u, 0x%02x, %u },\n", a->name,
				a->type, arg_location__encode(&a->location, a->size), a->size,
				a->location.first, a->passing);
		}
	}
	fputs("\t{ 0 },\n};\n\n", out);
}

/* Whether <cuda.h> maps this function's unversioned name to a later version. */
static bool is_superseded(const struct table *table, const struct table_function *function)
{
	size_t length = function__base_length(function->symbol);

	for (size_t i = 0; i < table->function_count; i++) {
		const struct table_function *other = &table->functions[i];

		if (other->plain && function__stem_length(other->symbol) == length &&
		    !strncmp(other->symbol, function->symbol, length))
			return true;
	}
	return false;
}

/* Writes the name for people; see struct api_function. */
static void write_shown(const struct table *table, const struct table_function *function, FILE *out)
{
	size_t length = function->plain ? function__stem_length(function->symbol) :
					  function__base_length(function->symbol);

	fprintf(out, "\t\t.shown = \"%.*s%s\",\n", (int)length, function->symbol,
		!function->plain && is_superseded(table, function) ? "_v1" : "");
}

static void write_function(const struct table *table, const struct table_function *function,
			   size_t first, FILE *out)
{
	const struct function_desc *desc = &function->desc;
	int role;

	fprintf(out, "\t{\n\t\t.symbol = \"%s\",\n\t\t.base = \"%.*s\",\n\t\t.family = \"%s\",\n",
		function->symbol, (int)function__base_length(function->symbol), function->symbol,
		function->family);
	write_shown(table, function, out);
	fprintf(out,
		"\t\t.desc = { .layer = %u, .operation = %u, .kind = %u, .flags = %u, .unit = %u, "
		".params = %u,\n"
		"\t\t\t.location = {",
		desc->layer, desc->operation, desc->kind, desc->flags, desc->unit, desc->params);
	for (role = 0; role < ROLE_COUNT; role++)
		fprintf(out, "%s0x%02x,", role % 10 ? " " : "\n\t\t\t\t", desc->location[role]);
	fputs("\n\t\t\t} },\n", out);
	fprintf(out, "\t\t.arguments = &arguments[%zu],\n\t\t.argument_count = %zu,\n", first,
		function->argument_count);
	if (function->libraries)
		fprintf(out, "\t\t.libraries = \"%s\",\n", function->libraries);
	fprintf(out, "\t\t.soname = %u,\n\t\t.returns = %u,\n\t\t.unrecorded = %u,\n\t},\n",
		function->soname, function->returns, function->unrecorded);
}

static void write_functions(const struct table *table, FILE *out)
{
	size_t first = 0, i;

	fputs("const struct api_function api_functions[] = {\n", out);
	for (i = 0; i < table->function_count; i++) {
		write_function(table, &table->functions[i], first, out);
		first += table->functions[i].argument_count;
	}
	fputs("};\nconst size_t api_function_count =\n"
	      "\tsizeof(api_functions) / sizeof(api_functions[0]);\n\n",
	      out);
}

static void write_codes(const struct table *table, FILE *out)
{
	const struct table_code *code;
	size_t i;

	fputs("const struct api_error api_errors[] = {\n", out);
	for (i = 0; i < table->code_count; i++) {
		code = &table->codes[i];
		fprintf(out, "\t{ %d, %d, \"%s\" },\n", code->layer, code->code, code->name);
	}
	fputs("};\nconst size_t api_error_count = sizeof(api_errors) / sizeof(api_errors[0]);\n",
	      out);
}

static void write_values(const struct table *table, FILE *out)
{
	const struct table_value *value;
	size_t i;

	fputs("\nconst struct api_value api_values[] = {\n", out);
	for (i = 0; i < table->value_count; i++) {
		value = &table->values[i];
		fprintf(out, "\t{ \"%s\", \"%s\", %d },\n", value->type, value->name, value->value);
	}
	fputs("};\nconst size_t api_value_count = sizeof(api_values) / sizeof(api_values[0]);\n",
	      out);
}

static void write_probes(const struct table *table, FILE *out)
{
	const struct table_probe *probe;
	size_t i, n;

	fputs("\nconst struct api_probe api_probes[] = {\n", out);
	for (i = 0; i < table->probe_count; i++) {
		probe = &table->probes[i];
		fprintf(out, "\t{ \"%s\", \"%s\", \"%s\", \"%s\", { %u, {", probe->allocator,
			probe->library, probe->provider, probe->name, probe->operands.count);
		for (n = 0; n < probe->operands.count; n++)
			fprintf(out, " %u,", probe->operands.roles[n]);
		fprintf(out, " } }, %u },\n", probe->action);
	}
	fputs("};\nconst size_t api_probe_count = sizeof(api_probes) / sizeof(api_probes[0]);\n",
	      out);
}

int table__write(const struct table *table, FILE *out)
{
	fputs("// Made by api/generate from functions.tsv, errors.tsv, enums.tsv and "
	      "allocators.tsv.\n"
	      "#include \"api/api.h\"\n"
	      "#include \"api/api_tables.h\"\n\n",
	      out);
	write_arguments(table, out);
	write_functions(table, out);
	write_codes(table, out);
	write_values(table, out);
	write_probes(table, out);
	return ferror(out) ? -EIO : 0;
}
