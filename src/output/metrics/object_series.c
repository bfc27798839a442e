// SPDX-License-Identifier: BSD-2-Clause
// Streams, events, contexts, modules and libraries in the metrics, see series.h.
#include "output/enum_names.h"
#include "output/metrics/series.h"

static bool had_any(const struct process *p, int kind)
{
	return p->objects[kind].created || p->objects[kind].destroyed || p->objects[kind].live;
}

static void write_live(struct metrics_page *page, const struct process *p)
{
	const int kind = page->metric->kind;

	for (size_t k = 0; had_any(p, kind) && k < p->device_count; k++) {
		const struct device_totals *d = &p->devices[k];

		/* A gauge that existed goes to 0 instead of vanishing. */
		if (!d->objects[kind] && !d->had_objects[kind])
			continue;
		metrics_page__sample_on(page, p, d->device);
		exposition__number(&page->writer, p->ended ? 0 : d->objects[kind]);
	}
}

static void write_loads(struct metrics_page *page, const struct process *p)
{
	static const int kinds[] = {OBJECT_MODULE, OBJECT_LIBRARY};
	struct exposition_writer *w = &page->writer;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		const struct object_totals *o = &p->objects[kinds[k]];

		if (!o->created)
			continue;
		metrics_page__sample(w, p);
		exposition__label(w, "kind", kinds[k] == OBJECT_MODULE ? "module" : "library");
		exposition__number(w, metrics_page__value(page, o));
	}
}

static void write_all_live(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		if (!had_any(p, kind))
			continue;
		metrics_page__sample(w, p);
		exposition__label(w, "kind", enum_names__object_kind((enum object_kind)kind));
		exposition__number(w, p->ended ? 0 : p->objects[kind].live);
	}
}

#define LIVE(kind_) .process = write_live, .kind = (kind_)
#define LOADS(member) .process = write_loads, METRIC_VALUE(struct object_totals, member)

static const struct metric metrics[] = {
	{{"gpuprobe_streams_live", METRIC_GAUGE, "Streams made and not destroyed."},
	 LIVE(OBJECT_STREAM)},
	{{"gpuprobe_events_live", METRIC_GAUGE, "Events made and not destroyed."},
	 LIVE(OBJECT_EVENT)},
	{{"gpuprobe_contexts_live", METRIC_GAUGE,
	  "Contexts made, or primary ones retained, and not destroyed or released."},
	 LIVE(OBJECT_CONTEXT)},
	{{"gpuprobe_modules_live", METRIC_GAUGE, "Modules loaded and not unloaded."},
	 LIVE(OBJECT_MODULE)},
	{{"gpuprobe_libraries_live", METRIC_GAUGE, "Libraries loaded and not unloaded."},
	 LIVE(OBJECT_LIBRARY)},
	{{"gpuprobe_objects_live", METRIC_GAUGE,
	  "Objects other than memory made and not destroyed, by kind."},
	 .process = write_all_live},
	{{"gpuprobe_module_loads", METRIC_COUNTER, "Successful loads of modules and libraries."},
	 LOADS(created)},
	{{"gpuprobe_module_load_seconds", METRIC_COUNTER,
	  "Time inside successful loads of modules and libraries, in seconds."},
	 LOADS(ns)},
};

void object_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
