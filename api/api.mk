# SPDX-License-Identifier: BSD-2-Clause
# The tables of the CUDA API: api/*.tsv -> $(BUILD)/gen/api_tables.c, by a
# generator that runs on the machine that builds (HOSTCC).
#
# API_OBJS is the generator without its main, for the unit test, which also needs
# error__set of src/base/error.c.

HOSTCC ?= $(CC)

API_OBJS := $(addprefix $(BUILD)/api/,check.o arg_location.o row.o table.o words.o write.o)
API_GENERATED := $(BUILD)/gen/api_tables.c

$(BUILD)/api/%.o: api/%.c
	@mkdir -p $(@D)
	$(HOSTCC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/api/error.o: src/base/error.c
	@mkdir -p $(@D)
	$(HOSTCC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/api/generate: $(BUILD)/api/generate.o $(BUILD)/api/error.o $(API_OBJS)
	$(HOSTCC) $(LDFLAGS) -o $@ $^

$(API_GENERATED): $(BUILD)/api/generate api/functions.tsv api/errors.tsv api/enums.tsv \
		api/allocators.tsv
	@mkdir -p $(@D)
	$(BUILD)/api/generate api/functions.tsv api/errors.tsv api/enums.tsv api/allocators.tsv $@

-include $(wildcard $(BUILD)/api/*.d)
