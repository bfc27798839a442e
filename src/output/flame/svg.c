// SPDX-License-Identifier: BSD-2-Clause
// Flame graphs as SVG, see forms.h. Positions of frames are shares of the width, so zooming only
// changes shares. Each frame is a nested picture, which clips its name.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "base/xml.h"
#include "output/flame/parts.h"
#include "output/flame/forms.h"

#define WIDTH 1200
#define MARGIN 10
#define FRAMES_WIDTH (WIDTH - 2 * MARGIN)
#define ROW 17 /* height of a row of frames in pixels */
#define FRAME_HEIGHT 16
#define LINE 16				   /* height of a line of text around the frames */
#define FIRST_LINE 44			   /* below the title */
#define SMALL 25			   /* narrower frames have no label */
#define TITLE_WIDTH (FRAMES_WIDTH - 190)   /* leaves room for the buttons */
#define DETAILS_WIDTH (FRAMES_WIDTH - 140) /* leaves room for the share of the search result */

struct page {
	FILE *out;
	const struct flame_graph *graph;
	const struct flame_caption *caption;
	char *notes;	    /* one a line */
	unsigned int lines; /* lines of text above the frames, excluding the title */
	unsigned int rows;
	unsigned int shift; /* numbers for the script lose this many low bits: it has 53 bits */
	uint64_t left_out;  /* frames */
};

/* --- text around the frames --- */

static unsigned int frames_top(const struct page *page)
{
	return FIRST_LINE + page->lines * LINE;
}

static unsigned int height_of(const struct page *page)
{
	return frames_top(page) + page->rows * ROW + 2 * LINE;
}

