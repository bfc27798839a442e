// SPDX-License-Identifier: BSD-2-Clause
// Metrics by names of others, see conventions.h.
#include "output/otlp/conventions.h"

#include <string.h>

#include "model/gpu_label.h"

/* --- hw.*: the machine's GPUs --- */

/* A row: a figure of a GPU; false: it is unknown. */
struct hardware_metric {
	struct otlp_metric metric;
	bool (*read)(const struct gpu *gpu, double *value);
	bool whole;	  /* a whole number */
	const char *task; /* hw.gpu.task; NULL: none */
	bool typed;	  /* a metric of all hardware: it has hw.type */
};

static bool read_used(const struct gpu *gpu, double *value)
{
	*value = (double)gpu->used_bytes;
	return gpu->used_bytes != GPU_UNKNOWN_BYTES;
}

static bool read_total(const struct gpu *gpu, double *value)
{
	*value = (double)gpu->total_bytes;
	return gpu->total_bytes != GPU_UNKNOWN_BYTES;
}

static bool read_share(const struct gpu *gpu, double *value)
{
	double total;

	if (!read_used(gpu, value) || !read_total(gpu, &total) || total <= 0)
		return false;
	*value /= total;
	return true;
}

static bool read_busy(const struct gpu *gpu, double *value)
{
	*value = gpu->busy_percent / 100.0;
	return gpu->busy_percent != GPU_UNKNOWN_PERCENT;
}

static bool read_power(const struct gpu *gpu, double *value)
{
	*value = gpu->milliwatts / 1000.0;
	return gpu->milliwatts != GPU_UNKNOWN_NUMBER;
}

static bool read_temperature(const struct gpu *gpu, double *value)
{
	*value = gpu->celsius;
	return gpu->celsius != GPU_UNKNOWN_NUMBER;
}

static const struct hardware_metric hardware[] = {
	{{"hw.gpu.memory.usage", "By", "GPU memory used.", OTLP_UP_DOWN}, read_used, .whole = true},
	{{"hw.gpu.memory.limit", "By", "Size of the GPU memory.", OTLP_UP_DOWN},
	 read_total,
	 .whole = true},
	{{"hw.gpu.memory.utilization", "1", "Fraction of GPU memory used.", OTLP_GAUGE},
	 .read = read_share},
	{{"hw.gpu.utilization", "1", "Fraction of time spent in a specific task.", OTLP_GAUGE},
	 read_busy,
	 .task = "general"},
	{{"hw.power", "W", "Instantaneous power consumed by the component.", OTLP_GAUGE},
	 read_power,
	 .typed = true},
	{{"hw.temperature", "Cel", "Temperature in degrees Celsius.", OTLP_GAUGE},
	 read_temperature,
	 .typed = true},
};

static void name_gpu(struct otlp_points *points, const struct gpu *gpu,
		     const struct hardware_metric *row)
{
	char label[GPU_LABEL_SIZE];

	gpu_label(gpu, label);
	otlp_points__text(points, "hw.id", gpu->uuid[0] ? gpu->uuid : gpu->bus_id);
	otlp_points__text(points, "hw.name", label);
	otlp_points__text(points, "hw.model", gpu->name);
	otlp_points__text(points, "hw.vendor", "NVIDIA");
	otlp_points__text(points, "hw.gpu.task", row->task);
	if (row->typed)
		otlp_points__text(points, "hw.type", "gpu");
}

static void add_hardware(struct otlp_points *points, const struct model *model)
{
	for (size_t i = 0; i < sizeof(hardware) / sizeof(*hardware); i++) {
		const struct hardware_metric *row = &hardware[i];
		double value;

		otlp_points__metric(points, &row->metric);
		for (size_t g = 0; g < model->gpu_count; g++) {
			if (!row->read(&model->gpus[g], &value))
				continue;
			otlp_points__point(points, 0);
			name_gpu(points, &model->gpus[g], row);
			if (row->whole)
				otlp_points__number(points, (uint64_t)value);
			else
				otlp_points__real(points, value);
		}
	}
}

/* --- gpu.cuda.*: what a process does --- */

/* A row: a counter of a process; one of the two writes its points. */
struct cuda_metric {
	struct otlp_metric metric;
	unsigned int section; /* that counts it */
	bool returns;	      /* needs the returns of calls */
	uint64_t (*of_process)(const struct process *p);
	uint64_t (*of_device)(const struct device_totals *d);
};

static uint64_t launches(const struct device_totals *d)
{
	return d->launches;
}

static uint64_t allocated(const struct device_totals *d)
{
	return d->allocated_bytes;
}

static uint64_t stream_waits(const struct device_totals *d)
{
	return d->waits[WAIT_STREAM].calls;
}

static uint64_t event_waits(const struct device_totals *d)
{
	return d->waits[WAIT_EVENT].calls;
}

static uint64_t device_waits(const struct device_totals *d)
{
	return d->waits[WAIT_CONTEXT].calls;
}

static uint64_t graph_launches(const struct process *p)
{
	return p->graph_launches;
}

static uint64_t set_bytes(const struct process *p)
{
	return p->copies[COPY_SET][0].bytes + p->copies[COPY_SET][1].bytes;
}

static uint64_t streams_created(const struct process *p)
{
	return p->objects[OBJECT_STREAM].created;
}

