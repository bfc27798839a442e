// SPDX-License-Identifier: BSD-2-Clause
/*
 * The threads that fetch from debuginfod's servers; see debuginfod.h. Each thread has its own
 * client. Requests are shared, and changed with the lock held.
 */
#include "symbol/debuginfod.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/table.h"
#include "symbol/build_id.h"
#include "symbol/debuginfod_library.h"

#define THREADS_MAX 4
#define REQUESTS_MAX 1000
/* The client checks once a second whether to go on. */
#define STOP_MS 1000

enum answer {
	NOT_REQUESTED = 0,
	NOT_ANSWERED,
	FOUND,
	NOT_FOUND
};

struct request {
	uint8_t id[BUILD_ID_SIZE_MAX];
	size_t size;
	enum answer answer;
	char *path; /* if FOUND */
	UT_hash_handle hh;
};

struct debuginfod {
	struct debuginfod_library library;
	pthread_mutex_t lock;
	pthread_cond_t changed;	  /* by CLOCK_MONOTONIC */
	struct request *requests; /* in the order of the requests */
	size_t unanswered;
	pthread_t threads[THREADS_MAX];
	size_t started, left;
	bool stop;
	uint64_t waited_ns; /* time spent waiting; only the owner uses it */
};

/*
 * The instance that this thread belongs to: older libraries cannot pass an argument to the client's
 * callback.
 */
static _Thread_local struct debuginfod *requested_by;

static bool stop_requested(struct debuginfod *debuginfod)
{
	bool stop;

	pthread_mutex_lock(&debuginfod->lock);
	stop = debuginfod->stop;
	pthread_mutex_unlock(&debuginfod->lock);
	return stop;
}

static bool is_answered(const struct request *request)
{
	return request->answer == FOUND || request->answer == NOT_FOUND;
}

/* Returns the next request that no thread works on yet; NULL if the thread must stop. */
static struct request *wait_for_request(struct debuginfod *debuginfod)
{
	struct request *request = NULL;

	pthread_mutex_lock(&debuginfod->lock);
	while (!debuginfod->stop) {
		for (request = debuginfod->requests; request; request = request->hh.next)
			if (request->answer == NOT_REQUESTED)
				break;
		if (request) {
			request->answer = NOT_ANSWERED;
			break;
		}
		pthread_cond_wait(&debuginfod->changed, &debuginfod->lock);
	}
	pthread_mutex_unlock(&debuginfod->lock);
	return request;
}

static void answer(struct debuginfod *debuginfod, struct request *request, char *path)
{
	pthread_mutex_lock(&debuginfod->lock);
	request->path = path;
	request->answer = path ? FOUND : NOT_FOUND;
	debuginfod->unanswered--;
	pthread_cond_broadcast(&debuginfod->changed);
	pthread_mutex_unlock(&debuginfod->lock);
}

bool debuginfod__cache_path(const uint8_t *id, size_t size, char path[PATH_MAX])
{
	const char *folder = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");
	char hex[BUILD_ID_TEXT_SIZE];
	int length;

	if (!size || size > BUILD_ID_SIZE_MAX)
		return false;
	build_id__write(id, size, hex);
	if (folder && *folder)
		length = snprintf(path, PATH_MAX, "%s/%s/debuginfo", folder, hex);
	else if (cache && *cache)
		length = snprintf(path, PATH_MAX, "%s/debuginfod_client/%s/debuginfo", cache, hex);
	else
		length = snprintf(path, PATH_MAX, "%s/.cache/debuginfod_client/%s/debuginfo",
				  home ? home : "", hex);
	return length < PATH_MAX;
}

/*
 * Up to 0.188 at least, the client treats a stopped fetch as a file that does not exist, and stores
 * an empty file to remember that.
 */
static void forget_stopped(const struct request *request)
{
	struct stat stat;
	char path[PATH_MAX];

	if (debuginfod__cache_path(request->id, request->size, path) && !lstat(path, &stat) &&
	    S_ISREG(stat.st_mode) && !stat.st_size)
		unlink(path);
}

/*
 * Returns the path (malloc), or NULL. The user of the file opens it again: few files are used, and
 * many may come late.
 */
static char *fetch(struct debuginfod *debuginfod, struct debuginfod_client *client,
		   const struct request *request)
{
	char *path = NULL;
	int fd;

	if (!client)
		return NULL;
	fd = debuginfod->library.find_debuginfo(client, request->id, (int)request->size, &path);
	if (fd < 0) {
		if (stop_requested(debuginfod))
			forget_stopped(request);
		return NULL;
	}
	close(fd);
	return path;
}

static int progress(struct debuginfod_client *client, long done, long all)
{
	(void)client, (void)done, (void)all;
	return stop_requested(requested_by);
}

static void *run(void *arg)
{
	struct debuginfod *debuginfod = arg;
	struct debuginfod_client *client = debuginfod->library.begin();
	struct request *request;

	requested_by = debuginfod;
	if (client)
		debuginfod->library.set_progress(client, progress);
	while ((request = wait_for_request(debuginfod)))
		answer(debuginfod, request, fetch(debuginfod, client, request));
	if (client)
		debuginfod->library.end(client);
	pthread_mutex_lock(&debuginfod->lock);
	debuginfod->left++;
	pthread_cond_broadcast(&debuginfod->changed);
	pthread_mutex_unlock(&debuginfod->lock);
	return NULL;
}

