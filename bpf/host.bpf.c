// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What followed threads do with their time (include/gpuprobe/host.h): threads that submit work to a
 * GPU, and threads they wait for. Only `gpuprobe diagnose` loads it, with maps of the monitor's
 * object.
 *
 *   host_switch    a thread is switched to a CPU or from it, and why
 *   host_waking    who wakes a followed thread
 *   host_sample    a followed thread is on a CPU: which code it runs
 *   host_threads   an iterator that finds submitting threads, and follows those
 *                  that userspace has chosen
 *
 *   host_kind      why a thread leaves its CPU
 *   host_stack     stacks, and for which share of the sleeps they are taken
 *
 * For all other threads the cost is one look at their task storage, which has no number.
 */
#include "host/kind.bpf.h"
#include "host/stack.bpf.h"
#include "core/task.bpf.h"

#define FILE_MIN_NS 100000  /* shorter sleeps for a descriptor get no entry */
#define READY_MIN_NS 100000 /* shorter waits for a CPU after a sleep get no stack */

static __always_inline bool has_waker(u8 kind)
{
	return kind == ACTIVITY_LOCK || kind == ACTIVITY_GIL || kind == ACTIVITY_QUEUE ||
	       kind == ACTIVITY_OTHER;
}

/* --- accounting when a thread gets a CPU again --- */

static __always_inline void add_to_site(const struct host_site_key *key, u64 ns, u64 count)
{
	struct host_site_record *site = bpf_map_lookup_elem(&host_sites, key),
				fresh = {.count = count, .ns = ns};

	if (site) {
		site->count += count;
		site->ns += ns;
	} else if (bpf_map_update_elem(&host_sites, key, &fresh, BPF_NOEXIST)) {
		lose(LOSS_HOST_MAP_FULL);
	}
}

/* Counts a sleep together with the sleeps it stands for. */
static __always_inline void charge_site(const struct followed *who,
					const struct host_profile *profile, u8 kind, u64 ns)
{
	const struct host_site_key key = {
		.stack = profile->stack,
		.thread = who->thread,
		.generation = who->generation,
		.kind = kind,
		.class = profile->class,
		.call = kind == ACTIVITY_OTHER ? profile->call : 0,
	};

	add_to_site(&key, ns * profile->weight, profile->weight);
}

/*
 * A thread that waits for the interpreter's lock sleeps for 5 ms at a time. Only its last sleep
 * ends by a wakeup.
 */
static __always_inline void charge_waker(const struct followed *who, struct host_profile *profile,
					 u64 ns)
{
	const struct host_pair_key key = {who->thread, who->generation, profile->waker_kernel_tid,
					  profile->kind};
	struct host_waker *waker;

	if (profile->unended_kind == profile->kind)
		ns += profile->unended_ns;
	profile->unended_kind = profile->kind;
	profile->unended_ns = profile->waker_kernel_tid ? 0 : ns;
	if (!profile->waker_kernel_tid)
		return;
	waker = bpf_map_lookup_elem(&host_wakers, &key);
	if (!waker)
		return;
	waker->ns += ns;
	waker->count++;
}

/* The thread is still in the system call, so its descriptor still refers to the file. */
static __always_inline void name_file(struct host_file *file, struct task_struct *task, s32 fd)
{
	struct file *open = file_at(task, fd);
	struct dentry *dentry;

	if (!open)
		return;
	dentry = BPF_CORE_READ(open, f_path.dentry);
	bpf_probe_read_kernel_str(file->name, sizeof(file->name),
				  BPF_CORE_READ(dentry, d_name.name));
	bpf_probe_read_kernel_str(file->folder, sizeof(file->folder),
				  BPF_CORE_READ(dentry, d_parent, d_name.name));
}

static __always_inline void charge_file(const struct followed *who,
					const struct host_profile *profile,
					struct task_struct *task, u64 ns)
{
	const struct host_pair_key key = {who->thread, who->generation, profile->fd, profile->kind};
	struct host_file *file = bpf_map_lookup_elem(&host_files, &key), fresh = {};

	if (!file && bpf_map_update_elem(&host_files, &key, &fresh, BPF_NOEXIST)) {
		lose(LOSS_HOST_MAP_FULL);
		return;
	}
	if (!file)
		file = bpf_map_lookup_elem(&host_files, &key);
	if (!file)
		return;
	file->ns += ns;
	file->count++;
	if (profile->kind == ACTIVITY_DISK)
		name_file(file, task, profile->fd);
}

static __always_inline bool is_ready(u8 kind)
{
	return kind == ACTIVITY_READY || kind == ACTIVITY_THROTTLED;
}

