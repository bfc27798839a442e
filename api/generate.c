// SPDX-License-Identifier: BSD-2-Clause
// generate FUNCTIONS.TSV ERRORS.TSV ENUMS.TSV ALLOCATORS.TSV OUT.C: generates the C tables of the
// CUDA API from its description, at build time. If the description is wrong, OUT.C stays unchanged.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

typedef int (*table_reader)(struct table *table, FILE *in, const char *file, struct error *err);

static int read_file(struct table *table, const char *file, table_reader reader, struct error *err)
{
	FILE *in = fopen(file, "re");
	int rc;

	if (!in)
		return error__set(err, -errno, "%s: %s", file, strerror(errno));
	rc = reader(table, in, file, err);
	fclose(in);
	return rc;
}

static int write_file(const struct table *table, const char *file, struct error *err)
{
	FILE *out = fopen(file, "we");
	int rc;

	if (!out)
		return error__set(err, -errno, "%s: %s", file, strerror(errno));
	rc = table__write(table, out);
	if (fclose(out) || rc)
		return error__set(err, -EIO, "%s: cannot be written", file);
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = {.text = ""};
	struct table *table;
	int rc;

	if (argc != 6) {
		fputs("usage: generate FUNCTIONS.TSV ERRORS.TSV ENUMS.TSV ALLOCATORS.TSV OUT.C\n",
		      stderr);
		return 2;
	}
	table = table__new();
	rc = table ? 0 : error__set(&err, -ENOMEM, "out of memory");
	if (!rc)
		rc = read_file(table, argv[1], table__read_functions, &err);
	if (!rc)
		rc = read_file(table, argv[2], table__read_codes, &err);
	if (!rc)
		rc = read_file(table, argv[3], table__read_values, &err);
	if (!rc)
		rc = read_file(table, argv[4], table__read_probes, &err);
	if (!rc)
		rc = write_file(table, argv[5], &err);
	table__free(table);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	return rc ? 1 : 0;
}
