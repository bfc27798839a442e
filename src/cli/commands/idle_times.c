// SPDX-License-Identifier: BSD-2-Clause
// The file of --idle-times, see idle_times.h.
#include "cli/commands/idle_times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/files/output_file.h"
#include "gpuprobe/profile.h"

struct idle_times {
	FILE *out;
	char *path;
};

static int open_file(struct idle_times *times, const char *path, struct error *err)
{
	int fd = output_file__open(path, err);

	if (fd < 0)
		return fd;
	times->path = strdup(path);
	times->out = times->path ? fdopen(fd, "w") : NULL;
	if (times->out)
		return 0;
	close(fd);
	return error__set(err, -ENOMEM, "out of memory");
}

int idle_times__new(const char *path, struct idle_times **out, struct error *err)
{
	struct idle_times *times = calloc(1, sizeof(*times));
	int ret;

	if (!times)
		return error__set(err, -ENOMEM, "out of memory");
	ret = open_file(times, path, err);
	if (ret) {
		idle_times__free(times);
		return ret;
	}
	fputs("pid,device,begin_ns,end_ns\n", times->out);
	*out = times;
	return 0;
}

void idle_times__free(struct idle_times *times)
{
	if (!times)
		return;
	if (times->out)
		fclose(times->out);
	free(times->path);
	free(times);
}

void idle_times__add(struct idle_times *times, const struct process *process,
		     const struct record_idle *record)
{
	fprintf(times->out, "%d,", process->pid);
	if (record->device < PROFILE_DEVICES - 1)
		fprintf(times->out, "%u", record->device);
	fprintf(times->out, ",%" PRIu64 ",%" PRIu64 "\n", (uint64_t)record->begin_ns,
		(uint64_t)record->end_ns);
}

int idle_times__finish(struct idle_times *times, struct error *err)
{
	if (!times || (!fflush(times->out) && !ferror(times->out)))
		return 0;
	return error__set(err, -EIO, "cannot write all of %s: is the disk full?", times->path);
}
