// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program without CUDA, to measure what gpuprobe costs it. "call NUMBER" makes system calls, "map
 * NUMBER" maps a file's code and unmaps it, "run NUMBER" starts programs. Prints nanoseconds for
 * each one.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "/bin/true"

static int make_call(int fd)
{
	(void)fd;
	return syscall(SYS_getppid) < 0;
}

static int map_code(int fd)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	return code == MAP_FAILED || munmap(code, 4096);
}

static int run_program(int fd)
{
	char *argv[] = {PROGRAM, NULL}, *environment[] = {NULL};
	int status;
	pid_t pid;

	(void)fd;
	return posix_spawn(&pid, PROGRAM, NULL, NULL, argv, environment) ||
	       waitpid(pid, &status, 0) != pid || status;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		int (*act)(int fd);
	} acts[] = {{"call", make_call}, {"map", map_code}, {"run", run_program}};
	int fd = open(PROGRAM, O_RDONLY | O_CLOEXEC);
	long number = count == 3 ? strtol(words[2], NULL, 10) : 0;

	for (size_t i = 0; number > 0 && i < sizeof(acts) / sizeof(*acts); i++) {
		double began = now_ns();

		if (strcmp(words[1], acts[i].name))
			continue;
		for (long n = 0; n < number; n++)
			if (acts[i].act(fd))
				return 1;
		printf("%.1f\n", (now_ns() - began) / (double)number);
		return 0;
	}
	fprintf(stderr, "usage: %s call|map|run NUMBER\n", words[0]);
	return 2;
}
