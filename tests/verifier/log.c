// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: requests the kernel's verifier log of each BPF program that is loaded,
 * and saves it as DIRECTORY/PROGRAM.log, where VERIFIER_LOGS is DIRECTORY. gpuprobe loads the same
 * code with the same configuration as always. VERIFIER_LEVEL is the log level [2: every instruction
 * that the verifier visits].
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's own limit; pages that are not written cost nothing. */
#define LOG_SIZE ((1ul << 30) - 1)
#define WORDS 6

typedef long (*system_call)(long number, ...);

static void keep(const char *name, const char *text)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.log", getenv("VERIFIER_LOGS"), name);
	file = fopen(path, "we");
	if (!file)
		return;
	fputs(text, file);
	fclose(file);
}

static long load(system_call real, const long *word)
{
	const char *level = getenv("VERIFIER_LEVEL");
	union bpf_attr attr = {0};
	size_t size = (size_t)word[2];
	char *text = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long result;

	if (text == MAP_FAILED)
		return real(SYS_bpf, word[0], word[1], word[2]);
	memcpy(&attr, (const void *)word[1], size < sizeof(attr) ? size : sizeof(attr));
	attr.log_level = level ? (unsigned int)atoi(level) : 2;
	attr.log_buf = (unsigned long)text;
	attr.log_size = LOG_SIZE;
	result = real(SYS_bpf, word[0], &attr, word[2]);
	keep(attr.prog_name, text);
	munmap(text, LOG_SIZE);
	return result;
}

long syscall(long number, ...)
{
	system_call real = (system_call)dlsym(RTLD_NEXT, "syscall");
	long word[WORDS];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < WORDS; i++)
		word[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && word[0] == BPF_PROG_LOAD && getenv("VERIFIER_LOGS"))
		return load(real, word);
	return real(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