/*
 * A file with privileges makes no requests: its caller would decide which servers are used and
 * which files the client writes.
 */
int debuginfod__new(struct debuginfod **out, struct error *err)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");
	struct debuginfod *debuginfod;
	pthread_condattr_t attributes;
	int ret;

	*out = NULL;
	if (!urls || !*urls)
		return 0;
	debuginfod = calloc(1, sizeof(*debuginfod));
	if (!debuginfod)
		return error__set(err, -ENOMEM, "out of memory");
	ret = debuginfod_library__open(&debuginfod->library, err);
	if (ret) {
		free(debuginfod);
		return ret;
	}
	pthread_mutex_init(&debuginfod->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&debuginfod->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	*out = debuginfod;
	return 0;
}

/* Called with the lock held; returns false when `until_ns` has passed. */
static bool wait_for_change(struct debuginfod *debuginfod, uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
				 .tv_nsec = (long)(until_ns % NS_PER_S)};

	return !pthread_cond_timedwait(&debuginfod->changed, &debuginfod->lock, &until);
}

/*
 * Returns true if all threads have ended. It does not wait longer for one that is stuck in the
 * library, for example in a name server look-up.
 */
static bool stop_threads(struct debuginfod *debuginfod)
{
	uint64_t until_ns = clock__monotonic_ns() + STOP_MS * NS_PER_MS;
	bool ended;

	pthread_mutex_lock(&debuginfod->lock);
	debuginfod->stop = true;
	pthread_cond_broadcast(&debuginfod->changed);
	while (debuginfod->left < debuginfod->started && wait_for_change(debuginfod, until_ns))
		;
	ended = debuginfod->left == debuginfod->started;
	pthread_mutex_unlock(&debuginfod->lock);
	for (size_t i = 0; i < debuginfod->started; i++) {
		if (ended)
			pthread_join(debuginfod->threads[i], NULL);
		else
			pthread_detach(debuginfod->threads[i]);
	}
	return ended;
}

void debuginfod__free(struct debuginfod *debuginfod)
{
	struct request *request, *next;

	/*
	 * A thread that is stuck may still use the memory, which is left allocated until gpuprobe
	 * ends.
	 */
	if (!debuginfod || !stop_threads(debuginfod))
		return;
	HASH_ITER (hh, debuginfod->requests, request, next) {
		HASH_DEL(debuginfod->requests, request);
		free(request->path);
		free(request);
	}
	debuginfod_library__close(&debuginfod->library);
	pthread_cond_destroy(&debuginfod->changed);
	pthread_mutex_destroy(&debuginfod->lock);
	free(debuginfod);
}

/* Starts a thread with all signals blocked: the event loop handles them. */
static void start_thread(struct debuginfod *debuginfod)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&debuginfod->threads[debuginfod->started], NULL, run, debuginfod))
		debuginfod->started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Called with the lock held, like the next functions. Returns NULL if no request can be made. */
static struct request *ask(struct debuginfod *debuginfod, const uint8_t *id, size_t size)
{
	struct request *request;

	if (HASH_COUNT(debuginfod->requests) >= REQUESTS_MAX)
		return NULL;
	if (debuginfod->unanswered >= debuginfod->started && debuginfod->started < THREADS_MAX)
		start_thread(debuginfod);
	request = debuginfod->started ? calloc(1, sizeof(*request)) : NULL;
	if (!request)
		return NULL;
	memcpy(request->id, id, size);
	request->size = size;
	HASH_ADD(hh, debuginfod->requests, id, (unsigned int)size, request);
	if (!request->hh.tbl) {
		free(request);
		return NULL;
	}
	debuginfod->unanswered++;
	pthread_cond_broadcast(&debuginfod->changed);
	return request;
}

static void wait_for_answer(struct debuginfod *debuginfod, const struct request *request)
{
	uint64_t begin_ns = clock__monotonic_ns(),
		 left_ns = DEBUGINFOD_ALL_MS * NS_PER_MS - debuginfod->waited_ns;
	uint64_t until_ns = begin_ns + MIN(left_ns, DEBUGINFOD_FILE_MS * NS_PER_MS);

	while (!is_answered(request) && wait_for_change(debuginfod, until_ns))
		;
	debuginfod->waited_ns += MIN(left_ns, clock__monotonic_ns() - begin_ns);
}

int debuginfod__find(struct debuginfod *debuginfod, const uint8_t *id, size_t size,
		     const char **path)
{
	struct request *request;
	int ret = -ENOENT;

	*path = NULL;
	if (!size || size > BUILD_ID_SIZE_MAX)
		return -ENOENT;
	pthread_mutex_lock(&debuginfod->lock);
	HASH_FIND(hh, debuginfod->requests, id, (unsigned int)size, request);
	if (!request) {
		request = ask(debuginfod, id, size);
		if (request)
			wait_for_answer(debuginfod, request);
	}
	if (request) {
		*path = request->path;
		ret = request->path ? 0 : (is_answered(request) ? -ENOENT : -EAGAIN);
	}
	pthread_mutex_unlock(&debuginfod->lock);
	return ret;
}
