// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe's own use of the machine, see self_metrics.h.
#include "output/metrics/self_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static bool read_cpu(uint64_t *ns)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		return false;
	*ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return true;
}

/* Both values are in pages. */
static bool read_statm(uint64_t *all, uint64_t *resident)
{
	FILE *in = fopen("/proc/self/statm", "re");
	int n;

	if (!in)
		return false;
	n = fscanf(in, "%" SCNu64 " %" SCNu64, all, resident);
	fclose(in);
	return n == 2;
}

static bool read_resident(uint64_t *bytes)
{
	uint64_t all, resident;

	if (!read_statm(&all, &resident))
		return false;
	*bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

static bool read_virtual(uint64_t *bytes)
{
	uint64_t all, resident;

	if (!read_statm(&all, &resident))
		return false;
	*bytes = all * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

static bool read_open_fds(uint64_t *count)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	uint64_t entries = 0;

	if (!dir)
		return false;
	while ((entry = readdir(dir)))
		entries += entry->d_name[0] != '.';
	closedir(dir);
	/* One of the entries was the open directory itself. */
	*count = entries - 1;
	return true;
}

static bool read_max_fds(uint64_t *count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	*count = limit.rlim_cur;
	return true;
}

/* The kernel's boot time in Unix seconds; 0 if unavailable. */
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

/* Clock ticks from boot to the start of this process; 0 if unknown. */
static uint64_t start_ticks(void)
{
	FILE *in = fopen("/proc/self/stat", "re");
	uint64_t ticks = 0;
	char line[1024];
	const char *rest;

	if (!in)
		return 0;
	/* The second field, the name in parentheses, may contain blanks and parentheses. */
	if (fgets(line, sizeof(line), in) && (rest = strrchr(line, ')')) &&
	    sscanf(rest + 1,
		   " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		   " %" SCNu64,
		   &ticks) != 1)
		ticks = 0;
	fclose(in);
	return ticks;
}

static bool read_start(uint64_t *ns)
{
	uint64_t boot = boot_time(), ticks = start_ticks();
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	*ns = boot * 1000000000 + ticks * (1000000000 / hz);
	return boot && ticks;
}

static const struct {
	struct metric_family family;
	bool (*read)(uint64_t *value); /* false if it cannot be read */
} metrics[] = {
	{{"process_cpu_seconds", METRIC_COUNTER,
	  "User and system CPU time of gpuprobe itself in seconds."},
	 read_cpu},
	{{"process_resident_memory_bytes", METRIC_GAUGE,
	  "Resident memory of gpuprobe itself in bytes."},
	 read_resident},
	{{"process_virtual_memory_bytes", METRIC_GAUGE,
	  "Virtual memory of gpuprobe itself in bytes."},
	 read_virtual},
	{{"process_open_fds", METRIC_GAUGE, "Open file descriptors of gpuprobe itself."},
	 read_open_fds},
	{{"process_max_fds", METRIC_GAUGE,
	  "Most file descriptors that gpuprobe itself may have open."},
	 read_max_fds},
	{{"process_start_time_seconds", METRIC_GAUGE,
	  "Start of gpuprobe itself in seconds since the Unix epoch."},
	 read_start},
};

void self_metrics__write(struct exposition_writer *w)
{
	uint64_t value;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		if (!metrics[i].read(&value))
			continue;
		exposition__family(w, &metrics[i].family);
		exposition__sample(w);
		exposition__number(w, value);
	}
}
