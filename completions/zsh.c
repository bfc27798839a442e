// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes zsh's completions, at build time, from the option tables that gpuprobe parses by: a list
 * of arguments for each command, for zsh's own _arguments.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/subcommand.h"
#include "cli/options/option_table.h"
#include "values.h"

static const char head[] =
	"#compdef gpuprobe\n"
	"# zsh completion for gpuprobe, written by its build from the tables of its options\n"
	"_gpuprobe() {\n"
	"\tlocal command= dashes=${words[(i)--]}\n"
	"\tlocal -a subcommands=(\n";

/* The program behind -- is completed as if it stood alone. */
static const char choice[] = "\t)\n"
			     "\tif ((dashes < CURRENT)); then\n"
			     "\t\tshift $dashes words\n"
			     "\t\t((CURRENT -= dashes))\n"
			     "\t\t_normal\n"
			     "\t\treturn\n"
			     "\tfi\n"
			     "\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
			     "\t\t_describe command subcommands\n"
			     "\t\treturn\n"
			     "\tfi\n"
			     "\tif [[ -n ${subcommands[(r)$words[2]:*]} ]]; then\n"
			     "\t\tcommand=$words[2]\n"
			     "\t\tshift words\n"
			     "\t\t((CURRENT--))\n"
			     "\tfi\n"
			     "\tcase $command in\n";

/* Within '' of the shell; `special` has a meaning for the function that reads it. */
static void write_help(const char *help, const char *special)
{
	for (; *help; help++) {
		if (*help == '\'')
			printf("'\\'");
		else if (strchr(special, *help))
			putchar('\\');
		putchar(*help == '\n' ? ' ' : *help);
	}
}

static void write_command(const struct subcommand *subcommand, void *arg)
{
	(void)arg;
	if (!*subcommand->word)
		return;
	printf("\t\t'%s:", subcommand->word);
	write_help(subcommand->what, ":");
	printf("'\n");
}

static void write_value(const struct option_row *row)
{
	static const char *const actions[] = {
		[VALUE_FILE] = "_files", [VALUE_DIRECTORY] = "_files", [VALUE_PID] = "_pids",
		[VALUE_USER] = "_users", [VALUE_UNKNOWN] = " ",
	};
	enum value_kind kind = value_kind__of(row);

	if (kind == VALUE_NONE)
		return;
	printf("%s:", value_kind__is_optional(row) ? ":" : "");
	write_help(row->value, ":[]");
	putchar(':');
	if (kind != VALUE_WORDS) {
		fputs(actions[kind], stdout);
		return;
	}
	putchar('(');
	value_kind__print_words(row);
	putchar(')');
}

static void write_argument(const struct option_row *row, const char *name, const char *before_value)
{
	printf(" \\\n\t\t\t'*%s%s[", name,
	       !row->value ? "" :
			     (value_kind__is_optional(row) && row->name ? "=-" : before_value));
	write_help(row->help, "[]:");
	putchar(']');
	write_value(row);
	putchar('\'');
}

/* Old names still work, but nobody needs to learn them. */
static void write_option(const struct option_row *row, void *arg)
{
	char name[64];

	(void)arg;
	if (!row->help)
		return;
	if (row->letter) {
		snprintf(name, sizeof(name), "-%c", row->letter);
		write_argument(row, name, "+");
	}
	if (row->name) {
		snprintf(name, sizeof(name), "--%s", row->name);
		write_argument(row, name, "=");
	}
}

static void write_arguments(const struct subcommand *subcommand, void *arg)
{
	(void)arg;
	printf("\t'%s')\n\t\t_arguments -S", subcommand->word);
	option_table__each(subcommand->options, write_option, NULL);
	if (!strcmp(subcommand->word, "help"))
		printf(" \\\n\t\t\t'1:command:{_describe command subcommands}'");
	else if (!strcmp(subcommand->word, "diff"))
		printf(" \\\n\t\t\t'*:run:_files'");
	printf(" ;;\n");
}

int main(void)
{
	fputs(head, stdout);
	subcommand__each(write_command, NULL);
	fputs(choice, stdout);
	subcommand__each(write_arguments, NULL);
	printf("\tesac\n}\n_gpuprobe \"$@\"\n");
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
