// SPDX-License-Identifier: BSD-2-Clause
// Stacks by their ids; see store.h.
#include "stack/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/table.h"
#include "stack/texts.h"

#define IDS_PER_STACK 4
#define BYTES_MAX (256u << 20)

struct kept_id;

struct kept_stack {
	struct stack stack;
	struct kept_id *ids;
	struct kept_id *first;		/* represents all of them, and stays as long as the stack */
	struct kept_stack *prev, *next; /* by last use, least recent first */
	UT_hash_handle hh;		/* by `key` */
	size_t bytes;
	struct stack_frame key[]; /* a first element for the rest of the data, then the frames */
};

struct kept_id {
	uint64_t id;
	struct stack_owner owner;
	struct kept_stack *stack;
	struct kept_id *prev, *next;	 /* of one stack */
	struct kept_id *older, *younger; /* by last use */
	UT_hash_handle hh;
};

struct stack_store {
	struct kept_id *ids;
	struct kept_id *oldest_id;
	struct kept_stack *by_frames;
	struct kept_stack *oldest;
	struct texts *texts;
	size_t max, bytes; /* of stacks, without their texts */
	uint64_t serial, evicted;
	stack_forget_fn forget;
	void *arg;
};

struct stack_store *stack_store__new(size_t max, stack_forget_fn forget, void *arg)
{
	struct stack_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->texts = texts__new();
	if (!store->texts) {
		free(store);
		return NULL;
	}
	store->max = max ? max : 1;
	store->forget = forget;
	store->arg = arg;
	return store;
}

static void put_frames(struct stack_store *store, const struct stack_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		texts__put(store->texts, frames[i].function);
		texts__put(store->texts, frames[i].object);
		texts__put(store->texts, frames[i].file);
	}
}

static void drop_stack(struct stack_store *store, struct kept_stack *stack)
{
	HASH_DEL(store->by_frames, stack);
	DL_DELETE(store->oldest, stack);
	store->bytes -= stack->bytes;
	put_frames(store, stack->stack.frames, stack->stack.count);
	free(stack);
}

/* Drops the id; the stack stays, even if no id leads to it now. */
static void drop_id(struct stack_store *store, struct kept_id *id)
{
	HASH_DEL(store->ids, id);
	DL_DELETE2(store->oldest_id, id, older, younger);
	DL_DELETE(id->stack->ids, id);
	free(id);
}

void stack_store__free(struct stack_store *store)
{
	if (!store)
		return;
	while (store->oldest_id)
		drop_id(store, store->oldest_id);
	while (store->oldest)
		drop_stack(store, store->oldest);
	texts__free(store->texts);
	free(store);
}

static void forget_id(struct stack_store *store, struct kept_id *id)
{
	uint64_t number = id->id;

	drop_id(store, id);
	if (store->forget)
		store->forget(store->arg, number);
}

static void evict_stack(struct stack_store *store, struct kept_stack *stack)
{
	/* Forgetting an id removes it from its stack's list. */
	while (stack->ids)
		forget_id(store, stack->ids); /* NOLINT(clang-analyzer-unix.Malloc) */
	drop_stack(store, stack);
	store->evicted++;
}

/* Never drops the stack that was used last. */
static void make_room(struct stack_store *store)
{
	while (HASH_COUNT(store->ids) > store->max * IDS_PER_STACK) {
		if (store->oldest_id ==
		    store->oldest_id->stack->first) /* NOLINT(clang-analyzer-unix.Malloc) */
			evict_stack(store, store->oldest_id->stack);
		else
			forget_id(store, store->oldest_id);
	}
	while (store->oldest->next && (HASH_COUNT(store->by_frames) > store->max ||
				       store->bytes + texts__bytes(store->texts) > BYTES_MAX))
		evict_stack(store, store->oldest);
}

static int take_text(struct stack_store *store, const char **text)
{
	if (!*text)
		return 0;
	*text = texts__take(store->texts, *text);
	return *text ? 0 : -ENOMEM;
}

/* Clears the padding: frames are hashed and compared as bytes. */
static int take_frame(struct stack_store *store, const struct stack_frame *from,
		      struct stack_frame *to)
{
	memset(to, 0, sizeof(*to));
	to->offset = from->offset;
	to->line = from->line;
	to->kind = from->kind;
	to->function = from->function;
	if (take_text(store, &to->function))
		return -ENOMEM;
	to->object = from->object;
	if (take_text(store, &to->object))
		return -ENOMEM;
	to->file = from->file;
	return take_text(store, &to->file);
}

