# SPDX-License-Identifier: Apache-2.0
# What it takes is the Swift toolchain and make; "make setup" installs the Debian packages.

# The servers that tests and demos start.
export PATH := $(CURDIR)/.build/servers/programs:$(PATH)

PREFIX ?= /usr/local
DESTDIR ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-core build docs install uninstall lint format layers asan tsan peers test-peers fleet-demo bench bench-check soak \
	fleet-test fleet-scale fuzz planted busy-test clean check hooks deb losses pictures sway-check system-check release

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## Install the libraries and tools that tests need, and unpack their servers into .build
	@scripts/install-packages.sh test && scripts/servers.sh

demo: ## Install what the build needs, build, then watch a recorded voice become text as it is sent
	@scripts/install-packages.sh build
	@scripts/build.sh utter-endpoint utter-ear utter
	@"$$(swift build -c release --show-bin-path)/utter" demo

test: setup ## Build and run all tests (SUITE=Journal: only those whose suite or name has this)
	@scripts/test.sh $(if $(SUITE),--filter '$(SUITE)')

test-core: setup ## Run the tests of the library alone, in a fifth of the time
	@scripts/test.sh core

build: ## Install what the build needs, then build the programs, with the Swift runtime inside
	@scripts/install-packages.sh build && scripts/build.sh

install: build ## Install below PREFIX (/usr/local), in DESTDIR if given
	@scripts/install.sh install "$(DESTDIR)" "$(PREFIX)"

uninstall: ## Remove what install has put there
	@scripts/install.sh uninstall "$(DESTDIR)" "$(PREFIX)"

deb: build ## Build the Debian packages, in .build/deb
	@scripts/install-packages.sh --check deb && scripts/deb.sh

system-check: ## Build and test utter in a root of another system (SYSTEM=trixie); needs root
	@scripts/system-check.sh $(SYSTEM)

release: ## Make and try the packages of a release in roots of their systems (SYSTEMS="bookworm trixie"); needs root
	@scripts/release.sh $(SYSTEMS)

sway-check: build ## Bind a key in a Sway without a screen, and dictate into an editor there
	@scripts/sway-check.sh

pictures: ## Record the moving pictures of README.md
	@scripts/install-packages.sh pictures && scripts/build.sh utter-endpoint utter-ear utter
	@scripts/pictures.py "$$(swift build -c release --show-bin-path)" docs/pictures

docs: ## Make the pages of the library, in .build/docs
	@scripts/docs.sh

lint: ## Check the formatting, the layers and the scripts
	@scripts/lint.sh

format: ## Format all Swift files
	swift format --in-place --parallel -r Sources Tests Package.swift

layers: ## Check the rules that the compiler does not know
	@scripts/check-layers.sh

asan: ## Run all tests with the address sanitizer
	@scripts/test.sh address

tsan: ## Run all tests with the thread sanitizer, optimised
	@scripts/test.sh thread

peers: ## Install the servers of other hands, in .build/peers
	@scripts/install-packages.sh peers && scripts/servers.sh && scripts/peers.sh

test-peers: ## Run the tests that need them
	@scripts/install-packages.sh --check peers && scripts/peers.sh --check && \
		UTTER_PEERS="$(CURDIR)/.build/peers" scripts/test.sh --filter PeerTests

fleet-demo: ## Show four workers that share a queue and a store, and are killed every second
	@scripts/peers.sh --check && scripts/build.sh utter-endpoint utter-ear utter utter-work && scripts/fleet-demo.sh

bench: build ## Run the benchmarks on the release build, beside arecord, curl, ffmpeg and plain C
	@scripts/install-packages.sh --check bench && swift run -c release --package-path Benchmarks

bench-check: build ## Count what a period costs, and fail when a count has risen by a tenth
	@scripts/install-packages.sh --check bench && swift run -c release --package-path Benchmarks \
		UtterBenchmarks counts --seconds 4 --check Benchmarks/counts.json

soak: ## Run the tests that take minutes or measure time
	@UTTER_SOAK=1 scripts/test.sh --filter \
		'DeadLink|LinkCut|RealPowerCut|EncryptedHour|aStoppedProgramMarksTheGap|DaemonLife|FourGibibytes|anHourOfOffsets'

fleet-test: ## Kill, stop and cut off a fleet of workers, and audit each take (ARGS="--short --nodes 3")
	@scripts/peers.sh --check && scripts/build.sh utter-endpoint utter-ear utter utter-work
	@Benchmarks/fleet-test.py "$$(swift build -c release --show-bin-path)" $(ARGS)

fleet-scale: ## Measure a fleet, and simulate one for 10,000 recorders (ARGS="simulate --from Benchmarks/fleet-scale.json")
	@scripts/peers.sh --check
	$(if $(filter simulate,$(ARGS)),,@scripts/build.sh utter-endpoint utter-ear utter utter-work)
	@.build/peers/bin/python Benchmarks/fleet-scale.py $(or $(ARGS),all) $(if $(filter simulate,$(ARGS)),,\
		--programs "$$(swift build -c release --show-bin-path)")

busy-test: ## Run all tests ten times while eight loops keep the processors busy
	@scripts/busy-tests.sh 10

losses: ## Kill programs, cut power and break links, and count what that loses; some minutes
	@scripts/test.sh --filter 'KillTests|PowerCutTests|FaultSweepTests' | tee .build-test/losses.log | grep 'Test run' && \
		awk -F '[:,] ' '$$1 == "harms" { kind = $$2; sub(/^[0-9]+ /, "", kind); count[kind] += $$2; lost += $$4 } \
		END { for (kind in count) print count[kind], kind; print lost, "of them lost something" }' .build-test/losses.log

fuzz: ## Feed odd answers, playlists, audio and frames to their readers, a minute each, by libFuzzer
	@scripts/fuzz.sh

planted: ## Plant bugs in a copy, one at a time: each must be caught (BUGS="NAME…": only these)
	@scripts/planted-bugs.sh $(BUGS)

clean: ## Remove all build products
	rm -rf .build .build-test .build-asan .build-fuzz .build-tsan .build-planted Benchmarks/.build

check: lint test ## What a change must pass: lint and test

hooks: ## Let git check each commit
	git config core.hooksPath scripts/git-hooks
