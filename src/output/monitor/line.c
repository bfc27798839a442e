// SPDX-License-Identifier: BSD-2-Clause
// Lines within the width of the report, and words about a process, see parts.h.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "base/width.h"
#include "model/gpu_label.h"
#include "output/monitor/parts.h"
#include "output/wrap.h"

#define CUT "..."

size_t monitor_line__shown(const struct monitor_page *page, size_t count, size_t few)
{
	size_t shown = page->options->cut ? few : page->options->top;

	return shown && shown < count ? shown : count;
}

struct quantity monitor_line__rate(enum quantity_form form, double per_second)
{
	return per_second > 0 ? quantity__rate_as(form, per_second) : (struct quantity){"0"};
}

/* --- lines --- */

static size_t fit(const char *line, size_t length, int columns)
{
	return width__fit(line, length, columns > 0 ? (size_t)columns : 0);
}

static void put_line(FILE *out, const char *line, size_t length, int columns)
{
	size_t end = fit(line, length, columns);

	if (end == length)
		fprintf(out, "%.*s\n", (int)length, line);
	else
		fprintf(out, "%.*s" CUT "\n", (int)fit(line, length, columns - (int)strlen(CUT)),
			line);
}

/* The last line of a text that goes on: as many words as leave room for the mark. */
static void put_last_line(FILE *out, const char *line, size_t length, int columns)
{
	size_t end = fit(line, length, columns - (int)strlen(" " CUT)), blank = end;

	while (end < length && blank && line[blank] != ' ')
		blank--;
	if (blank)
		end = blank;
	fprintf(out, "%.*s " CUT "\n", (int)end, line);
}

/* The label is written over the blanks of the first line's indentation. */
static void put_lines(FILE *out, int columns, const char *label, int indent, const char *text,
		      size_t lines)
{
	for (size_t number = 1; *text && (!lines || number <= lines); number++) {
		size_t length = strcspn(text, "\n");
		const char *next = text + length + (text[length] == '\n');

		fprintf(out, "%-*.*s", indent, indent, number == 1 ? label : "");
		if (number == lines && *next)
			put_last_line(out, text, length, columns);
		else
			put_line(out, text, length, columns);
		text = next;
	}
}

FILE *monitor_words__begin(struct monitor_words *words)
{
	*words = (struct monitor_words){0};
	words->out = text_stream__open(&words->text, &words->length);
	return words->out;
}

void monitor_words__wrap(struct monitor_words *words, FILE *out, const struct monitor_page *page,
			 const char *label, int indent, size_t lines)
{
	int columns = page->options->columns - indent;
	struct monitor_words wrapped;
	bool any = !fclose(words->out) && words->length;

	if (any && monitor_words__begin(&wrapped)) {
		wrap__print(wrapped.out, words->text, 0, 0, columns);
		if (!fclose(wrapped.out))
			put_lines(out, columns, label, indent, wrapped.text, lines);
		free(wrapped.text);
	}
	free(words->text);
}

void monitor_words__lines(struct monitor_words *words, FILE *out, const struct monitor_page *page,
			  const char *label, int indent)
{
	int columns = page->options->columns - indent;
	struct monitor_words wrapped;
	bool any = !fclose(words->out) && words->length;

	if (any && monitor_words__begin(&wrapped)) {
		for (char *line = words->text, *next; line && *line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			wrap__print(wrapped.out, line, 0, 2, columns);
		}
		if (!fclose(wrapped.out))
			put_lines(out, columns, label, indent, wrapped.text, 0);
		free(wrapped.text);
	}
	free(words->text);
}

void monitor_words__list(struct monitor_words *words, FILE *out, const struct monitor_page *page,
			 const char *label, int indent)
{
	int columns = page->options->cut_names ? page->options->columns - indent : INT_MAX;

	if (!fclose(words->out))
		put_lines(out, columns, label, indent, words->text, 0);
	free(words->text);
}

/* --- the process --- */

/* A word of the command line without its folders, which ends at a blank. */
static const char *base_of(const char *word, size_t *length)
{
	size_t begin = *length = strcspn(word, " ");

	while (begin && word[begin - 1] != '/')
		begin--;
	*length -= begin;
	return word + begin;
}

static bool is_interpreter(const char *name, size_t length)
{
	static const char *const names[] = {"python", "pypy", "bash", "sh", "node", "perl", "ruby"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t known = strlen(names[i]);

		/* "python3.11", too */
		if (length >= known && !strncmp(name, names[i], known) &&
		    strspn(name + known, "0123456789.") == length - known)
			return true;
	}
	return false;
}

/* The script, or "-m MODULE"; NULL: none. Options before it are skipped. */
static const char *script_of(const char *words)
{
	while (*words) {
		words += strspn(words, " ");
		if (!strncmp(words, "-m ", 3))
			return words;
		if (!strncmp(words, "-c ", 3))
			return NULL;
		if (*words && *words != '-')
			return words;
		words += strcspn(words, " ");
	}
	return NULL;
}

void monitor_line__command(const struct process *process, char text[MONITOR_COMMAND_SIZE])
{
	size_t length, script_length;
	const char *name = base_of(process->command, &length), *script;

	if (!length) {
		snprintf(text, MONITOR_COMMAND_SIZE, "%s", process->comm);
		return;
	}
	script = is_interpreter(name, length) ? script_of(name + length) : NULL;
	if (!script) {
		snprintf(text, MONITOR_COMMAND_SIZE, "%.*s", (int)length, name);
		return;
	}
	if (*script == '-') {
		script_length = 3 + strcspn(script + 3, " ");
	} else {
		script = base_of(script, &script_length);
	}
	snprintf(text, MONITOR_COMMAND_SIZE, "%.*s %.*s", (int)length, name, (int)script_length,
		 script);
}

/* CUDA's numbers of the devices that the process used. */
static size_t add_devices(const struct process *process, char text[MONITOR_GPUS_SIZE])
{
	size_t known = 0;

	for (size_t i = 0; i < process->device_count; i++) {
		if (process->devices[i].device == DEVICE_UNKNOWN)
			continue;
		snprintf(text + strlen(text), MONITOR_GPUS_SIZE - strlen(text), "%s%u",
			 known++ ? "," : "cuda:", process->devices[i].device);
	}
	return known;
}

static size_t add_gpus(const struct model *model, const struct process *process,
		       char text[MONITOR_GPUS_SIZE])
{
	char label[GPU_LABEL_SIZE];
	size_t known = 0;

	for (size_t i = 0; i < process->gpu_count; i++) {
		const struct gpu *gpu = gpu_label__find(model, &process->gpus[i]);

		if (!gpu || !gpu_label__is_used(process, &process->gpus[i]))
			continue;
		gpu_label(gpu, label);
		snprintf(text + strlen(text), MONITOR_GPUS_SIZE - strlen(text), "%s%s",
			 known++ ? "," : "", label);
	}
	return known;
}

void monitor_line__gpus(const struct model *model, const struct process *process,
			char text[MONITOR_GPUS_SIZE])
{
	size_t count;

	*text = '\0';
	count = add_gpus(model, process, text);
	if (!count)
		count = add_devices(process, text);
	if (count > 3)
		snprintf(text, MONITOR_GPUS_SIZE, "%zu GPUs", count);
	else if (!count)
		snprintf(text, MONITOR_GPUS_SIZE, "-");
}
