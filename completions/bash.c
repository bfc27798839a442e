// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes bash's completions, at build time, from the option tables that gpuprobe parses by: which
 * words follow each command, and which values each option takes.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/subcommand.h"
#include "cli/options/option_table.h"
#include "values.h"

/*
 * $command: gpuprobe's command, empty for the monitor; $word: the word being typed; $before: the
 * word before it.
 */
static const char head[] =
	"# bash completion for gpuprobe, written by its build from the tables of its options\n"
	"_gpuprobe()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"\t\t\tif ((i + 1 == COMP_CWORD)); then\n"
	"\t\t\t\tCOMPREPLY=($(compgen -c -- \"$word\"))\n"
	"\t\t\telse\n"
	"\t\t\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n"
	"\t\t\tfi\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\tdone\n"
	"\t# \"--api=driver\" is three words\n"
	"\tif [[ $word == = ]]; then\n"
	"\t\tword=\n"
	"\telif [[ $before == = ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n";

static const char tail[] = "}\n"
			   "complete -o filenames -F _gpuprobe gpuprobe\n";

static void write_words(const struct subcommand *subcommand, void *arg)
{
	(void)arg;
	if (*subcommand->word)
		printf("%s ", subcommand->word);
}

static void write_pattern(const char *command, const struct option_row *row)
{
	printf("\t");
	if (row->name)
		printf("%s:--%s", command, row->name);
	if (row->letter)
		printf("%s%s:-%c", row->name ? "|" : "", command, row->letter);
	printf(") ");
}

/* The shell words that complete the value; NULL: the possible values are unknown. */
static const char *words_of(enum value_kind kind)
{
	switch (kind) {
	case VALUE_FILE: return "-f";
	case VALUE_DIRECTORY: return "-d";
	case VALUE_PID: return "-W \"$(cd /proc && echo [0-9]*)\"";
	case VALUE_USER: return "-u";
	default: return NULL;
	}
}

static void write_value(const struct option_row *row, void *arg)
{
	enum value_kind kind = value_kind__of(row);
	const char *words = words_of(kind);

	if (kind == VALUE_NONE)
		return;
	write_pattern(arg, row);
	if (kind == VALUE_WORDS) {
		printf("COMPREPLY=($(compgen -W '");
		value_kind__print_words(row);
		printf("' -- \"$word\")); ");
	} else if (words) {
		printf("COMPREPLY=($(compgen %s -- \"$word\")); ", words);
	}
	printf("return ;;\n");
}

static void write_values(const struct subcommand *subcommand, void *arg)
{
	char word[32];

	(void)arg;
	snprintf(word, sizeof(word), "%s", subcommand->word);
	option_table__each(subcommand->options, write_value, word);
}

/* Old names still work, but nobody needs to learn them. */
static void write_name(const struct option_row *row, void *arg)
{
	(void)arg;
	if (!row->help)
		return;
	if (row->name)
		printf("--%s ", row->name);
	else
		printf("-%c ", row->letter);
}

static void write_names(const struct subcommand *subcommand, void *arg)
{
	(void)arg;
	printf("\t'%s') words='", subcommand->word);
	option_table__each(subcommand->options, write_name, NULL);
	if (!strcmp(subcommand->word, "help"))
		subcommand__each(write_words, NULL);
	else
		printf("--");
	printf("' ;;\n");
}

int main(void)
{
	fputs(head, stdout);
	printf("\tlocal commands='");
	subcommand__each(write_words, NULL);
	printf("' words\n\t[[ \" $commands \" == *\" ${COMP_WORDS[1]} \"* ]] && ((COMP_CWORD > 1)) "
	       "&& command=${COMP_WORDS[1]}\n"
	       "\tcase $command:$before in\n");
	subcommand__each(write_values, NULL);
	printf("\tesac\n\tcase $command in\n");
	subcommand__each(write_names, NULL);
	printf("\tesac\n\t((COMP_CWORD == 1)) && words=\"$commands $words\"\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	       "\t[[ $command == diff && $word != -* ]] && "
	       "COMPREPLY=($(compgen -f -- \"$word\"))\n");
	fputs(tail, stdout);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
