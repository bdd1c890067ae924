#!/bin/sh
# Checks the skinning weights of files, and fails only on findings that an earlier revision of the
# repository does not have: check_changed.sh REVISION FILE...
# The exit code is that of `araplbs check`: 0, 1, or 3 for new findings.
set -u
revision=$1
shift
code=0
for file; do
    before=$(mktemp -d)
    if git cat-file -e "$revision:./$file" 2>/dev/null; then
        # --filters also fetches files that Git LFS stores elsewhere.
        git cat-file --filters "$revision:./$file" >"$before/$(basename "$file")"
    fi
    araplbs check "$file" --baseline "$before" --fail-on "${FAIL_ON:-high}" || code=$?
    rm -r "$before"
done
exit $code
