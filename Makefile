# The commands that anyone needs. `make help` lists them.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# Most tests wait most of the time.
TEST_JOBS ?= $(shell expr 2 '*' $$(nproc))
PRESET ?= dev
MUTATION_SCORE ?= 92

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run leak test conformance check bench bench-approaches install uninstall static deb tarball packages release release-check demo asan tsan fuzz mutate coverage format lint dependencies clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

run: ## build, start the daemon with a demo server, and say what to try next
	@echo '1 of 3: looking for the Debian packages that the build needs'
	@tools/install-dependencies run
	@echo '2 of 3: compiling corral, which takes about two minutes on two processors'
	@$(MAKE) --no-print-directory build/release/bin/corral
	@echo '3 of 3: showing it'
	@python3 demo/daemon_demo.py --corral build/release/bin/corral

leak: ## build, and show a leak and its cure in your terminal
	@tools/install-dependencies run
	@$(MAKE) --no-print-directory build/release/bin/corral
	@python3 demo/leak_demo.py --corral build/release/bin/corral

test: ## install what is needed, build, run all tests
	@tools/install-dependencies test
	@$(MAKE) --no-print-directory suite PRESET=dev

conformance: ## part of `make test`: the official conformance suite against the daemon, as a table
	@tools/install-dependencies test
	@cmake --preset dev >/dev/null
	@cmake --build build/dev -j $(JOBS) --target corral fixture_server
	@tests/conformance/run

check: ## format, lints, clang-tidy, fuzzing, and the tests under AddressSanitizer
	@tools/install-dependencies test
	@$(MAKE) --no-print-directory lint asan fuzz

bench: ## measure, print a table, write bench/results/latest.json; PEERS=1 also measures other proxies
	@tools/install-dependencies run
	@$(MAKE) --no-print-directory build/release/bin/corral
	cmake --build build/release -j $(JOBS)
	@mkdir -p bench/results
	@[ -z "$(PEERS)" ] || bench/peers/install build/bench-peers
	build/release/bin/run_bench --corral build/release/bin/corral --json bench/results/latest.json \
	  $(if $(PEERS),--peers build/bench-peers)

bench-approaches: ## compare corral's commands with direct stdio, FIFO, socat and npm bridges; write the tables in docs/choosing.md
	@tools/install-dependencies run
	@tools/install-dependencies bench || echo "socat is not available; its row will say so"
	@$(MAKE) --no-print-directory build/release/bin/corral
	@mkdir -p bench/results
	@bench/peers/install build/bench-peers || echo "the npm bridges are not available; their rows will say so"
	python3 bench/approaches/measure.py --corral build/release/bin/corral --peers build/bench-peers \
	  --page docs/choosing.md --json bench/results/approaches.json

install: ## install to PREFIX (/usr/local), below DESTDIR: programs, manual pages, completions
	@tools/install-dependencies run
	@$(MAKE) --no-print-directory build/release/bin/corral
	cmake --install build/release --prefix '$(PREFIX)' --strip

uninstall: ## remove what `make install` has put below PREFIX; `corral uninstall` first, if clients use it
	rm -f '$(DESTDIR)$(PREFIX)/bin/corral' '$(DESTDIR)$(PREFIX)/libexec/corral/corral-keeper' \
	  '$(DESTDIR)$(PREFIX)/share/man/man1/corral.1' '$(DESTDIR)$(PREFIX)/share/man/man1/corral-'*.1 \
	  '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/corral' \
	  '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_corral' \
	  '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/corral.fish'
	rmdir '$(DESTDIR)$(PREFIX)/libexec/corral' 2>/dev/null || true

static: ## build the program that needs no library: build/release/static/bin/corral
	@tools/install-dependencies package
	@packaging/sqlite-source build/sqlite
	@cmake --preset release >/dev/null
	@cmake --build build/release -j $(JOBS) --target corral corral-static

deb: ## make dist/corral_VERSION-1_ARCH.deb
	@tools/install-dependencies package
	@$(MAKE) --no-print-directory build/release/bin/corral
	packaging/deb build/release dist

tarball: static ## make dist/corral-VERSION-linux-x64.tar.xz, which runs on any Linux
	packaging/tarball build/release dist x64

packages: deb tarball ## make both and test them in roots of their own
	@tools/install-dependencies package-test
	tests/packages/run

release: ## make all packages, sums and the list of contents in dist/; SIGN=KEY signs, ARM64=no leaves out arm64
	@tools/install-dependencies release
	@$(if $(filter no,$(ARM64)),,tools/install-dependencies arm64)
	@SIGN='$(SIGN)' ARM64='$(ARM64)' ALLOW_DIRTY='$(ALLOW_DIRTY)' packaging/release dist

