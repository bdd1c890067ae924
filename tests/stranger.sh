#!/bin/bash
# Tests a clone of the commit as strangers have it: without $ARAPLBS_DATA, without files of this
# machine that are not in the repository, and with an empty home folder. The clone builds the module
# and the zips, all of its tests are collected in every bed, and those tests run whose results may
# differ (docs/development.md, "Where tests run").
# Changes that are not committed belong to the clone, as in `git commit -a`. A file that was never
# added is missing.
# usage: stranger.sh FOLDER BED...     the clone is FOLDER/araplbs, the results FOLDER/araplbs/build/test
. "$(dirname "$0")/../tools/lib.sh"
clone=$1/araplbs
shift
rm -rf "$clone"
cd "$ROOT"
changed=$(git stash create 2>/dev/null) || true
git clone -q --shared --no-checkout . "$clone"
git -C "$clone" checkout -q --detach "${changed:-HEAD}"

# What pip installs and what compilers make of the same source is shared. The packages come after
# the clone's own on sys.path, where the file that makes our package importable has no effect.
"$VENV/bin/python" -m venv --without-pip "$clone/build/venv"
echo "$VENV"/lib/python3*/site-packages >"$(echo "$clone"/build/venv/lib/python3*/site-packages)/shared.pth"
cp -rsn "$VENV/bin/." "$clone/build/venv/bin/"
cp "$VENV/.ready" "$clone/build/venv/"
mkdir -p "$clone"/build/{home,test}
export ARAPLBS_CACHE=$CACHE HOME=$clone/build/home
unset ARAPLBS_DATA ARAPLBS_OLD_ZIP ARAPLBS_TEST_ALL ARAPLBS_TEST_RIGS

cd "$clone"
bad=0
make -s build
[ $# = 0 ] || SLOTS=1 PYTEST_ARGS="--collect-only -q" \
  GUI_TEST="test_input_and_picture test_auto_weight::test_character" \
  tests/run.sh "$@" || bad=1
tests() {  # tests NAME ARGUMENT...
  build/venv/bin/python -m pytest -p no:cacheprovider --junitxml "build/test/$1.xml" "${@:2}" |
    tee "build/test/$1.log" || bad=1
}
tests core --collect-only -q tests/package tests/tools tests/cross
tests farm --collect-only -q tests/farm
mapfile -t of_data < <(grep -lrE --include='test_*.py' 'shared_data|\bDATA\b' tests/package)
tests files tests/package/house tests/tools "${of_data[@]}"
if [ $bad = 0 ]; then  # all but the results, 450 MB
  find . ! -type d ! -path './build/test/*.xml' ! -path './build/test/*.log' -delete
  find . -type d -empty -delete
fi
exit $bad
