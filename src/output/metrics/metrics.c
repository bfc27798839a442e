// SPDX-License-Identifier: BSD-2-Clause
// The metrics page, see metrics.h. Each family of calls has a file for its series, see series.h.
#include "output/metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>

#include "account/account.h"
#include "base/clock.h"
#include "output/metrics/finding_series.h"
#include "output/metrics/kernel_series.h"
#include "output/metrics/process_groups.h"
#include "output/metrics/self_metrics.h"
#include "output/metrics/series.h"
#include "output/enum_names.h"

struct metrics {
	struct metrics_options options;
	struct kernel_series *kernels;
	struct finding_series *findings;
	struct process_groups *groups; /* NULL: processes have series of their own */
	struct account *account;
	uint64_t began_ns; /* of the first reading that the account took in */
};

#define ACCOUNT_GROUPS_MAX 128 /* jobs and users that are remembered */
#define ACCOUNT_IDLE_NS (600 * NS_PER_S)

static struct account *new_account(void)
{
	const struct account_options options = {
		.by = ACCOUNT_BY_JOB,
		.max_groups = ACCOUNT_GROUPS_MAX,
		.forgets = true,
		.idle_ns = ACCOUNT_IDLE_NS,
	};
	struct account *account = account__new(&options);

	if (account && account__add_source(account, NULL, NULL) < 0) {
		account__free(account);
		return NULL;
	}
	return account;
}

struct metrics *metrics__new(const struct metrics_options *options)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->options = *options;
	metrics->kernels = kernel_series__new(options->kernels);
	metrics->findings = finding_series__new();
	metrics->account = new_account();
	if (options->by != METRICS_BY_PROCESS)
		metrics->groups = process_groups__new(options->by, options->kernels);
	if (metrics->kernels && metrics->findings && metrics->account &&
	    (metrics->groups || options->by == METRICS_BY_PROCESS))
		return metrics;
	metrics__free(metrics);
	return NULL;
}

void metrics__free(struct metrics *metrics)
{
	if (!metrics)
		return;
	kernel_series__free(metrics->kernels);
	finding_series__free(metrics->findings);
	account__free(metrics->account);
	process_groups__free(metrics->groups);
	free(metrics);
}

static void write_lost(struct metrics_page *page)
{
	for (int i = 0; i < LOSS_COUNT; i++) {
		exposition__sample(&page->writer);
		exposition__label(&page->writer, "reason", enum_names__loss_name(i));
		exposition__number(&page->writer, page->model->lost[i]);
	}
}

static void write_probes(struct metrics_page *page)
{
	for (int i = 0; i < LAYER_COUNT; i++) {
		exposition__sample(&page->writer);
		exposition__label(&page->writer, "layer", enum_names__layer(i));
		exposition__number(&page->writer, page->model->probes_attached[i]);
	}
}

static void write_build(struct metrics_page *page)
{
	exposition__sample(&page->writer);
	exposition__label(&page->writer, "version", page->options->version);
	exposition__number(&page->writer, 1);
}

static const struct metric gpuprobe_metrics[] = {
	{{"gpuprobe_events_lost", METRIC_COUNTER,
	  "Calls and records that gpuprobe missed, by reason."},
	 .page = write_lost},
	{{"gpuprobe_probes_attached", METRIC_GAUGE, "Probe sites attached, by layer."},
	 .page = write_probes},
	{{"gpuprobe_build", METRIC_INFO, "The gpuprobe that serves this page."},
	 .page = write_build},
};

int metrics__account(struct metrics *metrics, const struct model *model)
{
	if (!metrics->began_ns)
		metrics->began_ns = model->now_ns;
	return account__take(metrics->account, 0, model, NULL, metrics->began_ns);
}

static int write_account(struct metrics *metrics, struct metrics_page *page)
{
	struct account_list list;
	int ret = metrics__account(metrics, page->model);

	if (!ret)
		ret = account__list(metrics->account, &list);
	if (ret)
		return ret;
	page->account = &list;
	account_series__write(page);
	account_list__clear(&list);
	page->account = NULL;
	return 0;
}

static int write_sections(struct metrics *metrics, struct metrics_page *page,
			  const struct finding_list *findings)
{
	unsigned int sections = page->model->sections;
	bool no_returns = page->model->no_returns;
	int err = 0;

	process_series__write(page);
	if (sections & SECTION_MEMORY && !no_returns) {
		memory_series__write(page);
		virtual_series__write(page);
	}
	if (sections & SECTION_LAUNCH)
		err = launch_series__write(page, metrics->kernels);
	if (err)
		return err;
	if (sections & SECTION_LAUNCH && !no_returns)
		step_series__write(page);
	if (sections & SECTION_COPY) {
		copy_series__write(page);
		wait_series__write(page);
	}
	if (!no_returns)
		open_series__write(page);
	object_series__write(page);
	device_series__write(page);
	err = error_series__write(page);
	if (err)
		return err;
	sampling_series__write(page);
	err = write_account(metrics, page);
	if (err)
		return err;
	verdict_series__write(page);
	xid_series__write(page);
	nccl_series__write(page);
	otlp_series__write(page);
	if (findings)
		err = finding_series__write(page, metrics->findings, findings);
	if (err)
		return err;
	metrics_page__write(page, gpuprobe_metrics, METRIC_COUNT(gpuprobe_metrics));
	self_metrics__write(&page->writer);
	return 0;
}

/* The page's writer has been begun. */
static int write_page(struct metrics *metrics, struct metrics_page *page,
		      const struct finding_list *findings)
{
	int err = metrics_page__choose_processes(page);

	if (!err && page->groups)
		err = process_groups__begin(page->groups, page);
	if (!err && page->groups)
		process_groups__write_counts(page->groups, page);
	if (!err)
		err = write_sections(metrics, page, findings);
	if (!err)
		exposition__end(&page->writer);
	if (!err && page->groups)
		err = process_groups__end(page->groups);
	free(page->processes);
	return err;
}

int metrics__render(struct metrics *metrics, FILE *out, const struct model *model,
		    const struct finding_list *findings, enum exposition form)
{
	struct metrics_page page = {
		.model = model, .options = &metrics->options, .groups = metrics->groups};
	int err;

	exposition__begin(&page.writer, out, form);
	err = write_page(metrics, &page, findings);
	return !err && ferror(out) ? -EIO : err;
}

int metrics__visit(struct metrics *metrics, const struct exposition_visitor *visitor,
		   const struct model *model, const struct finding_list *findings)
{
	struct metrics_page page = {.model = model, .options = &metrics->options};

	exposition__begin_visit(&page.writer, visitor);
	return write_page(metrics, &page, findings);
}