release-check: ## check dist/ with all that is too long for CI; PART="npm rpm" runs only these; writes docs/releases/
	@tools/install-dependencies release-check
	@python3 -B packaging/release_check.py $(PART)

demo: ## record `make leak` as docs/demo.svg
	@tools/install-dependencies run
	@$(MAKE) --no-print-directory build/release/bin/corral
	python3 tools/record_terminal.py --out docs/demo.svg --title 'make leak' -- \
	  python3 demo/leak_demo.py --corral build/release/bin/corral --color always

# The large tables of trees and kills run only as root here, if we are root, and not at the basic level, which has no code of
# its own; what an ordinary user's start does
# differently (user namespaces) is in the other tests. What real clients do, tests/os and tests/unit do
# as well; sheer repetition finds no memory error. `make asan CTEST_ARGS='-L chaos' asan_leaves_out=` is worth its time now
# and then.
asan_leaves_out = -E 'integration|conformance|chaos|ManySessions|PidReuse$(if $(filter 0,$(shell id -u)),|NothingIsLeft.*(AsOrdinaryUser|BasicAsRoot))'
asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) --no-print-directory suite PRESET=asan CTEST_ARGS="$(asan_leaves_out) $(CTEST_ARGS)"

tsan: ## unit tests under ThreadSanitizer
	cmake --preset tsan
	cmake --build build/tsan -j $(JOBS) --target unit_tests
	ctest --test-dir build/tsan -L unit --output-on-failure

fuzz: compile-fuzz ## each fuzzer for FUZZ_SECONDS (6; those of the wire at least 60)
	tools/run-fuzzers build/fuzz/fuzz $${FUZZ_SECONDS:-6}

mutate: ## whether the tests notice a corral that is broken on purpose; MUTANTS=60 SEED=N breaks it at random places
	@tools/install-dependencies test
ifdef MUTANTS
	python3 tests/mutants/sample.py --mutants $(MUTANTS) $(if $(SEED),--seed $(SEED)) --score $(MUTATION_SCORE) --jobs $(JOBS)
else
	cmake --preset dev
	cmake --build build/dev -j $(JOBS) --target rude_server chaos_client
	FAKES_DIR=$(CURDIR)/build/dev/tests/fakes JOBS=$(JOBS) tests/chaos/mutation_check
	python3 tests/mutants/named.py --jobs $(JOBS)
endif

coverage: ## line coverage of src/ by all tests
	@$(MAKE) --no-print-directory suite PRESET=coverage
	tools/print-coverage build/coverage

format: ## bring all C++ files into shape
	git ls-files '*.cc' '*.h' | xargs clang-format -i

# clang-tidy takes a fifth of its time for the commands, which are tables and sentences, each compiled by itself.
# `make lint lint_leaves_out=nothing` looks at them, too.
lint_leaves_out = 'cli/commands/[a-z]*_commands?\.cc$$'
# Most of its time goes into the headers of others, so whole directories are looked at as one file.
lint_at_once = 24
lint: ## what CI checks without running anything
	git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror
	python3 tools/check_all.py
	cmake --preset asan -B build/lint -DCMAKE_UNITY_BUILD_BATCH_SIZE=$(lint_at_once)
	tools/list-sources build/lint | grep -Ev $(lint_leaves_out) | xargs -P $(JOBS) -n 1 clang-tidy -p build/lint --quiet --warnings-as-errors='*' 2>/dev/null

dependencies: ## install what is needed, without building
	@tools/install-dependencies test

clean: ## remove everything that was built
	rm -rf build dist

# ---- not for typing

.PHONY: suite chaos compile-dev compile-asan compile-coverage compile-fuzz build/release/bin/corral
chaos:
	cmake --preset $(PRESET)
	cmake --build build/$(PRESET) -j $(JOBS) --target corral rude_server chaos_client
	ctest --test-dir build/$(PRESET) -L chaos --output-on-failure $(CTEST_ARGS)

compile-dev compile-asan compile-coverage: compile-%:
	cmake --preset $*
	cmake --build build/$* -j $(JOBS)

compile-fuzz:
	cmake --preset fuzz
	cmake --build build/fuzz -j $(JOBS) --target fuzz/all

suite:
	@$(MAKE) --no-print-directory compile-$(PRESET)
	ctest --test-dir build/$(PRESET) -j $(TEST_JOBS) -LE packages --output-on-failure $(CTEST_ARGS)

build/release/bin/corral:
	@cmake --preset release >/dev/null
	@NINJA_STATUS='[%p, %e s] ' cmake --build build/release -j $(JOBS) --target corral
