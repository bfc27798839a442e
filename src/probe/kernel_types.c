// SPDX-License-Identifier: BSD-2-Clause
// Looks things up in the kernel's BTF; see kernel_types.h.
#include "probe/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

static bool has_helper(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (unsigned int)id) : NULL;
	const struct btf_enum *value = type ? btf_enum(type) : NULL;

	for (int i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, value[i].name_off), name))
			return true;
	return false;
}

/*
 * The type of a member, through typedefs and qualifiers, including members of anonymous members.
 * NULL if there is none.
 */
static const struct btf_type *member_type(const struct btf *btf, const struct btf_type *type,
					  const char *name)
{
	const struct btf_member *member = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++, member++) {
		const char *found = btf__name_by_offset(btf, member->name_off);
		int id = btf__resolve_type(btf, member->type);
		const struct btf_type *inner =
			id >= 0 ? btf__type_by_id(btf, (unsigned int)id) : NULL;

		if (!inner)
			continue;
		if (!*found && btf_is_composite(inner))
			inner = member_type(btf, inner, name);
		else if (strcmp(found, name))
			inner = NULL;
		if (inner)
			return inner;
	}
	return NULL;
}

static bool has_member(const struct btf *btf, const char *structure, unsigned int kind,
		       const char *name, const char *inner_name)
{
	int id = btf__find_by_name_kind(btf, structure, kind);
	const struct btf_type *member =
		id > 0 ? member_type(btf, btf__type_by_id(btf, (unsigned int)id), name) : NULL;

	if (!member || !inner_name)
		return member;
	return btf_is_composite(member) && member_type(btf, member, inner_name);
}

void kernel_types__of(const struct btf *btf, struct kernel_types *types)
{
	*types = (struct kernel_types){
		.loops = has_helper(btf, "BPF_FUNC_loop"),
		.finds_mappings = has_helper(btf, "BPF_FUNC_find_vma"),
		.one_process = has_member(btf, "bpf_iter_link_info", BTF_KIND_UNION, "task", NULL),
		.counts_mappings =
			has_member(btf, "mm_struct", BTF_KIND_STRUCT, "mm_lock_seq", "sequence"),
	};
}

int kernel_types__read(struct kernel_types *types)
{
	struct btf *btf = btf__load_vmlinux_btf();

	memset(types, 0, sizeof(*types));
	if (!btf)
		return -errno;
	kernel_types__of(btf, types);
	btf__free(btf);
	return 0;
}
