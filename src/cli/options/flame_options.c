// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe flame`, see flame_options.h.
#include "cli/options/flame_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/options/arguments.h"
#include "cli/options/shared_rows.h"
#include "finding/finding.h"

#define PROGRAM "gpuprobe flame"
#define MIN_WAIT_NS 100000

#define FIELD(member) .offset = offsetof(struct flame_options, member)

/* The field is FLAME_BYS until the option is given. */
static int take_by(const struct option_row *row, void *field, const char *text, struct error *err)
{
	enum flame_by *by = field;
	const char *words[FLAME_TENSOR_BYTES],
		*given = *by == FLAME_BYS ? NULL : flame_by__word(*by);
	size_t which = 0;
	int ret;

	/* What follows is chosen by --tensors. */
	for (int i = 0; i < FLAME_TENSOR_BYTES; i++)
		words[i] = flame_by__word((enum flame_by)i);
	ret = arguments__word(option_row__name(row).text, text, words, FLAME_TENSOR_BYTES, &which,
			      err);
	*by = (enum flame_by)which;
	return ret ? ret : arguments__once(option_row__name(row).text, &given, text, err);
}

static int take_form(const struct option_row *row, void *field, const char *text, struct error *err)
{
	enum flame_form *form = field, chosen = (enum flame_form)row->min;

	(void)text;
	if (*form && *form != chosen)
		return error__set(
			err, -EINVAL,
			"--folded, --svg and --speedscope do not go together: choose one");
	*form = chosen;
	return 0;
}

static const struct option_row rows[] = {
	{"by", 0, "bytes", "device memory allocated in total", take_by, FIELD(by)},
	{.name = "by", .value = "live-bytes", .help = "device memory still live at the end"},
	{.name = "by", .value = "launches", .help = "kernel launches, by kernel"},
	{.name = "by",
	 .value = "wait-time",
	 .help = "time blocked in synchronising calls, copies and frees"},
	{.name = "by", .value = "failures", .help = "calls that failed, by error"},
	{.name = "by", .value = "gpu-time", .help = "time that kernels and copies ran on the GPU"},
	{"gpu-times", 0, NULL,
	 "with gpu-time, which needs it: load a library into\n"
	 "COMMAND that asks the GPU's driver (CUPTI)",
	 option__flag, FIELD(gpu_times)},
	{"tensors", 0, NULL,
	 "with bytes or live-bytes: tensors of PyTorch, not what\n"
	 "it takes from CUDA (costs 4 to 5 us per tensor)",
	 option__flag, FIELD(tensors)},
	{.help = "What to write:"},
	{"output", 'O', "FILE", OUTPUT_HELP "; -o too", option__file, FIELD(file)},
	{NULL, 'o', "FILE", NULL, option__file, FIELD(file)},
	{"folded", 0, NULL, "one line per stack, for flamegraph.pl and the like", take_form,
	 FIELD(form), .min = FLAME_FOLDED},
	{"svg", 0, NULL, "a flame graph for a browser", take_form, FIELD(form), .min = FLAME_SVG},
	{"speedscope", 0, NULL,
	 "JSON for https://www.speedscope.app\n"
	 "[by FILE's extension: .svg, .json, .folded or .txt;\n"
	 "without FILE: folded]",
	 take_form, FIELD(form), .min = FLAME_SPEEDSCOPE},
	{"title", 0, "TEXT", "title of the graph", option__text, FIELD(title)},
	{"processes", 0, NULL, "add a frame for the process even if there is only one",
	 option__flag, FIELD(processes)},
	{.rows = full_names_rows, FIELD(full_names)},
	{.rows = exact_rows, FIELD(amounts)},
	{.help = "What to watch:"},
	{.rows = reading_rows, FIELD(input)},
	{.rows = process_rows, FIELD(targets)},
	{"duration", 0, "S", DURATION_HELP, option__duration, FIELD(duration), .min = 0.001},
	{.rows = library_rows, FIELD(targets)},
	{.help = "Call stacks:"},
	{.rows = stack_needed_rows, FIELD(stacks)},
	{"min-wait", 0, "TIME",
	 "only waits this long (ns, us, ms, s); of shorter ones\n"
	 "only the total is printed [100us]",
	 stack_choice__take_row, FIELD(stacks), .min = OPT_MIN_WAIT},
	{.rows = stack_sample_rows, FIELD(stacks)},
	{.help = ""},
	{.rows = note_log_rows, FIELD(log_level)},
	{0},
};

const struct option_table flame_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe flame --by WHAT [OPTIONS] [-- COMMAND [ARG...]]\n"
		"\n"
		"Writes the call stacks of CUDA calls with their weights when it ends. It watches\n"
		"the whole machine, the processes of -p, or COMMAND and its descendants, until\n"
		"they end, Ctrl-C or --duration.\n"
		"\n",
	.rows = rows,
};

