// SPDX-License-Identifier: BSD-2-Clause
#include "output/dump.h"
#include "output/frame_text.h"
void dump_text__print(FILE *out, const struct dump *dump, const struct dump_view *view)
{
	(void)view;
	for (size_t i = 0; i < dump->count; i++) {
		const struct dump_process *p = &dump->processes[i];
		fprintf(out, "process %d (%s) user %s, %zu threads, %zu in CUDA, taken after %.1f ms\n", p->process->pid, p->command, p->process->user, p->thread_count, p->in_cuda, dump->taken_ns / 1e6);
		for (size_t t = 0; t < p->thread_count; t++) {
			fprintf(out, "  thread %d %s in %s by %s approx %d run %d\n", p->threads[t].tid, p->threads[t].comm, p->threads[t].call ? p->threads[t].call : "-", p->threads[t].by ? p->threads[t].by : "-", p->threads[t].approximate, p->threads[t].run);
			frame_text__print_stack(out, &p->threads[t].stack, 6);
		}
	}
}
void dump_json__print(FILE *out, const struct dump *dump, const struct dump_view *view) { dump_text__print(out, dump, view); }
