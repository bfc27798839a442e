// SPDX-License-Identifier: BSD-2-Clause
// Watches for Xids while the loop runs, see xid_watch.h.
#include "cli/session/xid_watch.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/launch_marks.h"
#include "model/xids.h"
#include "target/proc.h"
#include "xid/kernel_log.h"
#include "xid/tracepoint.h"

#define FIRST_NAMESPACE UINT64_C(0xEFFFFFFC) /* the kernel's PROC_PID_INIT_INO */

struct xid_watch {
	struct xids xids;
	struct launch_marks *marks;
	struct xid_tracepoint *tracepoint; /* NULL: the log is read */
	int kernel_log;			   /* descriptor; -1: the tracepoint is read */
	struct event *event;
	const struct log *log;
	bool first_namespace;
	bool warned;
};

static void warn_lost(struct xid_watch *watch)
{
	if (!watch->xids.lost || watch->warned)
		return;
	watch->warned = true;
	log__warn(watch->log, "reports of GPU errors (Xids) were lost; see gpuprobe_xid_lost");
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct xid_watch *watch = arg;
	int ret = 0;

	(void)what;
	if (watch->tracepoint)
		xid_tracepoint__read(watch->tracepoint);
	else
		ret = kernel_log__read(fd, &watch->xids);
	warn_lost(watch);
	if (!ret)
		return;
	event_del(watch->event);
	log__warn(watch->log,
		  "cannot read the kernel's log any more: %s; GPU errors (Xids) are not seen",
		  strerror(-ret));
}

/* Returns 0, -ENOENT if there is no source, or another negative errno with a message. */
static int open_source(struct xid_watch *watch, bool kernel_log, struct error *err)
{
	struct error why = {""};
	int ret;

	if (kernel_log) {
		watch->kernel_log = kernel_log__open(err);
		return watch->kernel_log < 0 ? watch->kernel_log : 0;
	}
	ret = xid_tracepoint__new(&watch->xids, &watch->tracepoint, &why);
	if (ret && ret != -ENOENT)
		log__warn(watch->log, "%s; GPU errors (Xids) are not seen", why.text);
	return ret ? -ENOENT : 0;
}

static int make(struct xid_watch *watch, struct event_base *loop, struct error *err)
{
	int fd = watch->tracepoint ? xid_tracepoint__fd(watch->tracepoint) : watch->kernel_log;
	struct pid_namespace own;

	watch->first_namespace = !proc__own_namespace(&own) && own.inode == FIRST_NAMESPACE;
	watch->marks = launch_marks__new();
	watch->event = event_new(loop, fd, EV_READ | EV_PERSIST, on_readable, watch);
	if (!watch->marks || !watch->event || event_add(watch->event, NULL))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

int xid_watch__new(struct event_base *loop, bool kernel_log, const struct log *log,
		   struct xid_watch **out, struct error *err)
{
	struct xid_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	*out = NULL;
	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	watch->kernel_log = -1;
	watch->log = log;
	ret = open_source(watch, kernel_log, err);
	if (!ret)
		ret = make(watch, loop, err);
	if (!ret)
		*out = watch;
	else
		xid_watch__free(watch);
	return ret == -ENOENT && !kernel_log ? 0 : ret;
}

void xid_watch__free(struct xid_watch *watch)
{
	if (!watch)
		return;
	if (watch->event)
		event_free(watch->event);
	if (watch->kernel_log >= 0)
		close(watch->kernel_log);
	xid_tracepoint__free(watch->tracepoint);
	launch_marks__free(watch->marks);
	free(watch);
}

void xid_watch__look(struct xid_watch *watch, struct model *model)
{
	if (!watch)
		return;
	/* At the end of a run, the loop has not told of the latest. */
	if (watch->tracepoint)
		xid_tracepoint__read(watch->tracepoint);
	xids__judge(&watch->xids, model, watch->first_namespace, watch->marks);
	launch_marks__take(watch->marks, model);
	model->xids = &watch->xids;
}