static uint64_t streams_destroyed(const struct process *p)
{
	return p->objects[OBJECT_STREAM].destroyed;
}

static const struct cuda_metric counters[] = {
	{{"gpu.cuda.kernel.launch.calls", "", "Kernel launches.", OTLP_SUM},
	 SECTION_LAUNCH,
	 .of_device = launches},
	{{"gpu.cuda.graph.launch.calls", "", "Graph launches.", OTLP_SUM},
	 SECTION_LAUNCH,
	 .of_process = graph_launches},
	{{"gpu.cuda.memory.allocations", "By", "Bytes of allocations of device memory.", OTLP_SUM},
	 SECTION_MEMORY,
	 true,
	 .of_device = allocated},
	{{"gpu.cuda.memset.bytes", "By", "Bytes set by memset calls.", OTLP_SUM},
	 SECTION_COPY,
	 true,
	 .of_process = set_bytes},
	{{"gpu.cuda.stream.create.calls", "", "Streams created.", OTLP_SUM},
	 SECTION_ALL,
	 true,
	 .of_process = streams_created},
	{{"gpu.cuda.stream.destroy.calls", "", "Streams destroyed.", OTLP_SUM},
	 SECTION_ALL,
	 true,
	 .of_process = streams_destroyed},
	{{"gpu.cuda.stream.synchronize.calls", "", "Waits for streams.", OTLP_SUM},
	 SECTION_COPY,
	 true,
	 .of_device = stream_waits},
	{{"gpu.cuda.event.synchronize.calls", "", "Waits for events.", OTLP_SUM},
	 SECTION_COPY,
	 true,
	 .of_device = event_waits},
	{{"gpu.cuda.device.synchronize.calls", "", "Waits for devices or contexts.", OTLP_SUM},
	 SECTION_COPY,
	 true,
	 .of_device = device_waits},
};

static const struct otlp_metric copies = {
	"gpu.cuda.memory.copies",
	"By",
	"Copies: their number and bytes.",
	OTLP_HISTOGRAM,
};

/* As cudaMemcpyKind spells them; there is none between two devices. */
static const char *copy_word(int kind)
{
	switch (kind) {
	case COPY_H2H: return "MemcpyHostToHost";
	case COPY_H2D: return "MemcpyHostToDevice";
	case COPY_D2H: return "MemcpyDeviceToHost";
	case COPY_D2D: return "MemcpyDeviceToDevice";
	case COPY_P2P: return "MemcpyPeer";
	default: return "MemcpyDefault";
	}
}

static const struct gpu *gpu_of(const struct model *model, const struct process *p, uint8_t device)
{
	for (size_t i = 0; i < p->gpu_count; i++)
		if (p->gpus[i].ordinal == device)
			return gpu_label__find(model, &p->gpus[i]);
	return NULL;
}

static void name_device(struct otlp_points *points, const struct model *model,
			const struct process *p, uint8_t device)
{
	const struct gpu *gpu = device == DEVICE_UNKNOWN ? NULL : gpu_of(model, p, device);

	if (device != DEVICE_UNKNOWN)
		otlp_points__int(points, "cuda.device.index", device);
	if (!gpu)
		return;
	/* The bare UUID. */
	otlp_points__text(points, "cuda.device.uuid",
			  strncmp(gpu->uuid, "GPU-", 4) ? gpu->uuid : gpu->uuid + 4);
	otlp_points__text(points, "cuda.device.model", gpu->name);
}

static void add_counter(struct otlp_points *points, const struct model *model,
			const struct process *p, const struct cuda_metric *row)
{
	if (row->of_process) {
		otlp_points__point(points, p->pid);
		otlp_points__number(points, row->of_process(p));
		return;
	}
	for (size_t k = 0; k < p->device_count; k++) {
		uint64_t value = row->of_device(&p->devices[k]);

		if (!value)
			continue;
		otlp_points__point(points, p->pid);
		name_device(points, model, p, p->devices[k].device);
		otlp_points__number(points, value);
	}
}

static void add_copies(struct otlp_points *points, const struct process *p)
{
	for (int kind = 0; kind < COPY_KINDS; kind++) {
		const struct copy_totals *c = p->copies[kind];

		if (kind == COPY_SET || !(c[0].calls + c[1].calls))
			continue;
		otlp_points__point(points, p->pid);
		otlp_points__text(points, "cuda.memcpy.kind", copy_word(kind));
		otlp_points__histogram(points, c[0].calls + c[1].calls,
				       (double)c[0].bytes + (double)c[1].bytes);
	}
}

static void add_counters(struct otlp_points *points, const struct model *model,
			 const struct process *const *processes, size_t count)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		if (!(model->sections & counters[i].section) ||
		    (counters[i].returns && model->no_returns))
			continue;
		otlp_points__metric(points, &counters[i].metric);
		for (size_t k = 0; k < count; k++)
			add_counter(points, model, processes[k], &counters[i]);
	}
	if (!(model->sections & SECTION_COPY) || model->no_returns)
		return;
	otlp_points__metric(points, &copies);
	for (size_t k = 0; k < count; k++)
		add_copies(points, processes[k]);
}

void otlp_conventions__add(struct otlp_points *points, const struct model *model,
			   const struct process *const *processes, size_t count)
{
	add_hardware(points, model);
	add_counters(points, model, processes, count);
}
