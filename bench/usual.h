/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event of the usual design, shared by bench/usual.bpf.c and bench/usual.c. */
#ifndef BENCH_USUAL_H
#define BENCH_USUAL_H

enum usual_type {
	USUAL_ENTER,
	USUAL_LEAVE
};

struct usual_event {
	__u64 time_ns;
	__u64 duration_ns;  /* USUAL_LEAVE */
	__u64 arguments[3]; /* USUAL_ENTER */
	__u32 pid, tid;
	__u32 function; /* its place on the command line */
	__u32 type;
	__s32 result; /* USUAL_LEAVE */
	char comm[16];
};

#endif
