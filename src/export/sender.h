/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends OTLP requests in a thread. A request that fails is tried again, after a pause that doubles
 * or that the receiver asks for. Meanwhile requests wait in a queue of at most
 * EXPORT_QUEUE_BYTES and EXPORT_QUEUE_REQUESTS for each signal; if it is full, the oldest one is
 * dropped. Everything lost is counted.
 *
 * The thread gives up its capabilities, and has no log: its owner asks for news.
 */
#ifndef EXPORT_SENDER_H
#define EXPORT_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "export/counts.h"
#include "export/news.h"
#include "export/settings.h"

#define EXPORT_QUEUE_BYTES (8 << 20)
#define EXPORT_QUEUE_REQUESTS 64

struct export_sender;

/*
 * Loads libcurl if a route needs it. Takes the settings over: *settings is clear then. Returns 0 or
 * a negative errno with a message.
 */
int export_sender__new(struct export_settings *settings, struct export_sender **out,
		       struct error *err);

/* The settings; owned by the sender. */
const struct export_settings *export_sender__settings(const struct export_sender *sender);

/* Starts the thread. Returns 0 or a negative errno with a message. */
int export_sender__start(struct export_sender *sender, struct error *err);

/*
 * Queues a request's bytes, which are copied and compressed, with its number of items. Never waits
 * for the receiver. Returns 0, or -ENOMEM: the items are counted as lost.
 */
int export_sender__send(struct export_sender *sender, enum export_signal signal, const void *data,
			size_t length, uint64_t items);

/* Counts items that no request could be made of. */
void export_sender__lose(struct export_sender *sender, enum export_signal signal, uint64_t items);

void export_sender__counts(struct export_sender *sender,
			   struct export_counts counts[EXPORT_SIGNALS]);

/* See export_news__take. */
bool export_sender__news(struct export_sender *sender, enum export_signal signal,
			 char text[EXPORT_NEWS_SIZE]);

/*
 * Waits until the queues are empty, at most `limit_ms`. Each request is tried once more. What is
 * left is lost, and the thread ends.
 */
void export_sender__finish(struct export_sender *sender, unsigned int limit_ms);

/* Call it after finish, if the thread was started. NULL ok. */
void export_sender__free(struct export_sender *sender);

#endif