/* The form that the file name's extension implies; FLAME_UNSAID if none. */
static enum flame_form form_by_ending(const char *file)
{
	static const struct {
		const char *ending;
		enum flame_form form;
	} endings[] = {
		{".svg", FLAME_SVG},
		{".json", FLAME_SPEEDSCOPE},
		{".folded", FLAME_FOLDED},
		{".txt", FLAME_FOLDED},
	};
	size_t length = strlen(file);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t end = strlen(endings[i].ending);

		if (length > end && !strcmp(file + length - end, endings[i].ending))
			return endings[i].form;
	}
	return FLAME_UNSAID;
}

/* An extension of another form would mislead anyone who opens the file. */
static int check_form(enum flame_form given, enum flame_form form, const char *file,
		      struct error *err)
{
	static const char *const names[] = {
		[FLAME_FOLDED] = "--folded",
		[FLAME_SVG] = "--svg",
		[FLAME_SPEEDSCOPE] = "--speedscope",
	};

	if (!given && !form)
		return error__set(
			err, -EINVAL,
			"--output '%.100s': no format has this extension: give --folded, --svg "
			"or --speedscope",
			file);
	if (given && form && form != given)
		return error__set(
			err, -EINVAL,
			"%s and --output '%.100s' do not go together: this extension means %s; "
			"leave out %s or "
			"choose another name",
			names[given], file, names[form], names[given]);
	return 0;
}

static int choose_form(struct flame_options *options, struct error *err)
{
	enum flame_form given = options->form,
			form = options->file ? form_by_ending(options->file) : FLAME_FOLDED;

	if (!given)
		options->form = form;
	return options->file ? check_form(given, form, options->file, err) : 0;
}

/* Only waits have a threshold, and only launches are sampled. */
static int check_stacks(const struct flame_options *options, struct error *err)
{
	char by[32];
	int ret = stack_choice__check(&options->stacks, err);

	snprintf(by, sizeof(by), "--by %s", flame_by__word(options->by));
	if (!ret && options->by != FLAME_WAIT_TIME)
		ret = stack_choice__refuse(&options->stacks, OPT_MIN_WAIT, by, err);
	if (!ret && options->by != FLAME_LAUNCHES)
		ret = stack_choice__refuse(&options->stacks, OPT_STACK_SAMPLE, by, err);
	return ret;
}

static int choose_level(struct flame_options *options, struct error *err)
{
	if (!options->tensors)
		return 0;
	if (options->by != FLAME_BYTES && options->by != FLAME_LIVE_BYTES)
		return error__set(err, -EINVAL,
				  "--tensors has no effect with --by %s: give --by bytes or "
				  "live-bytes",
				  flame_by__word(options->by));
	options->by = options->by == FLAME_BYTES ? FLAME_TENSOR_BYTES : FLAME_LIVE_TENSOR_BYTES;
	options->input.needs = NEEDS_TENSORS;
	return 0;
}

/* Only a program that gpuprobe starts gets the library, and only if the user asks for it. */
static int check_gpu_times(const struct flame_options *options, struct error *err)
{
	if (options->gpu_times && options->by != FLAME_GPU_TIME)
		return error__set(err, -EINVAL,
				  "--gpu-times has no effect with --by %s: give --by gpu-time",
				  flame_by__word(options->by));
	if (options->by == FLAME_GPU_TIME && options->input.path)
		return error__set(err, -EINVAL,
				  "--by gpu-time needs a run: it does not go with -i");
	if (options->by == FLAME_GPU_TIME && !options->gpu_times)
		return error__set(err, -EINVAL,
				  "--by gpu-time needs --gpu-times, which loads a library into "
				  "COMMAND");
	if (options->gpu_times && !options->targets.command)
		return error__set(err, -EINVAL,
				  "--gpu-times needs COMMAND: a running process is not injected "
				  "into; --by launches and wait-time need no library");
	return 0;
}

static int check(struct flame_options *options, struct error *err)
{
	int ret;

	if (options->by == FLAME_BYS)
		return error__set(
			err, -EINVAL,
			"give --by bytes, live-bytes, launches, wait-time, failures or gpu-time, "
			"see " PROGRAM " --help");
	ret = check_gpu_times(options, err);
	if (!ret)
		ret = choose_level(options, err);
	if (!ret)
		ret = check_stacks(options, err);
	return ret ? ret : choose_form(options, err);
}

int flame_options__parse(struct flame_options *options, int argc, char **argv, struct error *err)
{
	int ret;

	*options = (struct flame_options){.by = FLAME_BYS, .log_level = LOG_WARN};
	stack_choice__init(&options->stacks, STACK_FP);
	options->stacks.min_wait_ns = MIN_WAIT_NS;
	ret = option_table__parse(&flame_options, options, argc, argv, err);
	if (ret)
		return ret;
	ret = targets__take_command(&options->targets, argc, argv, PROGRAM, err);
	if (!ret)
		ret = recording_choice__check_targets(&options->input, &options->targets,
						      options->duration, err);
	return ret ? ret : check(options, err);
}

void flame_options__clear(struct flame_options *options)
{
	targets__clear(&options->targets);
}