/* Returns the rival's number; 0: it is the idle task, or the map is full. */
static __always_inline u32 meet_rival(const struct followed *who, struct task_struct *rival)
{
	u32 kernel_pid = BPF_CORE_READ(rival, tgid);
	const struct host_pair_key key = {who->thread, who->generation, kernel_pid, ACTIVITY_READY};
	struct host_rival fresh = {};
	struct task_struct *leader;

	if (!kernel_pid || bpf_map_lookup_elem(&host_rivals, &key))
		return kernel_pid;
	leader = BPF_CORE_READ(rival, group_leader);
	fresh.pid = pid_of(leader);
	BPF_CORE_READ_INTO(&fresh.comm, leader, comm);
	if (!bpf_map_update_elem(&host_rivals, &key, &fresh, BPF_NOEXIST))
		return kernel_pid;
	lose(LOSS_HOST_MAP_FULL);
	return 0;
}

static __always_inline void charge_rival(const struct followed *who, u32 kernel_pid, u64 ns)
{
	const struct host_pair_key key = {who->thread, who->generation, kernel_pid, ACTIVITY_READY};
	struct host_rival *rival = kernel_pid ? bpf_map_lookup_elem(&host_rivals, &key) : NULL;

	if (!rival)
		return;
	rival->ns += ns;
	rival->count++;
}

/*
 * Charges the process that took the CPU. A kernel thread may run for a moment before another one
 * does; `before` was the last to run.
 */
static __always_inline void charge_rivals(const struct followed *who,
					  const struct host_profile *profile,
					  struct task_struct *before, u64 now_ns, u64 until_ns)
{
	u64 ns = profile->kind == ACTIVITY_READY ? until_ns - profile->since_ns : now_ns - until_ns;
	u32 first = profile->kind == ACTIVITY_READY ? profile->rival_kernel_pid : 0;

	if (ns)
		charge_rival(who, first ? first : meet_rival(who, before), ns);
}

/* The barriers make the verifier check the index that is used. */
static __always_inline void add(struct host_profile *profile, u8 kind, u8 class, u64 ns)
{
	u32 cell = kind * HOST_CLASSES + class;

	barrier_var(cell);
	if (cell < HOST_ACTIVITIES * HOST_CLASSES)
		(&profile->ns[0][0])[cell] += ns;
}

static __always_inline void count_time(struct host_profile *profile, u8 kind)
{
	u32 number = kind;

	barrier_var(number);
	if (number < HOST_ACTIVITIES)
		profile->times[number]++;
}

/* --- switches --- */

/*
 * A thread hands over to another one and waits for it: the backward pass of a training, say. The
 * other thread's activity counts instead.
 */
static __always_inline u8 kind_of_ended(const struct host_profile *profile)
{
	bool waited = profile->kind == ACTIVITY_LOCK || profile->kind == ACTIVITY_QUEUE ||
		      profile->kind == ACTIVITY_OTHER;

	return waited && profile->class == HOST_OUTSIDE && profile->woken_by_team ? ACTIVITY_TEAM :
										    profile->kind;
}

/* A non-static function takes tasks as numbers. */
struct coming {
	u64 task, before; /* the task that had the CPU before */
	struct followed who;
};

/*
 * Ends the thread's sleep: after its wakeup, and until `now_ns`, it was runnable. Not static:
 * verified once, separately.
 */
__noinline int end_sleep(const struct coming *coming, struct host_profile *profile, u64 now_ns)
{
	const struct followed *who;
	u64 until_ns = now_ns, ns;
	u8 kind;

	if (!coming || !profile)
		return 0;
	who = &coming->who;
	kind = kind_of_ended(profile);
	if (profile->woken_ns && !is_ready(profile->kind))
		until_ns = profile->woken_ns;
	if (until_ns < profile->since_ns)
		until_ns = profile->since_ns;
	ns = until_ns - profile->since_ns;
	add(profile, kind, profile->class, ns);
	count_time(profile, kind);
	if (now_ns > until_ns)
		add(profile, ACTIVITY_READY, profile->class, now_ns - until_ns);
	charge_rivals(who, profile, (struct task_struct *)coming->before, now_ns, until_ns);
	if (profile->stack)
		charge_site(who, profile, kind, ns);
	if (profile->stack && now_ns - until_ns >= READY_MIN_NS)
		charge_site(who, profile, ACTIVITY_READY, now_ns - until_ns);
	if (has_waker(kind))
		charge_waker(who, profile, ns);
	if (profile->fd != NO_FD && ns >= FILE_MIN_NS)
		charge_file(who, profile, (struct task_struct *)coming->task, ns);
	return 0;
}

