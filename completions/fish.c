// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes fish's completions, at build time, from the option tables that gpuprobe parses by: one
 * `complete` for each command and each option.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/subcommand.h"
#include "cli/options/option_table.h"
#include "values.h"

static const char head[] =
	"# fish completion for gpuprobe, written by its build from the tables of its options\n"
	"# Whether the words so far are of that command, '' for the monitor, and not of the "
	"program\n"
	"# behind --.\n"
	"function __gpuprobe_is\n"
	"\tset -l words (commandline -opc)\n"
	"\tcontains -- -- $words; and return 1\n"
	"\tset -l command \"$words[2]\"\n"
	"\tcontains -- \"$command\" $__gpuprobe_commands; or set command ''\n"
	"\ttest \"$command\" = \"$argv[1]\"\n"
	"end\n"
	"function __gpuprobe_is_first\n"
	"\ttest (count (commandline -opc)) -eq 1\n"
	"end\n"
	"function __gpuprobe_has_program\n"
	"\tcontains -- -- (commandline -opc)\n"
	"end\n"
	"function __gpuprobe_program\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l dashes (contains -i -- -- $words)\n"
	"\tset -e words[1..$dashes]\n"
	"\tcomplete -C (string join ' ' -- (string escape -- $words) (commandline -ct))\n"
	"end\n"
	"complete -c gpuprobe -f\n"
	"complete -c gpuprobe -n __gpuprobe_has_program -x -a '(__gpuprobe_program)'\n";

/* In single quotes, fish takes \' and \\ for the character. */
static void write_description(const char *help)
{
	printf(" -d '");
	for (; *help; help++) {
		if (*help == '\'' || *help == '\\')
			putchar('\\');
		putchar(*help == '\n' ? ' ' : *help);
	}
	printf("'\n");
}

static void write_word(const struct subcommand *subcommand, void *arg)
{
	(void)arg;
	if (*subcommand->word)
		printf(" %s", subcommand->word);
}

static void write_command(const struct subcommand *subcommand, void *arg)
{
	(void)arg;
	if (!*subcommand->word)
		return;
	printf("complete -c gpuprobe -n __gpuprobe_is_first -a %s", subcommand->word);
	write_description(subcommand->what);
}

static void write_value(const struct option_row *row)
{
	static const char *const arguments[] = {
		[VALUE_DIRECTORY] = "(__fish_complete_directories)",
		[VALUE_PID] = "(__fish_complete_pids)",
		[VALUE_USER] = "(__fish_complete_users)",
	};
	enum value_kind kind = value_kind__of(row);

	if (kind == VALUE_NONE || value_kind__is_optional(row))
		return;
	printf(kind == VALUE_FILE ? " -r -F" : " -x");
	if (kind == VALUE_WORDS) {
		printf(" -a '");
		value_kind__print_words(row);
		putchar('\'');
	} else if ((size_t)kind < sizeof(arguments) / sizeof(*arguments) && arguments[kind]) {
		printf(" -a '%s'", arguments[kind]);
	}
}

/* Old names still work, but nobody needs to learn them. */
static void write_option(const struct option_row *row, void *arg)
{
	if (!row->help)
		return;
	printf("complete -c gpuprobe -n \"__gpuprobe_is '%s'\"", (const char *)arg);
	if (row->letter)
		printf(" -s %c", row->letter);
	if (row->name)
		printf(" -l %s", row->name);
	write_value(row);
	write_description(row->help);
}

static void write_options(const struct subcommand *subcommand, void *arg)
{
	char word[32];

	(void)arg;
	snprintf(word, sizeof(word), "%s", subcommand->word);
	option_table__each(subcommand->options, write_option, word);
}

int main(void)
{
	printf("set -g __gpuprobe_commands");
	subcommand__each(write_word, NULL);
	putchar('\n');
	fputs(head, stdout);
	subcommand__each(write_command, NULL);
	printf("complete -c gpuprobe -n \"__gpuprobe_is 'help'\" -a \"$__gpuprobe_commands\"\n");
	printf("complete -c gpuprobe -n \"__gpuprobe_is 'diff'\" -F\n");
	subcommand__each(write_options, NULL);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
