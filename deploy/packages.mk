# SPDX-License-Identifier: BSD-2-Clause
# What is given to others: the Debian package, and a tarball of the portable build. Both are made of
# what is built; neither builds it again.

TARBALL_NAME := gpuprobe-$(VERSION)-x86_64
TARBALL := $(BUILD)/packages/$(TARBALL_NAME).tar.gz
# The time of all files in the tarball: that of the last commit, unless it is given.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

.PHONY: deb tarball packaged

# What a package has.
packaged: $(BUILD)/gpuprobe $(INJECTED) $(COMPLETIONS)

#: make deb         Debian packages, build/packages/*.deb
deb: packaged
	@rm -rf $(BUILD)/packages/deb
	@mkdir -p $(BUILD)/packages/deb/gpuprobe
	@cp -r deploy/debian $(BUILD)/packages/deb/gpuprobe/debian
	cd $(BUILD)/packages/deb/gpuprobe && MAKEFLAGS= GPUPROBE_SOURCE=$(CURDIR) \
		GPUPROBE_BUILD=$(abspath $(BUILD)) dpkg-buildpackage -b -d -us -uc
	mv $(BUILD)/packages/deb/*.deb $(BUILD)/packages/deb/*.changes $(BUILD)/packages/

#: make tarball     the portable build with man pages, completions and unit
tarball: $(PORTABLE) $(INJECTED) $(COMPLETIONS)
	@rm -rf $(BUILD)/packages/$(TARBALL_NAME)
	@$(MAKE) --no-print-directory -s install INSTALLED=$(PORTABLE) PREFIX=/usr/local \
		SYSCONFDIR=/usr/local/etc DESTDIR=$(BUILD)/packages/staged
	@mv $(BUILD)/packages/staged/usr/local $(BUILD)/packages/$(TARBALL_NAME)
	@strip $(BUILD)/packages/$(TARBALL_NAME)/sbin/gpuprobe \
		$(BUILD)/packages/$(TARBALL_NAME)/lib/gpuprobe/*.so
	@rm -r $(BUILD)/packages/staged
	tar -C $(BUILD)/packages --sort=name --owner=0 --group=0 --numeric-owner --mode=u+w,go=rX \
		--mtime=@$(SOURCE_DATE_EPOCH) --format=gnu -c $(TARBALL_NAME) | \
		gzip -9n > $(TARBALL)
	@rm -r $(BUILD)/packages/$(TARBALL_NAME)
	@echo $(TARBALL)