static __always_inline void take_cpu(struct task_struct *task, struct task_struct *before)
{
	struct coming coming = {.task = (u64)task, .before = (u64)before};
	struct host_profile *profile = profile_of(task, &coming.who);
	u64 now_ns;

	if (!profile)
		return;
	now_ns = now();
	profile->version++;
	if (profile->kind != ACTIVITY_CPU)
		end_sleep(&coming, profile, now_ns);
	else /* following began while it left the CPU, which was missed */
		add(profile, ACTIVITY_OTHER, HOST_OUTSIDE, now_ns - profile->since_ns);
	profile->kind = ACTIVITY_CPU;
	profile->class = HOST_OUTSIDE;
	profile->since_ns = now_ns;
	profile->woken_ns = 0;
	profile->waker_kernel_tid = 0;
	profile->stack = 0;
	profile->version++;
}

static __always_inline void leave_cpu(u64 *ctx, struct task_struct *task, struct task_struct *next,
				      bool ready, u32 state)
{
	struct followed who;
	struct host_profile *profile = profile_of(task, &who);
	const struct pt_regs *regs;
	u64 now_ns;
	u8 kind;

	if (!profile)
		return;
	now_ns = now();
	regs = (const void *)bpf_task_pt_regs(task);
	profile->version++;
	/*
	 * The kind differs from ACTIVITY_CPU if following began while the thread got the CPU, which
	 * was missed.
	 */
	add(profile, profile->kind, profile->class, now_ns - profile->since_ns);
	profile->since_ns = now_ns;
	profile->woken_ns = 0;
	profile->waker_kernel_tid = 0;
	profile->woken_by_team = 0;
	profile->stack = 0;
	profile->kind = kind_of(task, ready, state, regs, profile);
	profile->class = class_of(task, regs->sp);
	/*
	 * Without the barrier the verifier would take any value for the kind and go through the
	 * rest for each.
	 */
	barrier();
	kind = profile->kind;
	profile->rival_kernel_pid =
		kind == ACTIVITY_READY && BPF_CORE_READ(next, mm) ? meet_rival(&who, next) : 0;
	if (state & STATE_DEAD)
		profile->ended_ns = now_ns;
	profile->version++;
	if (state & STATE_DEAD || !config.stack_mode || kind == ACTIVITY_STOPPED ||
	    !wants_stack(profile, now_ns))
		return;
	profile->stack = own_stack(ctx, task, regs, profile);
	note_cost(profile, now() - now_ns);
}

/* Arguments: preempt, prev, next and, since Linux 5.18, the state of prev. */
SEC("tp_btf/sched_switch")
int host_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	bool leaves = is_known(prev), comes = is_known(next);
	u32 state = ctx[3];

	if (leaves)
		leave_cpu(ctx, prev, next, (u8)ctx[0] || !state, state);
	if (comes)
		take_cpu(next, prev);
	return 0;
}

/* --- wakings --- */

static __always_inline void meet_waker(const struct followed *who,
				       const struct host_profile *profile)
{
	const struct host_pair_key key = {who->thread, who->generation, profile->waker_kernel_tid,
					  profile->kind};
	struct task_struct *waker = bpf_get_current_task_btf(),
			   *leader = BPF_CORE_READ(waker, group_leader);
	struct host_waker fresh = {};

	if (bpf_map_lookup_elem(&host_wakers, &key))
		return;
	fresh.start_ns = BPF_CORE_READ(waker, start_boottime);
	fresh.tid = pid_of(waker);
	fresh.process_start_ns = BPF_CORE_READ(leader, start_boottime);
	fresh.pid = pid_of(leader);
	BPF_CORE_READ_INTO(&fresh.comm, waker, comm);
	if (bpf_map_update_elem(&host_wakers, &key, &fresh, BPF_NOEXIST))
		lose(LOSS_HOST_MAP_FULL);
}

/*
 * Whether the current thread causes the wakeup: it is in a system call that can. An interrupt, such
 * as a timer's, hits whichever thread happens to run.
 */
static __always_inline bool is_waker(struct task_struct *current, u8 kind)
{
	const struct pt_regs *regs = (const void *)bpf_task_pt_regs(current);
	u64 number = regs->orig_ax;

	if (!BPF_CORE_READ(current, mm) || (s64)number < 0)
		return false;
	return (kind != ACTIVITY_LOCK && kind != ACTIVITY_GIL) || ends_futex_waits(number);
}

