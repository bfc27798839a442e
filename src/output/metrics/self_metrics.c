// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe's own use of the machine, see self_metrics.h.
#include "output/metrics/self_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const struct metric_family cpu_seconds = {
	"process_cpu_seconds",
	METRIC_COUNTER,
	"User and system CPU time of gpuprobe itself in seconds.",
};
static const struct metric_family resident_bytes = {
	"process_resident_memory_bytes",
	METRIC_GAUGE,
	"Resident memory of gpuprobe itself in bytes.",
};
static const struct metric_family virtual_bytes = {
	"process_virtual_memory_bytes",
	METRIC_GAUGE,
	"Virtual memory of gpuprobe itself in bytes.",
};
static const struct metric_family open_fds = {
	"process_open_fds",
	METRIC_GAUGE,
	"Open file descriptors of gpuprobe itself.",
};
static const struct metric_family max_fds = {
	"process_max_fds",
	METRIC_GAUGE,
	"Most file descriptors that gpuprobe itself may have open.",
};
static const struct metric_family start_seconds = {
	"process_start_time_seconds",
	METRIC_GAUGE,
	"Start of gpuprobe itself in seconds since the Unix epoch.",
};

static void write_u64(struct exposition_writer *w, const struct metric_family *family,
		      uint64_t value)
{
	exposition__family(w, family);
	exposition__sample(w);
	exposition__u64(w, value);
}

static void write_seconds(struct exposition_writer *w, const struct metric_family *family,
			  uint64_t ns)
{
	exposition__family(w, family);
	exposition__sample(w);
	exposition__seconds(w, ns);
}

static void write_cpu(struct exposition_writer *w)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
		write_seconds(w, &cpu_seconds,
			      (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

static void write_memory(struct exposition_writer *w)
{
	uint64_t pages, resident, page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	FILE *in = fopen("/proc/self/statm", "re");
	int n;

	if (!in)
		return;
	n = fscanf(in, "%" SCNu64 " %" SCNu64, &pages, &resident);
	fclose(in);
	if (n != 2)
		return;
	write_u64(w, &resident_bytes, resident * page_size);
	write_u64(w, &virtual_bytes, pages * page_size);
}

static void write_fds(struct exposition_writer *w)
{
	DIR *dir = opendir("/proc/self/fd");
	struct rlimit limit;
	struct dirent *entry;
	uint64_t count = 0;

	if (dir) {
		while ((entry = readdir(dir)))
			count += entry->d_name[0] != '.';
		closedir(dir);
		/* One of them was the directory itself. */
		write_u64(w, &open_fds, count - 1);
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		write_u64(w, &max_fds, limit.rlim_cur);
}

/* The boot time in Unix seconds as the kernel tells it; 0 when it does not. */
static uint64_t boot_time(void)
{
	FILE *in = fopen("/proc/stat", "re");
	uint64_t seconds = 0;
	char line[256];

	if (!in)
		return 0;
	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "btime %" SCNu64, &seconds) == 1)
			break;
	}
	fclose(in);
	return seconds;
}

/* Clock ticks from boot to the start of this process; 0 when unknown. */
static uint64_t start_ticks(void)
{
	FILE *in = fopen("/proc/self/stat", "re");
	uint64_t ticks = 0;
	char line[1024];
	const char *rest;

	if (!in)
		return 0;
	/* The second field, the name in parentheses, may hold blanks and parentheses. */
	if (fgets(line, sizeof(line), in) && (rest = strrchr(line, ')')) &&
	    sscanf(rest + 1,
		   " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		   " %" SCNu64,
		   &ticks) != 1)
		ticks = 0;
	fclose(in);
	return ticks;
}

static void write_start(struct exposition_writer *w)
{
	uint64_t boot = boot_time(), ticks = start_ticks();
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	if (boot && ticks)
		write_seconds(w, &start_seconds,
			      boot * 1000000000 + ticks * (1000000000 / hz));
}

void self_metrics__write(struct exposition_writer *w)
{
	write_cpu(w);
	write_memory(w);
	write_fds(w);
	write_start(w);
}
