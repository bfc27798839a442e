// SPDX-License-Identifier: BSD-2-Clause
// The files of a person's page, embedded in the program: see web.h. The assembler reads them from
// web/ and third_party/ below the folder where make runs.
#include "output/web/web.h"

#include <string.h>

/* NAME and NAME_end are where the file's bytes begin and end. */
#define EMBED(name, file) \
	__asm__(".pushsection .rodata\n" \
		".balign 16\n" \
		".hidden web_file_" #name "\n" \
		".hidden web_file_" #name "_end\n" \
		".global web_file_" #name "\n" \
		".global web_file_" #name "_end\n" \
		"web_file_" #name ": .incbin \"" file "\"\n" \
		"web_file_" #name "_end: .byte 0\n" \
		".popsection\n"); \
	extern const char web_file_##name[], web_file_##name##_end[]

EMBED(index, "web/index.html");
EMBED(icon, "web/icon.svg");
EMBED(style, "web/style.css");
EMBED(text, "web/text.js");
EMBED(plots, "web/plots.js");
EMBED(tables, "web/tables.js");
EMBED(details, "web/details.js");
EMBED(page, "web/page.js");
EMBED(uplot, "third_party/uplot-1.6.32/uPlot.iife.js");
EMBED(uplot_style, "third_party/uplot-1.6.32/uPlot.min.css");
EMBED(uplot_license, "third_party/uplot-1.6.32/LICENSE");

#define HTML "text/html; charset=utf-8"
#define STYLE "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define FILE_OF(name) web_file_##name, web_file_##name##_end

static const struct web_file files[] = {
	{"/", HTML, FILE_OF(index)},
	{"/web/icon.svg", "image/svg+xml", FILE_OF(icon)},
	{"/web/style.css", STYLE, FILE_OF(style)},
	{"/web/text.js", SCRIPT, FILE_OF(text)},
	{"/web/plots.js", SCRIPT, FILE_OF(plots)},
	{"/web/tables.js", SCRIPT, FILE_OF(tables)},
	{"/web/details.js", SCRIPT, FILE_OF(details)},
	{"/web/page.js", SCRIPT, FILE_OF(page)},
	{"/web/uplot.js", SCRIPT, FILE_OF(uplot)},
	{"/web/uplot.css", STYLE, FILE_OF(uplot_style)},
	{"/web/uplot-license.txt", "text/plain; charset=utf-8", FILE_OF(uplot_license)},
};

const struct web_file *web_files__find(const char *path)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}
