# Every target sets up what it needs, from nothing but CPython 3.11+, a C++20 compiler and make.
#
#   make demo PYTHON=python3.12 VENV=.venv312     another interpreter, beside the first one
#   make test ARGS="-k perft -n 0"                ARGS go to the command that the target runs
#
# The package is installed as users install it, not editable: what is tested is what is shipped.
# What is done is noted in stamp files in $(VENV). A changed source file installs the package
# again, in seconds, since the C++ build is kept in build/. Editable, if you like: `make develop`.

PYTHON ?= python3
VENV ?= .venv
GAME ?= dobutsu_v0
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# The pinned build tools are installed into $(VENV), hence no build isolation: an isolated build
# would take other versions, and could not reuse the objects of the build before.
INSTALL := $(PIP) --no-build-isolation

# Folders are listed as well: their time changes when a file in them is added, renamed or deleted.
SOURCES := $(shell find src envs agents train \( -name __pycache__ -prune \) -o \( -type d \
	-o -name '*.py' -o -name '*.pyi' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.js' \
	-o -name '*.css' -o -name '*.safetensors' -o -name py.typed \) -print)
CPP := $(filter %.hpp %.cpp,$(SOURCES))

# Tests run in several processes and speed is measured per core: one thread each.
test test-long bench sanitize: export OMP_NUM_THREADS = 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo pretrained test test-long bench docs lint format stubs sanitize develop clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r target text; do printf '  make %-10s %s\n' "$$target" "$$text"; done

# --- Set-up ---------------------------------------------------------------------------------------

TOOLS := $(VENV)/.stamp-tools
PACKAGE := $(VENV)/.stamp-package
DEV := $(VENV)/.stamp-dev
INTEROP := $(VENV)/.stamp-interop
RAY := $(VENV)/.stamp-ray
BENCH := $(VENV)/.stamp-bench

$(TOOLS): constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "make PYTHON=... (3.11+)")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) pip setuptools
	$(PIP) scikit-build-core nanobind cmake ninja
	@touch $@

$(PACKAGE): $(TOOLS) pyproject.toml CMakeLists.txt README.md LICENSE $(SOURCES)
	$(INSTALL) ".[train]"
	@touch $@

# What the extras name changes only with pyproject.toml, not with every source file.
$(DEV): $(TOOLS) pyproject.toml | $(PACKAGE)
	$(INSTALL) ".[train,dev]"
	@touch $@

# Where these do not install, the tests with them are skipped.
$(INTEROP): $(TOOLS) pyproject.toml | $(PACKAGE)
	-$(INSTALL) ".[train,interop]"
	@touch $@

$(RAY): $(TOOLS) pyproject.toml | $(PACKAGE)
	-$(INSTALL) ".[train,ray]"
	@touch $@

$(BENCH): $(TOOLS) pyproject.toml | $(PACKAGE)
	$(INSTALL) ".[train,bench]"
	@touch $@

develop: $(TOOLS)  ## install the package editable: Python changes count at once, C++ ones on import
	$(INSTALL) -Ceditable.rebuild=true -Ceditable.verbose=false -e ".[train,dev]"
	@touch $(DEV)
	@rm -f $(PACKAGE)

# --- What users run -------------------------------------------------------------------------------

# A second call goes on where the first ended.
demo: $(PACKAGE)  ## train a Dobutsu agent by self-play, then play it against the baselines
	$(BIN)/deskovky train alphazero --game dobutsu_v0 --out runs/demo --minutes 3 \
		$(if $(wildcard runs/demo/last.pt),--resume) $(ARGS)
	$(BIN)/deskovky eval --game dobutsu_v0 \
		--agents "alphazero:runs/demo/best.pt?simulations=64" random minimax:depth=2

pretrained: $(PACKAGE)  ## train the agent of GAME that comes with the package, by its recipe
	$(BIN)/deskovky train pretrained --game $(GAME) $(ARGS)

bench: $(PACKAGE) $(INTEROP) $(BENCH)  ## measure the speed of every layer, beside its peers
	$(BIN)/python benchmarks/run.py $(ARGS)

# --- What contributors run ------------------------------------------------------------------------

test: $(PACKAGE) $(DEV) $(INTEROP)  ## run the tests on the installed package, without the long ones
	$(BIN)/pytest -n 2 -m "not long" $(ARGS)

test-long: $(PACKAGE) $(DEV) $(INTEROP) $(RAY)  ## run the long tests only
	$(BIN)/pytest -n 2 -m long $(ARGS)

docs: $(PACKAGE) $(DEV)  ## build the documentation into build/docs; warnings are errors
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/docs

lint: $(PACKAGE) $(DEV) docs  ## check style, types, spelling and what is generated
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/codespell $$(git ls-files)
	cd $(VENV) && bin/mypy --config-file $(CURDIR)/pyproject.toml  # not the links: what is installed
	$(BIN)/python tools/typing_links.py
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m nanobind.stubgen -q -m deskovky._core -o build/_core.pyi
	diff -u src/deskovky/_core.pyi build/_core.pyi  # differs? make stubs
	@! git grep -nE '(pypi|pythonhosted|pytorch|npmjs|debian)[.]org/' || \
		{ echo 'a file names a package registry: leave the choice of it to the user of pip'; exit 1; }

format: $(DEV)  ## rewrite Python and C++ files in the style that lint asks for
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

stubs: $(PACKAGE) $(DEV)  ## write src/deskovky/_core.pyi anew from the extension
	$(BIN)/python -m nanobind.stubgen -q -m deskovky._core -o src/deskovky/_core.pyi

# The extension built with the sanitizers goes to a folder of its own, ahead of the ordinary one on
# the path. Python itself is not built with them, so their runtime must be loaded before it; leaks
# are not looked for, since the interpreter leaves memory behind on purpose. Tests with torch,
# Jupyter kernels and browsers are left out: they would spend their time there, not in our code.
SANITIZED := $(CURDIR)/build/sanitize/site
SANITIZED_PYTHON = PYTHONPATH=$(SANITIZED) UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	ASAN_OPTIONS=detect_leaks=0 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	$(BIN)/python
SANITIZED_TESTS = $(shell grep -LE 'torch|stable_baselines3|deskovky.train|nbclient|selenium' tests/test_*.py)

sanitize: $(PACKAGE) $(DEV)  ## run the engine's tests under the address and undefined sanitizers
	rm -rf $(SANITIZED)
	$(INSTALL) --no-deps --target $(SANITIZED) -Cbuild-dir=build/sanitize/cmake \
		-Ccmake.define.DESKOVKY_SANITIZE=ON -Ccmake.build-type=Debug -Cinstall.strip=false .
	$(SANITIZED_PYTHON) -c 'from deskovky import _core; assert "sanitize" in _core.__file__'
	$(SANITIZED_PYTHON) -m pytest --capture=sys -m "not long" $(ARGS) $(SANITIZED_TESTS)

clean:  ## remove the virtual environment and all that was built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