static struct kept_stack *make_stack(struct stack_store *store, const struct stack *from)
{
	size_t bytes = sizeof(struct kept_stack) + (from->count + 1ul) * sizeof(struct stack_frame);
	struct kept_stack *made = calloc(1, bytes);

	if (!made)
		return NULL;
	made->bytes = bytes;
	made->stack = *from;
	made->stack.frames = made->key + 1;
	made->key[0].line = (uint32_t)from->truncated << 1 | (uint32_t)from->broken;
	for (uint32_t i = 0; i < from->count; i++) {
		if (!take_frame(store, &from->frames[i], &made->key[i + 1]))
			continue;
		put_frames(store, made->key + 1, i + 1);
		free(made);
		return NULL;
	}
	return made;
}

static struct kept_stack *intern(struct stack_store *store, const struct stack *from)
{
	unsigned int size = (unsigned int)((from->count + 1) * sizeof(struct stack_frame));
	struct kept_stack *made = make_stack(store, from), *kept;

	if (!made)
		return NULL;
	HASH_FIND(hh, store->by_frames, made->key, size, kept);
	if (kept) {
		put_frames(store, made->stack.frames, made->stack.count);
		free(made);
		return kept;
	}
	HASH_ADD(hh, store->by_frames, key, size, made);
	if (!made->hh.tbl) {
		put_frames(store, made->stack.frames, made->stack.count);
		free(made);
		return NULL;
	}
	made->stack.serial = store->serial++;
	DL_APPEND(store->oldest, made);
	store->bytes += made->bytes;
	return made;
}

static void make_youngest(struct stack_store *store, struct kept_id *id)
{
	DL_DELETE2(store->oldest_id, id, older, younger);
	DL_APPEND2(store->oldest_id, id, older, younger);
}

static void touch(struct stack_store *store, struct kept_id *id)
{
	make_youngest(store, id->stack->first);
	make_youngest(store, id);
	DL_DELETE(store->oldest, id->stack);
	DL_APPEND(store->oldest, id->stack);
}

static struct kept_id *find(const struct stack_store *store, uint64_t id)
{
	return TABLE_FIND(store->ids, id, &id);
}

/* Makes the id lead to `stack`. If it represented other ids until now, those must be sent again. */
static void replace_id(struct stack_store *store, struct kept_id *id,
		       const struct kept_stack *stack)
{
	struct kept_stack *before = id->stack;
	bool stood = id == before->first;

	drop_id(store, id);
	while (stood && before->ids)
		forget_id(store, before->ids); /* NOLINT(clang-analyzer-unix.Malloc) */
	if (!before->ids && before != stack)
		drop_stack(store, before);
}

int stack_store__add(struct stack_store *store, uint64_t id, const struct stack_owner *owner,
		     const struct stack *stack)
{
	struct kept_id *kept = find(store, id);
	struct kept_id *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->id = id;
	made->owner = *owner;
	made->stack = intern(store, stack);
	if (!made->stack) {
		free(made);
		return -ENOMEM;
	}
	if (kept)
		replace_id(store, kept, made->stack);
	if (TABLE_ADD(store->ids, id, made)) {
		if (!made->stack->ids)
			drop_stack(store, made->stack);
		free(made);
		return -ENOMEM;
	}
	if (!made->stack->ids)
		made->stack->first = made;
	DL_APPEND2(store->oldest_id, made, older, younger);
	DL_APPEND(made->stack->ids, made);
	touch(store, made);
	make_room(store);
	return 0;
}

const struct stack *stack_store__find(struct stack_store *store, uint64_t id)
{
	struct kept_id *kept = find(store, id);

	if (!kept)
		return NULL;
	touch(store, kept);
	return &kept->stack->stack;
}

uint64_t stack_store__same(const struct stack_store *store, uint64_t id)
{
	struct kept_id *kept = find(store, id);

	return kept ? kept->stack->first->id : id;
}

bool stack_store__has(struct stack_store *store, uint64_t id, const struct stack_owner *owner)
{
	struct kept_id *kept = find(store, id);

	if (!kept || kept->owner.pid != owner->pid || kept->owner.start_ns != owner->start_ns)
		return false;
	touch(store, kept);
	return true;
}

size_t stack_store__count(const struct stack_store *store)
{
	return HASH_COUNT(store->by_frames);
}

uint64_t stack_store__evicted(const struct stack_store *store)
{
	return store->evicted;
}
