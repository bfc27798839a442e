// SPDX-License-Identifier: BSD-2-Clause
// Call sites in words, see site_text.h.
#include "output/site_text.h"

#include "api/api.h"
#include "base/escape.h"
#include "output/kernel_text.h"
#include "output/report/line.h"

static void print_failure(FILE *out, const struct call_site *site)
{
	const struct api_function *function = &api_functions[site->row];
	const char *error = api__error_name(function->desc.layer, site->code);

	fprintf(out, "%s: %s (%d) x %s", function->shown, error ? error : "unknown error",
		site->code, quantity__count(site->calls).text);
}

static void print_launches(FILE *out, const struct call_site *site, bool full_names)
{
	const char *kernel = kernel_text__name_at(site, full_names);

	fprintf(out, "%s launch%s of ", quantity__count(site->calls).text,
		site->calls == 1 ? "" : "es");
	escape__text(out, kernel ? kernel : "a kernel without a name");
}

static void print_calls(FILE *out, const struct call_site *site, struct quantity amount,
			const char *word)
{
	fprintf(out, "%s %s %s call%s of %s", amount.text, word, quantity__count(site->calls).text,
		report_line__plural(site->calls), api_functions[site->row].shown);
}

void site_text__print(FILE *out, const struct call_site *site, enum quantity_form form,
		      bool full_names)
{
	switch ((enum site_kind)site->kind) {
	case SITE_FAILURE: print_failure(out, site); break;
	case SITE_LAUNCH: print_launches(out, site, full_names); break;
	case SITE_WAIT:
	case SITE_COPY: print_calls(out, site, quantity__time_as(form, site->amount), "in"); break;
	default: print_calls(out, site, quantity__bytes_as(form, site->amount), "by");
	}
}

void site_text__print_kind(FILE *out, const struct model *model, enum site_kind kind)
{
	switch (kind) {
	case SITE_LAUNCH:
		fputs("where it launches", out);
		if (model->stack_sample > 1)
			fprintf(out, " (stacks of the first and 1 launch in %u)",
				model->stack_sample);
		break;
	case SITE_WAIT:
		fprintf(out, "where it waits for at least %s",
			quantity__time((double)model->min_wait_ns).text);
		break;
	case SITE_FAILURE: fputs("where calls fail", out); break;
	case SITE_COPY: fputs("where it copies and sets asynchronously", out); break;
	default: fputs("where it allocates", out);
	}
	fputc(':', out);
}
