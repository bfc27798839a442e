// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe: chooses what to do by the command line.
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "cli/monitor.h"
#include "cli/options.h"

#define EXIT_FAILURE_OTHER 1
#define EXIT_USAGE 2

static int print_all(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return vfprintf(stderr, format, args);
}

static int print_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int fail(int status, const struct error *err)
{
	fputs("gpuprobe: ", stderr);
	escape__text(stderr, err->text); /* it may quote an argument or a file's name */
	fputc('\n', stderr);
	return status;
}

int main(int argc, char **argv)
{
	struct error err = {""};
	struct options options;
	struct log log;
	int ret;

	ret = options__parse(&options, argc, argv, &err);
	if (ret == OPTIONS_HELP) {
		options__print_help(stdout);
	} else if (ret == OPTIONS_VERSION) {
		puts("gpuprobe " GPUPROBE_VERSION);
	} else if (ret < 0) {
		ret = fail(EXIT_USAGE, &err);
		goto out;
	}
	if (ret) {
		ret = 0;
		goto out;
	}
	log.level = options.log_level;
	libbpf_set_print(log.level >= LOG_DEBUG ? print_all : log.level >= LOG_INFO ? print_warnings : print_nothing);
	ret = monitor__run(&options, &log, &err);
	if (ret < 0)
		ret = fail(EXIT_FAILURE_OTHER, &err);
out:
	options__clear(&options);
	return ret;
}
