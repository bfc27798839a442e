# SPDX-License-Identifier: BSD-2-Clause
# make install and make uninstall. Install starts and enables nothing. Uninstall removes what
# install wrote, but not a defaults file that somebody changed.

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
DESTDIR ?=
ZSH_FOLDER ?= site-functions
MONITORING_FILES := deploy/monitoring/gpuprobe.rules.yml
DASHBOARDS := $(wildcard deploy/monitoring/dashboards/*.json)
RUNBOOKS := $(wildcard docs/runbooks/*.md)
# What is installed as gpuprobe: the tarball takes the portable build.
INSTALLED ?= $(BUILD)/gpuprobe

# Debian's package has the licence in its own form.
DOC_FILES ?= LICENSE README.md docs/deploy/bare-metal.md deploy/systemd/legacy-kernel.conf
MAN_FILES := $(wildcard man/*.8)

INJECTED_AT := $(addprefix $(DESTDIR)$(PREFIX)/lib/gpuprobe/,$(notdir $(INJECTED)))
PROGRAM_AT := $(DESTDIR)$(PREFIX)/sbin/gpuprobe
BASH_AT := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/gpuprobe
ZSH_AT := $(DESTDIR)$(PREFIX)/share/zsh/$(ZSH_FOLDER)/_gpuprobe
FISH_AT := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/gpuprobe.fish
MAN_AT := $(DESTDIR)$(PREFIX)/share/man/man8
DOC_AT := $(DESTDIR)$(PREFIX)/share/doc/gpuprobe
UNIT_AT := $(DESTDIR)$(UNITDIR)/gpuprobe.service
DEFAULT_AT := $(DESTDIR)$(SYSCONFDIR)/default/gpuprobe
MONITORING_AT := $(DESTDIR)$(PREFIX)/share/gpuprobe/monitoring
DASHBOARDS_AT := $(MONITORING_AT)/dashboards
RUNBOOKS_AT := $(DESTDIR)$(PREFIX)/share/doc/gpuprobe-monitoring/runbooks

.PHONY: install install-monitoring uninstall dashboards

install: $(INSTALLED) $(INJECTED) $(COMPLETIONS)
	install -D -m 755 $(INSTALLED) $(PROGRAM_AT)
	install -D -m 644 -t $(dir $(firstword $(INJECTED_AT))) $(INJECTED)
	install -D -m 644 $(BUILD)/completions/gpuprobe.bash $(BASH_AT)
	install -D -m 644 $(BUILD)/completions/_gpuprobe $(ZSH_AT)
	install -D -m 644 $(BUILD)/completions/gpuprobe.fish $(FISH_AT)
	install -D -m 644 -t $(MAN_AT) $(MAN_FILES)
	install -D -m 644 -t $(DOC_AT) $(DOC_FILES)
	install -D -m 644 deploy/systemd/gpuprobe.service $(UNIT_AT)
	sed -i 's|/usr/sbin/|$(PREFIX)/sbin/|; s|/etc/default|$(SYSCONFDIR)/default|' $(UNIT_AT)
	test -e $(DEFAULT_AT) || install -D -m 644 deploy/systemd/gpuprobe.default $(DEFAULT_AT)

# Alerts for Prometheus with their runbooks, and dashboards for Grafana, for the machine that has
# these.
install-monitoring:
	install -D -m 644 -t $(MONITORING_AT) $(MONITORING_FILES)
	install -D -m 644 -t $(DASHBOARDS_AT) $(DASHBOARDS)
	install -D -m 644 -t $(RUNBOOKS_AT) $(RUNBOOKS)

#: make dashboards  writes deploy/monitoring/dashboards/*.json from dashboards.py
dashboards:
	python3 -B deploy/monitoring/dashboards.py deploy/monitoring/dashboards

uninstall:
	rm -f $(PROGRAM_AT) $(INJECTED_AT) $(BASH_AT) $(ZSH_AT) $(FISH_AT) $(UNIT_AT) \
		$(addprefix $(MAN_AT)/,$(notdir $(MAN_FILES))) \
		$(addprefix $(DOC_AT)/,$(notdir $(DOC_FILES))) \
		$(addprefix $(MONITORING_AT)/,$(notdir $(MONITORING_FILES))) \
		$(addprefix $(DASHBOARDS_AT)/,$(notdir $(DASHBOARDS))) \
		$(addprefix $(RUNBOOKS_AT)/,$(notdir $(RUNBOOKS)))
	@rmdir $(dir $(firstword $(INJECTED_AT))) 2>/dev/null || :
	@rmdir $(DOC_AT) 2>/dev/null || :
	@rmdir $(DASHBOARDS_AT) 2>/dev/null || :
	@for folder in $(MONITORING_AT) $(RUNBOOKS_AT); do \
		rmdir $$folder $$(dirname $$folder) 2>/dev/null || :; done
	@if cmp -s deploy/systemd/gpuprobe.default $(DEFAULT_AT); then rm -f $(DEFAULT_AT); \
	elif [ -e $(DEFAULT_AT) ]; then echo "kept, because it was changed: $(DEFAULT_AT)"; fi
