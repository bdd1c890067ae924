#!/bin/bash
# Brings the SuiteSparse sources (CHOLMOD, AMD, COLAMD) into the cache, from the source package of
# this machine's own Debian or Ubuntu mirror.  No root is needed, and apt's own settings are not
# touched.  apt checks the mirror's signature and every hash; the hash of the tarball is checked
# once more here.  A second run does nothing.
. "$(dirname "$0")/lib.sh"
[ -z "${ARAPLBS_SUITESPARSE_DIR:-}" ] || exit 0
TARGET=$CACHE/suitesparse
[ ! -e "$TARGET/ORIGIN" ] || exit 0
HELP="set ARAPLBS_SUITESPARSE_DIR to the folder of a SuiteSparse 5 or 7 source tree"
command -v apt-get >/dev/null || fail "no apt-get here: $HELP"
lock_cache suitesparse
[ ! -e "$TARGET/ORIGIN" ] || exit 0

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
mkdir -p "$TMP"/{system,lists,cache/archives}/partial "$TMP/new"
common=(-q -o APT::Sandbox::User=root -o Acquire::Retries=3 -o Dir::Cache="$TMP/cache")

# "uri release component" of each archive this machine's apt reads; $@ are options for apt-get.
archives() {
  apt-get "$@" indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI) $(RELEASE)' \
    'Created-By: Packages' 2>/dev/null |
    awk '$1 ~ /^(Debian|Ubuntu)$/ && $2 ~ /^(main|universe)$/ { print $3, $4, $2 }' | sort -u
}
found=$(archives)
if [ -z "$found" ]; then  # the machine's lists were never fetched, or were thrown away
  private=("${common[@]}" -o Dir::State::lists="$TMP/system")
  apt-get "${private[@]}" update >"$(log suitesparse)" 2>&1 || true
  found=$(archives "${private[@]}")
fi
[ -n "$found" ] || fail "no Debian or Ubuntu archive in this machine's apt sources: $HELP"

keys=$(ls /usr/share/keyrings/{debian,ubuntu}-archive-keyring.{gpg,pgp} 2>/dev/null | paste -sd, || true)
echo "$found" | sed "s|^|deb-src ${keys:+[signed-by=$keys] }|" >"$TMP/sources.list"
apt=(apt-get "${common[@]}" -o Dir::State::lists="$TMP/lists"
  -o Dir::Etc::sourcelist="$TMP/sources.list" -o Dir::Etc::sourceparts=-)

say "fetching the source package suitesparse"
cd "$TMP"
"${apt[@]}" update >"$(log suitesparse)" 2>&1 || fail "apt-get update failed ($(log suitesparse)): $HELP"
read -r _ file _ hash < <("${apt[@]}" source --tar-only --print-uris suitesparse 2>/dev/null |
  grep '\.orig\.tar') || fail "this machine's mirror has no source package suitesparse: $HELP"
# --tar-only: Debian's own changes concern its packaging and are not needed.
"${apt[@]}" source --tar-only --download-only suitesparse >>"$(log suitesparse)" 2>&1 ||
  fail "could not download $file ($(log suitesparse)): $HELP"
[ "SHA256:$(sha256sum "$file" | cut -d' ' -f1)" = "$hash" ] ||
  fail "$file is not what the mirror's signed index says ($hash)"

tar -xf "$file" -C new --strip-components=1 --wildcards --no-wildcards-match-slash \
  '*/LICENSE.txt' '*/AMD' '*/COLAMD' '*/CHOLMOD' '*/SuiteSparse_config'
rm -rf new/CHOLMOD/{Demo,MATLAB,Tcov,GPU,Partition,SuiteSparse_metis}
echo "SuiteSparse sources: $file of the Debian or Ubuntu source package suitesparse, $hash" >new/ORIGIN
rm -rf "$TARGET"
mv new "$TARGET"
say "$(head -1 "$TARGET/ORIGIN")"
