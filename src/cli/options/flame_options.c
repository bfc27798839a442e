// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe flame`, see flame_options.h.
#include "cli/options/flame_options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define PROGRAM "gpuprobe flame"
#define MIN_WAIT_NS 100000

static const char help[] =
	"Usage: gpuprobe flame --by WHAT [OPTIONS] [-- COMMAND [ARG...]]\n"
	"\n"
	"Writes the call stacks of CUDA calls with what they weigh, at the end: of the\n"
	"whole machine, the processes of -p, or COMMAND and its descendants, until they\n"
	"have ended, Ctrl-C or --duration.\n"
	"\n"
	"  --by bytes              device memory allocated in all\n"
	"  --by live-bytes         device memory that is live at the end\n"
	"  --by launches           kernel launches, by kernel\n"
	"  --by wait-time          time blocked in synchronising calls, copies and frees\n"
	"  --by failures           calls that failed, by error\n"
	"\n"
	"What to write:\n"
	"  -o, --output FILE       written whole at the end [standard output]\n"
	"  --folded                a line a stack, for flamegraph.pl and its kind\n"
	"  --svg                   a flame graph for a browser\n"
	"  --speedscope            JSON for https://www.speedscope.app\n"
	"                          [by FILE's ending: .svg, .json, .folded or .txt;\n"
	"                          without FILE folded]\n"
	"  --title TEXT            what stands above the graph\n"
	"  --processes             a frame for the process also where there is one alone\n"
	"\n"
	"What to watch:\n"
	"  -p, --pid PID           only this process and its children (repeatable)\n"
	"  --duration S            stop after S seconds\n"
	"  --libcudart-path FILE   probe this library too (repeatable)\n"
	"  --libcuda-path FILE     the same\n"
	"\n"
	"Stacks:\n" STACK_MODE_NEEDED_HELP
	"  --min-wait TIME         of waits those this long (ns, us, ms, s), the others\n"
	"                          are told in total [100us]\n"
	"  --stack-sample N        of a kernel's launches from one place, the stack of\n"
	"                          the first and of one in N, a power of two [64]\n"
	"\n"
	"  -v, --verbose           say more on stderr (twice: even more)\n"
	"  -q, --quiet             no warnings and no notes\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n";

enum option_id {
	OPT_BY = 256,
	OPT_FOLDED,
	OPT_SVG,
	OPT_SPEEDSCOPE,
	OPT_TITLE,
	OPT_PROCESSES,
	OPT_DURATION,
	OPT_LIBRARY,
};

static const struct option long_options[] = {
	{"by", required_argument, NULL, OPT_BY},
	{"output", required_argument, NULL, 'o'},
	{"folded", no_argument, NULL, OPT_FOLDED},
	{"svg", no_argument, NULL, OPT_SVG},
	{"speedscope", no_argument, NULL, OPT_SPEEDSCOPE},
	{"title", required_argument, NULL, OPT_TITLE},
	{"processes", no_argument, NULL, OPT_PROCESSES},
	{"pid", required_argument, NULL, 'p'},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"libcudart-path", required_argument, NULL, OPT_LIBRARY},
	{"libcuda-path", required_argument, NULL, OPT_LIBRARY},
	STACK_MODE_OPTIONS,
	STACK_CALL_OPTIONS,
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

/* What has its meaning only with the rest of the command line. */
struct given {
	const char *by;
	bool form;
};

void flame_options__print_help(FILE *out)
{
	fputs(help, out);
}

static int parse_by(struct flame_options *options, const char *text, struct error *err)
{
	const char *words[FLAME_BYS];
	size_t which = 0;
	int ret;

	for (int by = 0; by < FLAME_BYS; by++)
		words[by] = flame_by__word((enum flame_by)by);
	ret = arguments__word("--by", text, words, FLAME_BYS, &which, err);
	options->by = (enum flame_by)which;
	return ret;
}

static int take_form(struct flame_options *options, struct given *given, int id, struct error *err)
{
	enum flame_form form = (enum flame_form)(id - OPT_FOLDED);

	if (given->form && options->form != form)
		return error__set(err, -EINVAL, "--folded, --svg and --speedscope do not go together: choose one");
	given->form = true;
	options->form = form;
	return 0;
}

