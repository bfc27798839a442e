// SPDX-License-Identifier: BSD-2-Clause
/*
 * The conventional way to trace CUDA calls, as the benchmark's reference; the other half is
 * bench/usual.bpf.c. usual LIBRARY print|count FUNCTION... opens a perf event for each entry and
 * each return. It prints every event as it comes, with the time of day, or only counts them, which
 * keeps up with higher rates. Lines go to stdout. `ready` and, at SIGINT, the numbers of events
 * read and lost go to stderr.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gen/usual.skel.h"
#include "usual.h"

struct reader {
	char **functions;
	bool prints;
	unsigned long events;
};

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static int take(void *context, void *data, size_t size)
{
	struct reader *reader = context;
	const struct usual_event *event = data;
	char clock[16];
	time_t now;

	(void)size;
	reader->events++;
	if (!reader->prints)
		return 0;
	now = time(NULL);
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	printf("%-9s %-16.16s %-7u %-7u %-20s ", clock, event->comm, event->pid, event->tid,
	       reader->functions[event->function]);
	if (event->type == USUAL_ENTER)
		printf("[ENTER] 0x%llx 0x%llx 0x%llx\n", event->arguments[0], event->arguments[1],
		       event->arguments[2]);
	else
		printf("[EXIT]  %llu ns, result %d\n", event->duration_ns, event->result);
	return 0;
}

static int attach(struct usual_bpf *bpf, const char *library, char **functions)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options);

	for (size_t i = 0; functions[i]; i++) {
		options.func_name = functions[i];
		options.bpf_cookie = i;
		options.retprobe = false;
		if (!bpf_program__attach_uprobe_opts(bpf->progs.usual_enter, -1, library, 0,
						     &options))
			return -errno;
		options.retprobe = true;
		if (!bpf_program__attach_uprobe_opts(bpf->progs.usual_leave, -1, library, 0,
						     &options))
			return -errno;
	}
	return 0;
}

static int trace(struct usual_bpf *bpf, struct reader *reader)
{
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(bpf->maps.events), take, reader, NULL);
	int ret = 0;

	if (!ring)
		return -errno;
	fprintf(stderr, "ready\n");
	while (!ended && ret >= 0) {
		ret = ring_buffer__poll(ring, 100);
		if (ret == -EINTR)
			ret = 0;
	}
	fprintf(stderr, "events %lu, lost %llu\n", reader->events,
		(unsigned long long)bpf->bss->lost);
	ring_buffer__free(ring);
	return ret < 0 ? ret : 0;
}

int main(int argc, char **argv)
{
	struct reader reader = {.functions = argv + 3,
				.prints = argc > 2 && !strcmp(argv[2], "print")};
	struct sigaction action = {.sa_handler = on_signal};
	struct usual_bpf *bpf;
	int ret;

	if (argc < 4 || (!reader.prints && strcmp(argv[2], "count"))) {
		fprintf(stderr, "usage: usual LIBRARY print|count FUNCTION...\n");
		return 2;
	}
	sigaction(SIGINT, &action, NULL);
	bpf = usual_bpf__open_and_load();
	ret = bpf ? attach(bpf, argv[1], argv + 3) : -errno;
	if (!ret)
		ret = trace(bpf, &reader);
	if (ret)
		fprintf(stderr, "usual: %s\n", strerror(-ret));
	_exit(ret ? 1 : 0); /* the kernel closes the events */
}