static __always_inline bool is_of_team(struct task_struct *current, s32 pid)
{
	struct followed who;
	const struct host_profile *profile = profile_of(current, &who);

	return profile && profile->submits && profile->pid == pid;
}

SEC("tp_btf/sched_waking")
int host_waking(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0], *current;
	struct host_profile *profile;
	struct followed who;

	if (!is_known(task))
		return 0;
	profile = profile_of(task, &who);
	if (!profile || profile->kind == ACTIVITY_CPU || profile->woken_ns)
		return 0;
	profile->woken_ns = now();
	current = bpf_get_current_task_btf();
	if (!has_waker(profile->kind) || current == task || !is_waker(current, profile->kind))
		return 0;
	profile->waker_kernel_tid = BPF_CORE_READ(current, pid);
	profile->woken_by_team = profile->submits && is_of_team(current, profile->pid);
	meet_waker(&who, profile);
	return 0;
}

/* --- samples --- */

SEC("perf_event")
int host_sample(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct host_site_key key = {.kind = ACTIVITY_CPU};
	const struct pt_regs *regs;
	struct host_profile *profile;
	struct followed who;

	profile = profile_of(task, &who);
	if (!profile)
		return 0;
	regs = (const void *)bpf_task_pt_regs(task);
	key.thread = who.thread;
	key.generation = who.generation;
	key.class = class_of(task, regs->sp);
	profile->samples[key.class & (HOST_CLASSES - 1)]++;
	key.stack = own_stack(ctx, task, regs, profile);
	add_to_site(&key, 0, 1);
	return 0;
}

/* --- the iterator --- */

/* Starts following the thread in its present state. Its switches count once .began_ns is set. */
static __always_inline void follow(struct task_struct *task, const struct host_wanted *wanted)
{
	struct followed *own =
		bpf_task_storage_get(&followed, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct host_profile *profile = bpf_map_lookup_elem(&host_accounts, &wanted->thread);
	const struct pt_regs *regs;
	u32 state;

	if (!own || !profile)
		return;
	if (config.stack_mode)
		scratch_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	own->thread = wanted->thread;
	own->generation = wanted->generation;
	regs = (const void *)bpf_task_pt_regs(task);
	profile->since_ns = now();
	profile->window_ns = profile->since_ns;
	profile->one_in = 1;
	state = BPF_CORE_READ(task, __state);
	if (BPF_CORE_READ(task, on_cpu)) {
		profile->kind = ACTIVITY_CPU;
		profile->class = HOST_OUTSIDE;
	} else {
		profile->kind = kind_of(task, !state, state, regs, profile);
		profile->class = class_of(task, regs->sp);
	}
	profile->began_ns = profile->since_ns;
}

/* NULL: the thread has no counter slot, or there is no profile. */
static __always_inline const struct thread_profile *calls_of(const struct thread *thread)
{
	u32 number = thread->counter_slot - 1;

	return thread->counter_slot ? bpf_map_lookup_elem(&thread_accounts, &number) : NULL;
}

static __always_inline void report_submitter(struct seq_file *out, struct task_struct *task,
					     u64 first_ns)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct host_submitter submitter = {
		.start_ns = BPF_CORE_READ(task, start_boottime),
		.process_start_ns = BPF_CORE_READ(leader, start_boottime),
		.first_ns = first_ns,
		.kernel_tid = BPF_CORE_READ(task, pid),
		.tid = pid_of(task),
		.pid = pid_of(leader),
	};

	BPF_CORE_READ_INTO(&submitter.comm, task, comm);
	bpf_seq_write(out, &submitter, sizeof(submitter));
}

SEC("iter/task")
int host_threads(struct bpf_iter__task *ctx)
{
	const struct host_wanted *wanted;
	struct task_struct *task = ctx->task;
	const struct thread *thread;
	const struct thread_profile *calls;
	const struct host_profile *profile;
	struct followed who;
	u32 tid;

	if (!task)
		return 0;
	tid = BPF_CORE_READ(task, pid);
	wanted = bpf_map_lookup_elem(&host_wanted, &tid);
	if (wanted) {
		if (wanted->start_ns == BPF_CORE_READ(task, start_boottime))
			follow(task, wanted);
		bpf_map_delete_elem(&host_wanted, &tid);
		return 0;
	}
	profile = profile_of(task, &who);
	if (profile && profile->submits)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || thread->state != THREAD_WATCHED)
		return 0;
	calls = calls_of(thread);
	if (calls && calls->submits)
		report_submitter(ctx->meta->seq, task, calls->first_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
