// SPDX-License-Identifier: BSD-2-Clause
// The main page of `gpuprobe top`, see table.h.
#include "output/top/table.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/escape.h"
#include "output/enum_names.h"
#include "output/report/line.h"
#include "output/top/columns.h"
#include "output/top/gpus.h"

/* Each GPU has a line while all of them take at most this part of the page. */
#define GPU_LINES_PART 3
/* A page of so few lines leaves out the summary, the losses and the GPUs: processes come first. */
#define LEAST_LINES 6

/* --- the lines above the table --- */

static void write_filters(FILE *out, const struct top_scene *scene)
{
	const struct top_view *view = scene->view;

	if (*scene->only) {
		fputs(", only ", out);
		escape__text(out, scene->only);
	}
	if (*view->filter) {
		fputs(", filter '", out);
		escape__text(out, view->filter);
		fputc('\'', out);
	}
	if (*view->user) {
		fputs(", user ", out);
		escape__text(out, view->user);
	}
	if (scene->list->hidden)
		fprintf(out, ", %zu hidden", scene->list->hidden);
}

static void write_summary(FILE *out, const void *arg)
{
	const struct top_scene *scene = arg;
	const struct top_view *view = scene->view;
	size_t count = scene->list->count;

	fputs("gpuprobe top  ", out);
	report_line__date(out, scene->model);
	fprintf(out, "  %s%zu process%s", view->paused && !view->recorded ? "PAUSED  " : "", count,
		count == 1 ? "" : "es");
	write_filters(out, scene);
	fprintf(out, ", by %s%s%s, every %s", top_sort_words[view->sort],
		view->reverse ? " reversed" : "", view->tree ? " in a tree" : "",
		quantity__time(view->interval * (double)NS_PER_S).text);
}

/* The numbers first: a narrow screen has no room for the whole texts. */
static void write_losses(FILE *out, const void *arg)
{
	const struct model *model = arg;
	const char *separator = "lost: ";

	for (int loss = 0; loss < LOSS_COUNT; loss++) {
		if (!model->lost[loss])
			continue;
		fprintf(out, "%s%s %s", separator, quantity__amount((double)model->lost[loss]).text,
			enum_names__loss_text(loss));
		separator = "; ";
	}
}

bool top_table__folds_gpus(const struct top_scene *scene)
{
	enum top_gpus gpus = scene->view->gpus;

	if (gpus != TOP_GPUS_BY_ROOM)
		return gpus == TOP_GPUS_FOLDED;
	return scene->height && scene->model->gpu_count > scene->height / GPU_LINES_PART;
}

static bool is_small(const struct top_scene *scene)
{
	return scene->height && scene->height < LEAST_LINES;
}

static size_t lines_above(const struct top_scene *scene)
{
	size_t gpus = top_table__folds_gpus(scene) || !scene->model->gpu_count ?
			      1 :
			      scene->model->gpu_count;

	/* The heads of the columns; the summary. */
	return is_small(scene) ? 1 : 1 + 1 + model__has_losses(scene->model) + gpus;
}

size_t top_table__rows(const struct top_scene *scene)
{
	size_t above = lines_above(scene);

	if (!scene->height)
		return scene->list->count;
	return scene->height > above ? scene->height - above : 0;
}

/* --- the table --- */

/* One line of the table. */
struct table_line {
	const struct top_columns *columns;
	const struct top_table *table;
	const struct top_row *row;
	enum top_sort sort;
};

static void write_heads(FILE *out, const void *arg)
{
	const struct table_line *line = arg;

	top_columns__heads(out, line->columns, line->sort);
}

static void write_row(FILE *out, const void *arg)
{
	const struct table_line *line = arg;

	top_columns__row(out, line->columns, line->table, line->row);
}

static void write_nothing(FILE *out, const void *arg)
{
	const struct top_scene *scene = arg;

	if (scene->list->hidden) {
		fputs("  no process passes the filter (Esc shows all)", out);
		return;
	}
	fputs("  no CUDA process seen yet", out);
	if (*scene->only) {
		fputs(" that matches ", out);
		escape__text(out, scene->only);
	}
	if (scene->left_out)
		fprintf(out, "; %" PRIu64 " other%s left out", scene->left_out,
			scene->left_out == 1 ? " is" : "s are");
}

static enum top_style style_of(const struct top_scene *scene, size_t row)
{
	/* Without a height nobody moves a cursor. */
	if (scene->height && row == scene->view->row)
		return TOP_SELECTED;
	return scene->list->rows[row].process->ended ? TOP_FAINT : TOP_PLAIN;
}

static int add_rows(struct top_page *page, const struct top_scene *scene,
		    const struct top_columns *columns)
{
	const struct top_table table = {
		.model = scene->model,
		.findings = scene->findings,
		.full_path = scene->view->full_path,
	};
	struct table_line line = {.columns = columns, .table = &table, .sort = scene->view->sort};
	size_t end = scene->view->first + top_table__rows(scene);
	int ret = top_page__add(page, TOP_COLUMNS, write_heads, &line);

	for (size_t i = scene->view->first; i < end && i < scene->list->count && !ret; i++) {
		line.row = &scene->list->rows[i];
		ret = top_page__add(page, style_of(scene, i), write_row, &line);
	}
	if (!ret && !scene->list->count)
		ret = top_page__add(page, TOP_PLAIN, write_nothing, scene);
	return ret;
}

static int add_summary(struct top_page *page, const struct top_scene *scene)
{
	int ret = top_page__add(page, TOP_TITLE, write_summary, scene);

	if (!ret && model__has_losses(scene->model))
		ret = top_page__add(page, TOP_WARNING, write_losses, scene->model);
	return ret ? ret :
		     top_gpus__add(page, scene->model, scene->list, top_table__folds_gpus(scene),
				   scene->view->form);
}

int top_table__add(struct top_page *page, const struct top_scene *scene)
{
	struct top_columns columns;
	int ret = is_small(scene) ? 0 : add_summary(page, scene);

	top_columns__choose(&columns, scene->width, scene->view->sort, scene->view->form);
	return ret ? ret : add_rows(page, scene, &columns);
}

/* --- the last line --- */

static const char *question_of(enum top_prompt prompt)
{
	switch (prompt) {
	case TOP_ASKS_FILTER: return "filter (empty: all): ";
	case TOP_ASKS_USER: return "user (empty: all): ";
	case TOP_ASKS_INTERVAL: return "seconds between readings: ";
	default: return "";
	}
}

void top_table__bottom(FILE *out, const struct top_view *view, const char *message)
{
	if (view->prompt) {
		fputs(question_of(view->prompt), out);
		escape__text(out, view->input);
		fputc('_', out);
	} else if (view->mistake || message) {
		escape__text(out, view->mistake ? view->mistake : message);
	} else if (view->recorded) {
		fprintf(out, "%s  %s", view->moment,
			view->mode == TOP_TABLE ?
				"h help  q quit  left, right, Home, End: another  space play" :
				"q back  [ ] another  arrows scroll");
	} else if (view->mode == TOP_TABLE) {
		fputs("h help  q quit  Enter open  / filter  u user  MGLWCN sort  r reverse  t "
		      "tree",
		      out);
	} else {
		fputs("q back  arrows, PgUp and PgDn scroll  space pause", out);
	}
}
