# Every target is a line or two: the work is done by tools/ and tests/run.sh.
# Slow downloads and test beds are kept in ~/.cache/araplbs; ARAPLBS_CACHE names another place.
.PHONY: help build extension extension-all sdist release-check demo translations site check test test-all test-core \
	test-blender bench asan tsan fuzz clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22

build:  ## the package araplbs with its engine, importable from build/venv
	@tools/build_module.sh

extension: build  ## dist/araplbs-VERSION.zip, validated by Blender
	@tools/build_wheel.sh
	@tools/stage_extension.sh

extension-all: build  ## wheels and zips for Windows, macOS and Linux, x86-64 and ARM, made here
	@build/venv/bin/python tools/cross.py
	@build/venv/bin/python -m pytest -q tests/cross

sdist: build  ## dist/araplbs-VERSION.tar.gz, the source package
	@tools/build_sdist.sh

release-check: extension-all sdist  ## tests the rules of docs/release.md on every zip and the source package
	@tools/release_check.sh

demo: extension  ## build/demo: a character before and after; FILE=my.blend for your own
	@tools/demo.sh $(if $(FILE),"$(FILE)")

translations: build  ## brings the catalogues of araplbs_addon/languages up to date (docs/languages.md)
	@tools/run_blender.sh tools/translations.py

site:  ## build/site: manual, numbers and Python reference as a site that can be searched
	@tools/site.sh

check:  ## formatting, warnings, types, stubs: without running anything
	@tools/check.sh

test:  ## everything, headless, in every Blender that can be had here
	@tests/run.sh

test-all:  ## make test with all tests of all runs: docs/development.md, "Where tests run"
	@tests/run.sh all

test-core:  ## the module alone; PYTEST_ARGS="-k name" for some
	@tests/run.sh core

test-blender:  ## tests/addon in one Blender; BED=trixie for another
	@tests/run.sh $(or $(BED),bpy45)

bench: extension  ## tables and plots in docs/bench; PART="heat stages" for some, CHARACTERS="knight mage" for some
	@tools/bench.sh $(if $(PART),--part "$(PART)") $(if $(REFERENCE),--reference "$(REFERENCE)") $(CHARACTERS)

asan:  ## all core tests under the address and undefined-behavior sanitizers
	@tools/asan.sh

tsan:  ## the core tests of threads under the thread sanitizer
	@tools/tsan.sh

fuzz:  ## random problems; SECONDS=900 SEED=0 (SECONDS="=7": seed 7 alone) PART=functions, characters, files, ended
	@tools/fuzz.sh "$(or $(SECONDS),900)" $(SEED)

clean:  ## removes build/ and dist/; the cache stays
	rm -rf build dist
