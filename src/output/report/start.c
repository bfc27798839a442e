// SPDX-License-Identifier: BSD-2-Clause
// The start of a process as text, see parts.h.
#include "output/report/parts.h"

#include "base/escape.h"
#include "base/quantity.h"
#include "model/profile.h"
#include "output/report/line.h"
#include "output/enum_names.h"

#define FILES_SHOWN 3
#define PART_SHARE 0.01 /* smaller shares of the start are left out */

static void print_parts(FILE *out, const uint64_t parts[START_PARTS], enum quantity_form form)
{
	const char *comma = REPORT_INDENT;
	uint64_t all = 0;

	for (int i = 0; i < START_PARTS; i++)
		all += parts[i];
	for (int i = 0; i < START_PARTS; i++) {
		if ((double)parts[i] < PART_SHARE * (double)all)
			continue;
		fprintf(out, "%s%s %s", comma, enum_names__start_part(i),
			quantity__time_as(form, parts[i]).text);
		comma = ", ";
	}
	fputc('\n', out);
}

static void print_amounts(FILE *out, const struct process_start *start, enum quantity_form form)
{
	const struct upload_sums *uploads = &start->uploads;

	if (!start->loads && !uploads->bytes)
		return;
	fputs(REPORT_INDENT, out);
	if (start->loads)
		fprintf(out, "%s load%s of modules and libraries",
			quantity__count(start->loads).text, report_line__plural(start->loads));
	if (uploads->bytes)
		fprintf(out, "%s%s copied to devices", start->loads ? ", " : "",
			quantity__bytes_as(form, uploads->bytes).text);
	if (uploads->bytes && uploads->ns)
		fprintf(out, " (%s inside the calls)",
			quantity__bandwidth_as(form,
					       (double)uploads->bytes * 1e9 / (double)uploads->ns)
				.text);
	fputc('\n', out);
}

/* Lists the mapped files that were copied from, over the whole watched time. */
static void print_files(FILE *out, const struct profile *profile, enum quantity_form form)
{
	for (size_t i = 0; i < profile->mapped_count && i < FILES_SHOWN; i++) {
		const struct mapped_copy_record *record = &profile->mapped[i].record;

		fprintf(out, REPORT_INDENT "%s straight from the mapped file ",
			quantity__bytes_as(form, record->bytes).text);
		escape__text(out, record->name);
		if (record->ns)
			fprintf(out, ", %s",
				quantity__bandwidth_as(form, (double)record->bytes * 1e9 /
								     (double)record->ns)
					.text);
		fputc('\n', out);
	}
	if (profile->mapped_count > FILES_SHOWN)
		fprintf(out, REPORT_INDENT "... and %zu more file%s\n",
			profile->mapped_count - FILES_SHOWN,
			report_line__plural(profile->mapped_count - FILES_SHOWN));
}

void report_start__print(FILE *out, const struct process *process, uint64_t began_ns,
			 enum quantity_form form)
{
	struct process_start start;

	if (!process->profile)
		return;
	start__evaluate(process, began_ns, &start);
	if (!start.launched_ns || (!start.from_begin && !start.steady_ns))
		return;
	fprintf(out, "\n    the start, from %s: %s to the first launch",
		start.from_begin ? "its beginning" : "attach",
		quantity__time_as(form, start.launched_ns - start.begin_ns).text);
	if (start.steady_ns)
		fprintf(out, ", %s to the first steady step",
			quantity__time_as(form, start.steady_ns - start.begin_ns).text);
	fputc('\n', out);
	print_parts(out, start.steady_ns ? start.to_steady : start.to_launch, form);
	print_amounts(out, &start, form);
	print_files(out, process->profile, form);
}
