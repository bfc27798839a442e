// SPDX-License-Identifier: BSD-2-Clause
// What all commands of gpuprobe have in common, see subcommand.h.
#include "cli/commands/subcommand.h"

#include <bpf/libbpf.h>
#include <stdio.h>

static __attribute__((format(printf, 2, 0))) int print_all(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return vfprintf(stderr, format, args);
}

static __attribute__((format(printf, 2, 0))) int print_warnings(enum libbpf_print_level level, const char *format, va_list args)
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

void subcommand__set_bpf_log(enum log_level level)
{
	libbpf_set_print(level >= LOG_DEBUG ? print_all : level >= LOG_INFO ? print_warnings :
									      print_nothing);
}

void subcommand__print_version(void)
{
	puts("gpuprobe " GPUPROBE_VERSION);
}
