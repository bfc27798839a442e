// SPDX-License-Identifier: BSD-2-Clause
// Streams, events, contexts, modules and libraries in the metrics, see series.h.
#include "output/metrics/series.h"

static const struct metric_family live[OBJECT_KINDS] = {
	[OBJECT_STREAM] = {"gpuprobe_streams_live", METRIC_GAUGE, "Streams made and not destroyed."},
	[OBJECT_EVENT] = {"gpuprobe_events_live", METRIC_GAUGE, "Events made and not destroyed."},
	[OBJECT_CONTEXT] = {"gpuprobe_contexts_live", METRIC_GAUGE,
			    "Contexts made, or primary ones retained, and not destroyed or released."},
	[OBJECT_MODULE] = {"gpuprobe_modules_live", METRIC_GAUGE, "Modules loaded and not unloaded."},
	[OBJECT_LIBRARY] = {"gpuprobe_libraries_live", METRIC_GAUGE, "Libraries loaded and not unloaded."},
};
static const struct metric_family loads = {
	"gpuprobe_module_loads",
	METRIC_COUNTER,
	"Successful loads of modules and libraries.",
};
static const struct metric_family load_seconds = {
	"gpuprobe_module_load_seconds",
	METRIC_COUNTER,
	"Time inside successful loads of modules and libraries, in seconds.",
};

static bool had_any(const struct process *p, int kind)
{
	return p->objects[kind].created || p->objects[kind].destroyed || p->objects[kind].live;
}

static void write_live(struct metrics_page *page, int kind)
{
	struct exposition_writer *w = &page->writer;

	exposition__family(w, &live[kind]);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		for (size_t k = 0; had_any(p, kind) && k < p->device_count; k++) {
			const struct device_totals *d = &p->devices[k];

			/* A gauge that was there goes to 0, it does not vanish. */
			if (!d->objects[kind] && !d->had_objects[kind])
				continue;
			metrics_page__sample_on(page, p, d->device);
			exposition__u64(w, p->ended ? 0 : d->objects[kind]);
		}
	}
}

static void write_loads(struct metrics_page *page, const struct metric_family *family)
{
	static const int kinds[] = {OBJECT_MODULE, OBJECT_LIBRARY};
	struct exposition_writer *w = &page->writer;

	exposition__family(w, family);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			const struct object_totals *o = &p->objects[kinds[k]];

			if (!o->created)
				continue;
			metrics_page__sample(w, p);
			exposition__label(w, "kind", kinds[k] == OBJECT_MODULE ? "module" : "library");
			if (family == &loads)
				exposition__u64(w, o->created);
			else
				exposition__seconds(w, o->ns);
		}
	}
}

void object_series__write(struct metrics_page *page)
{
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		if (live[kind].name)
			write_live(page, kind);
	write_loads(page, &loads);
	write_loads(page, &load_seconds);
}
