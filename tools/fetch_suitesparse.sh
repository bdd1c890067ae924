#!/bin/bash
# Downloads the SuiteSparse sources (CHOLMOD, AMD, COLAMD) to the cache, as one version of Debian's
# source package, pinned by its hash. The mirror is the one that this machine's apt reads or, on
# other systems with apt, $ARAPLBS_DEBIAN_MIRROR or the mirror that debootstrap knows. If apt reads
# a Debian mirror, root is not needed. A second run does nothing.
. "$(dirname "$0")/lib.sh"
FILE=suitesparse_5.12.0+dfsg.orig.tar.xz
SHA256=bb106c43049138c19675cd70322e72ff8e4fd8bdcab3a096307fd78488913faf

[ -z "${ARAPLBS_SUITESPARSE_DIR:-}" ] || exit 0
TARGET=$CACHE/suitesparse
ORIGIN="SuiteSparse sources: $FILE of Debian's source package suitesparse, SHA256:$SHA256"
HELP="set ARAPLBS_SUITESPARSE_DIR to the folder of a SuiteSparse 5 or 7 source tree"
ready() { [ "$(cat "$TARGET/ORIGIN" 2>/dev/null)" = "$ORIGIN" ]; }
! ready || exit 0
helper=/usr/lib/apt/apt-helper
[ -x $helper ] || fail "no apt here: $HELP"
lock_cache suitesparse
! ready || exit 0

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
mkdir -p "$TMP"/{lists,archives}/partial "$TMP/new"
private=(-q -o APT::Sandbox::User=root -o Acquire::Retries=3 -o Dir::Cache="$TMP"
  -o Dir::State::lists="$TMP/lists")
mirror=$(debian_mirror)
if [ -z "$mirror" ]; then  # the machine's lists were never fetched, or were thrown away
  apt-get "${private[@]}" update >"$(log suitesparse)" 2>&1 || true
  mirror=$(debian_mirror "${private[@]}")
fi
if [ -z "$mirror" ]; then
  (apt_install debootstrap) || true
  mirror=$(debian_mirror)
fi
[ -n "$mirror" ] ||
  fail "no Debian mirror in apt's sources: name one in ARAPLBS_DEBIAN_MIRROR, or $HELP"

say "fetching $FILE"
cd "$TMP"
$helper "${private[@]}" download-file "${mirror%/}/pool/main/s/suitesparse/$FILE" "$TMP/$FILE" \
  >"$(log suitesparse)" 2>&1 || fail "the Debian mirror gives no $FILE ($(log suitesparse)): $HELP"
found=$(sha256sum <"$FILE" | cut -d' ' -f1)
[ "$found" = "$SHA256" ] || fail "$FILE has another hash: wanted sha256 $SHA256, found $found"

tar -xf "$FILE" -C new --strip-components=1 --wildcards --no-wildcards-match-slash \
  '*/LICENSE.txt' '*/AMD' '*/COLAMD' '*/CHOLMOD' '*/SuiteSparse_config'
rm -rf new/CHOLMOD/{Demo,MATLAB,Tcov,GPU,Partition,SuiteSparse_metis}
echo "$ORIGIN" >new/ORIGIN
rm -rf "$TARGET".{new,old}
mv new "$TARGET.new"
[ ! -e "$TARGET" ] || mv "$TARGET" "$TARGET.old"
mv "$TARGET.new" "$TARGET"
rm -rf "$TARGET.old"
say "$ORIGIN"
