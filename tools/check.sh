#!/bin/bash
# Checks the sources without running them, in less than two minutes: ruff, clang-format, the files
# that tools/declared.py writes, compiler warnings, shellcheck, the workflows against GitHub's
# schema, the types of araplbs and of the add-on's tasks, the stubs against the built module,
# phrases that read like a translation, and the rules of Blender's extensions platform for code.
# usage: check.sh [RESULTS.xml]     the results in pytest's XML form
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
"$ROOT/tools/setup.sh"
RESULTS=${1:-}
cases=() bad=0

step() {  # step NAME COMMAND...: runs it, shows what it says when it fails
  local name=$1 out start=$SECONDS
  shift
  out=$(log "check-${name// /-}")
  if "$@" >"$out" 2>&1; then
    echo "good    $name ($((SECONDS - start)) s)"
    cases+=("<testcase name=\"$name\" time=\"$((SECONDS - start))\"/>")
  else
    cat "$out"
    echo "FAILED  $name"
    cases+=("<testcase name=\"$name\"><failure message=\"see ${out#"$ROOT/"}\"/></testcase>")
    bad=1
  fi
}

warnings() { ARAPLBS_WERROR=1 tools/build_module.sh; }
types() { "$VENV/bin/mypy" --cache-dir build/check/mypy araplbs araplbs_addon/{task,weighting}.py araplbs_addon/features/*/task.py; }
stubs() {
  MYPY_CACHE_DIR=build/check/mypy "$VENV/bin/stubtest" araplbs._engine araplbs.arrays araplbs.replay \
    --allowlist tools/stubtest-allowed.txt
}
c_format() { find csrc -name '*.[ch]' -exec "$VENV/bin/clang-format" --dry-run --Werror {} +; }

step "ruff check" "$VENV/bin/ruff" check .
step "ruff format" "$VENV/bin/ruff" format --check .
step "clang-format" c_format
step "shellcheck" "$VENV/bin/shellcheck" -S warning tools/*.sh tests/*.sh .ci/run
step "declared once" "$VENV/bin/python" tools/declared.py --check
step "compiler warnings" warnings
step "workflows" "$VENV/bin/check-jsonschema" --builtin-schema vendor.github-workflows \
  .github/workflows/*.yml examples/github_workflow.yml
step "types" types
step "stubs" stubs
step "words" "$VENV/bin/python" tools/words.py
step "rules of a release" "$VENV/bin/python" tools/release_check.py --tree

[ -z "$RESULTS" ] || echo "<testsuite>${cases[*]}</testsuite>" >"$RESULTS"
exit $bad
