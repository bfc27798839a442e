// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared by the workloads. It makes no CUDA calls, so that the workload that must not link CUDA can
 * use it.
 */
#define _GNU_SOURCE
#include "common.h"

#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_OPTIONS 32

void give_up(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

void need(int result, const char *what)
{
	if (result)
		give_up("%s failed: %d", what, result);
}

void *must_allocate(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		give_up("no memory for %zu bytes", size);
	return memory;
}

static void print_help(const char *program, const char *about,
		       const struct workload_option *options)
{
	printf("usage: %s [OPTIONS]\n%s\n\n", program, about);
	for (; options->name; options++) {
		char left[64];
		const char *argument = options->type == OPTION_FLAG ? "" :
				       options->type == OPTION_CHOICE ? options->choices :
				       options->type == OPTION_SECONDS ? "SECONDS" :
				       options->type == OPTION_TEXT ? "TEXT" : "N";

		snprintf(left, sizeof(left), "--%s %s", options->name, argument);
		printf("  %-40s %s\n", left, options->help);
	}
	printf("  %-40s %s\n", "--help", "print this");
}

static bool parse_number(const char *text, uint64_t *out)
{
	static const char suffixes[] = "KMG";
	char *end;
	const char *suffix;

	*out = strtoull(text, &end, 0);
	if (end == text || *text == '-')
		return false;
	if (!*end)
		return true;
	suffix = strchr(suffixes, *end);
	if (!suffix || end[1])
		return false;
	*out <<= 10 * (suffix - suffixes + 1);
	return true;
}

static bool parse_choice(const char *text, const char *choices, int *out)
{
	size_t length = strlen(text);

	for (int index = 0; choices; index++) {
		size_t choice = strcspn(choices, "|");

		if (choice == length && !strncmp(choices, text, length)) {
			*out = index;
			return true;
		}
		choices = choices[choice] ? choices + choice + 1 : NULL;
	}
	return false;
}

static bool set_option(const struct workload_option *option, const char *text)
{
	char *end;

	switch (option->type) {
	case OPTION_FLAG:
		*(bool *)option->value = true;
		return true;
	case OPTION_NUMBER:
		return parse_number(text, option->value);
	case OPTION_SECONDS:
		*(double *)option->value = strtod(text, &end);
		return end != text && !*end && *(double *)option->value >= 0;
	case OPTION_TEXT:
		*(const char **)option->value = text;
		return true;
	case OPTION_CHOICE:
		return parse_choice(text, option->choices, option->value);
	}
	return false;
}

void monitor_options__parse(int argc, char **argv, const char *about,
		    const struct workload_option *options)
{
	struct option list[MAX_OPTIONS + 2] = { { "help", no_argument, NULL, 'h' } };
	int count = 0, index, c;

	for (; options[count].name && count < MAX_OPTIONS; count++) {
		list[count + 1].name = options[count].name;
		list[count + 1].has_arg = options[count].type == OPTION_FLAG ? no_argument :
									       required_argument;
	}
	while ((c = getopt_long(argc, argv, "", list, &index)) != -1) {
		if (c == 'h') {
			print_help(argv[0], about, options);
			exit(0);
		}
		if (c)
			exit(2);
		if (!set_option(&options[index - 1], optarg)) {
			fprintf(stderr, "%s: --%s: \"%s\" is not valid\n", argv[0],
				options[index - 1].name, optarg);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument \"%s\"\n", argv[0], argv[optind]);
		exit(2);
	}
}

char *kernel_name(const char *prefix, uint64_t index, size_t length)
{
	bool mangled = !strncmp(prefix, "_Z", 2) && !index;
	size_t used, room = strlen(prefix) + 32 + length;
	char *name = must_allocate(room);

	if (mangled)
		snprintf(name, room, "%s", prefix);
	else
		snprintf(name, room, "%s_%llu", prefix, (unsigned long long)index);
	used = strlen(name);
	if (length > used)
		memset(name + used, 'x', length - used);
	return name;
}

char *kernels_text(const char *prefix, uint64_t count, size_t length)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		give_up("no memory for the kernels");
	fputs(".version 7.0\n.target sm_75\n.address_size 64\n", out);
	for (uint64_t i = 0; i < count; i++) {
		char *name = kernel_name(prefix, i, length);

		fprintf(out, ".visible .entry %s()\n{\n\tret;\n}\n", name);
		free(name);
	}
	if (fclose(out))
		give_up("no memory for the kernels");
	return text;
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void sleep_seconds(double seconds)
{
	struct timespec left = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	while (nanosleep(&left, &left))
		;
}

struct thread {
	pthread_t id;
	uint64_t index;
	void (*run)(uint64_t index, void *context);
	void *context;
};

static void *run_thread(void *argument)
{
	struct thread *thread = argument;

	thread->run(thread->index, thread->context);
	return NULL;
}

void run_threads(uint64_t count, void (*run)(uint64_t index, void *context), void *context)
{
	struct thread *threads = must_allocate(count * sizeof(*threads));

	for (uint64_t i = 0; i < count; i++) {
		threads[i] = (struct thread){ .index = i, .run = run, .context = context };
		if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]))
			give_up("thread %llu does not start", (unsigned long long)i);
	}
	for (uint64_t i = 0; i < count; i++)
		pthread_join(threads[i].id, NULL);
	free(threads);
}