static void print_time(FILE *out, const struct timespec *time)
{
	char text[32];
	struct tm tm;

	if (localtime_r(&time->tv_sec, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fputs(text, out);
	else
		fprintf(out, "%lld", (long long)time->tv_sec);
}

/* Begins a nested picture, which clips a line before the text beside it. */
static void begin_cut(const struct page *page, unsigned int y, unsigned int width)
{
	fprintf(page->out, "<svg x=\"%d\" y=\"%u\" width=\"%u\" height=\"%d\">", MARGIN, y, width,
		2 * LINE);
}

/* Later elements cover earlier ones, so the background is drawn first. */
static void print_heading(const struct page *page, const char *title)
{
	fputs("<title>", page->out);
	xml__text(page->out, title);
	fprintf(page->out,
		"</title>\n<style><![CDATA[\n%s]]></style>\n<rect id=\"page\" width=\"100%%\" "
		"height=\"100%%\"/>\n",
		flame_svg_style);
	begin_cut(page, 0, TITLE_WIDTH);
	fputs("<title>", page->out);
	xml__text(page->out, title);
	fputs("</title><text id=\"title\" y=\"24\">", page->out);
	xml__text(page->out, title);
	fputs("</text></svg>\n", page->out);
}

static int print_title(const struct page *page)
{
	const char *title = page->caption->title;
	char *label = flame_label__text(title ? title : flame_by__title(page->graph->by));

	if (!label)
		return -ENOMEM;
	print_heading(page, label);
	free(label);
	return 0;
}

static void begin_line(const struct page *page, unsigned int line)
{
	fprintf(page->out, "<text class=\"note\" x=\"%d\" y=\"%u\">", MARGIN,
		FIRST_LINE + line * LINE);
}

static void print_summary(const struct page *page, const struct model *model)
{
	FILE *out = page->out;

	begin_line(page, 0);
	fprintf(out, "%s, by call stack: ", flame_by__title(page->graph->by));
	flame_text__amount(out, page->graph, page->graph->by, page->graph->root->total);
	fputs(", from ", out);
	print_time(out, &page->caption->begin);
	fputs(" to ", out);
	print_time(out, &model->wall);
	fputs("</text>\n", out);
}

static void print_legend(const struct page *page)
{
	begin_line(page, 1);
	for (int kind = 0; kind < FLAME_FRAME_KINDS; kind++) {
		char color[FLAME_COLOR_SIZE];

		flame_color((enum flame_frame_kind)kind,
			    flame_color__word((enum flame_frame_kind)kind), color);
		fprintf(page->out, "%s<tspan fill=\"%s\">\xe2\x96\xa0</tspan> %s", kind ? "  " : "",
			color, flame_color__word((enum flame_frame_kind)kind));
	}
	fputs("</text>\n", page->out);
}

static void print_left_out(const struct page *page)
{
	begin_line(page, 2);
	if (page->left_out)
		fprintf(page->out,
			"%" PRIu64 " frame%s narrower than 0.1 px, and those above, not drawn",
			page->left_out, page->left_out == 1 ? "" : "s");
	else
		fputs("all frames are drawn", page->out);
	fputs("</text>\n", page->out);
}

static void print_notes(const struct page *page)
{
	unsigned int line = 3;
	char *rest = NULL;

	for (char *note = strtok_r(page->notes, "\n", &rest); note;
	     note = strtok_r(NULL, "\n", &rest)) {
		begin_line(page, line++);
		xml__text(page->out, note);
		fputs("</text>\n", page->out);
	}
}

static void print_controls(const struct page *page)
{
	unsigned int below = frames_top(page) + page->rows * ROW + LINE;

	fprintf(page->out,
		"<text id=\"search\" class=\"button\" x=\"%d\" y=\"24\" text-anchor=\"end\">search "
		"(Ctrl-F)</text>\n"
		"<text id=\"reset\" class=\"button\" x=\"%d\" y=\"24\" "
		"text-anchor=\"end\">reset</text>\n"
		"<text id=\"found\" x=\"%d\" y=\"%u\" text-anchor=\"end\"></text>\n",
		WIDTH - MARGIN - 60, WIDTH - MARGIN, WIDTH - MARGIN, below);
	begin_cut(page, below - LINE, DETAILS_WIDTH);
	fprintf(page->out, "<text id=\"details\" y=\"%d\"></text></svg>\n", LINE);
}

/* --- frames --- */

/* The comparison uses integers: exact. */
static bool is_drawn(const struct page *page, const struct flame_node *node)
{
	return !node->parent ||
	       (unsigned __int128)node->total * FRAMES_WIDTH * 10 >= page->graph->root->total;
}

/* The next node that is drawn. Skipped nodes and everything above them count as left out. */
static const struct flame_node *next_drawn(struct page *page, const struct flame_node *node)
{
	const struct flame_node *next = flame_node__next(node);

	while (next && !is_drawn(page, next)) {
		const struct flame_node *after = flame_node__after(next);

		for (; next != after; next = flame_node__next(next))
			page->left_out++;
	}
	return next;
}

static double share_of(const struct page *page, uint64_t value)
{
	uint64_t total = page->graph->root->total;

	return total ? (double)value / (double)total : 1;
}

static void print_frame(const struct page *page, const struct flame_node *node)
{
	const char *label = node->frame ? node->frame->label : "all";
	double share = node->frame ? share_of(page, node->total) : 1;
	char color[FLAME_COLOR_SIZE];
	FILE *out = page->out;

	flame_color(node->frame ? node->frame->kind : FLAME_MARK, label, color);
	fprintf(out,
		"<svg class=\"frame%s\" x=\"%.5f%%\" width=\"%.5f%%\" y=\"%u\" height=\"%d\" "
		"data-depth=\"%u\" "
		"data-begin=\"%" PRIu64 "\" data-end=\"%" PRIu64 "\"><title>",
		share * FRAMES_WIDTH < SMALL ? " small" : "",
		100 * (node->frame ? share_of(page, node->begin) : 0), 100 * share,
		(page->rows - 1 - node->depth) * ROW, FRAME_HEIGHT, node->depth,
		node->begin >> page->shift, (node->begin + node->total) >> page->shift);
	xml__text(out, label);
	fputc('\n', out);
	flame_text__amount(out, page->graph, page->graph->by, node->total);
	fputs(", ", out);
	flame_text__share(out, node->total, page->graph->root->total);
	fprintf(out,
		"</title><rect width=\"100%%\" height=\"100%%\" rx=\"1\" fill=\"%s\"/><text "
		"x=\"3\" y=\"12\">",
		color);
	xml__text(out, label);
	fputs("</text></svg>\n", out);
}

static void print_frames(struct page *page)
{
	fprintf(page->out, "<svg id=\"frames\" x=\"%d\" y=\"%u\" width=\"%d\" height=\"%u\">\n",
		MARGIN, frames_top(page), FRAMES_WIDTH, page->rows * ROW);
	for (const struct flame_node *node = page->graph->root; node; node = next_drawn(page, node))
		print_frame(page, node);
	fputs("</svg>\n", page->out);
}

/* --- the whole --- */

/* Computes all sizes before anything is written. */
static void measure(struct page *page)
{
	const struct flame_node *root = page->graph->root, *node = root;
	unsigned int depth = 0;

	do {
		if (node->depth > depth)
			depth = node->depth;
		node = next_drawn(page, node);
	} while (node);
	page->rows = depth + 1;
	page->lines = 3;
	for (const char *at = page->notes; (at = strchr(at, '\n')); at++)
		page->lines++;
	while (root->total >> page->shift >= UINT64_C(1) << 53)
		page->shift++;
}

static int print_page(struct page *page, const struct model *model)
{
	unsigned int height;
	int ret;

	measure(page);
	height = height_of(page);
	fprintf(page->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 "
		"0 %d %u\">\n",
		WIDTH, height, WIDTH, height);
	ret = print_title(page);
	if (ret)
		return ret;
	print_summary(page, model);
	print_legend(page);
	print_left_out(page);
	print_notes(page);
	print_controls(page);
	print_frames(page);
	fprintf(page->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_svg_script);
	return 0;
}

static char *make_notes(const struct flame_graph *graph, const struct model *model)
{
	size_t length;
	char *notes = NULL;
	FILE *out = text_stream__open(&notes, &length);

	if (!out)
		return NULL;
	flame_notes__print(out, graph, model);
	if (!fclose(out))
		return notes;
	free(notes);
	return NULL;
}

int flame_svg__print(FILE *out, const struct flame_graph *graph, const struct model *model,
		     const struct flame_caption *caption)
{
	struct page page = {
		.out = out, .graph = graph, .caption = caption, .notes = make_notes(graph, model)};
	int ret = page.notes ? print_page(&page, model) : -ENOMEM;

	free(page.notes);
	return ret;
}