static int parse_duration(struct flame_options *options, const char *text, struct error *err)
{
	int ret = arguments__seconds("--duration", text, 0.001, &options->duration, err);

	if (!ret && options->duration == 0)
		return error__set(err, -EINVAL, "--duration '%.100s': give more than 0 seconds", text);
	return ret;
}

static int take_option(struct flame_options *options, struct given *given, int id, const char *text,
		       struct error *err)
{
	int ret;

	switch (id) {
	case OPT_BY:
		ret = parse_by(options, text, err);
		return ret ? ret : arguments__once("--by", &given->by, text, err);
	case OPT_FOLDED:
	case OPT_SVG:
	case OPT_SPEEDSCOPE:
		return take_form(options, given, id, err);
	case OPT_TITLE:
		options->title = text;
		return 0;
	case OPT_PROCESSES:
		options->processes = true;
		return 0;
	case OPT_DURATION:
		return parse_duration(options, text, err);
	case OPT_LIBRARY:
		return targets__add_library(&options->targets, text, err);
	case 'o':
		return arguments__file("-o", &options->file, text, err);
	case 'p':
		return targets__add_pid(&options->targets, text, err);
	}
	return stack_choice__take(&options->stacks, id, text, err);
}

/* What a file of this name is taken to hold; false where its ending does not tell. */
static bool form_by_ending(const char *file, enum flame_form *form)
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

		if (length > end && !strcmp(file + length - end, endings[i].ending)) {
			*form = endings[i].form;
			return true;
		}
	}
	return false;
}

/* A name that tells of another form would mislead whoever opens the file. */
static int choose_form(struct flame_options *options, bool given, struct error *err)
{
	static const char *const names[] = {
		[FLAME_FOLDED] = "--folded",
		[FLAME_SVG] = "--svg",
		[FLAME_SPEEDSCOPE] = "--speedscope",
	};
	enum flame_form form;

	if (!options->file)
		return 0;
	if (!form_by_ending(options->file, &form))
		return given ? 0 :
			       error__set(err, -EINVAL,
					  "-o '%.100s': its ending does not tell what to write: give --folded, --svg or --speedscope",
					  options->file);
	if (given && form != options->form)
		return error__set(err, -EINVAL,
				  "%s and -o '%.100s' do not go together: its ending stands for %s; leave %s away or choose another name",
				  names[options->form], options->file, names[form], names[options->form]);
	options->form = form;
	return 0;
}

/* Waits have a threshold and launches are sampled: nothing else. */
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

static int check(struct flame_options *options, const struct given *given, struct error *err)
{
	int ret;

	if (!given->by)
		return error__set(err, -EINVAL, "give --by bytes, live-bytes, launches, wait-time or failures, see " PROGRAM " --help");
	ret = check_stacks(options, err);
	if (ret)
		return ret;
	return choose_form(options, given->form, err);
}

int flame_options__parse(struct flame_options *options, int argc, char **argv, struct error *err)
{
	struct given given = {0};
	int id, ret;

	*options = (struct flame_options){.log_level = LOG_WARN};
	stack_choice__init(&options->stacks, STACK_FP);
	options->stacks.min_wait_ns = MIN_WAIT_NS;
	opterr = 0;
	optind = 0; /* another argv than the last: begin anew */
	/* "+": what follows COMMAND is COMMAND's; ":": a missing value is told apart. */
	while ((id = getopt_long(argc, argv, "+:o:p:vqhV", long_options, NULL)) != -1) {
		if (id == 'h')
			return FLAME_OPTIONS_HELP;
		if (id == 'V')
			return FLAME_OPTIONS_VERSION;
		if (id == ':' || id == '?')
			return arguments__bad_option(id, argc, argv, long_options, PROGRAM, err);
		if (arguments__take_log_level(id, &options->log_level))
			continue;
		ret = take_option(options, &given, id, optarg, err);
		if (ret)
			return ret;
	}
	ret = targets__take_command(&options->targets, argc, argv, PROGRAM, err);
	return ret ? ret : check(options, &given, err);
}

void flame_options__clear(struct flame_options *options)
{
	targets__clear(&options->targets);
}
