#!/bin/sh
# Installs Moothall for this user, or with root's rights for all: the program into a folder of programs, and its manual. The checksum is
# compared first, and the signature too if this release is signed and ssh-keygen is there. A file that differs installs nothing.
#
#   sh install.sh                        into ~/.local/bin; as root into /usr/local/bin
#   MOOTHALL_PREFIX=DIR sh install.sh    into DIR/bin, and the manual into DIR/share/man
#   MOOTHALL_FROM=URL sh install.sh      from the files of a release at this address; file:///DIR takes those of a folder
#
# `packaging/release` writes the three values below into the copy that it makes.
set -eu
version='@VERSION@'
from=${MOOTHALL_FROM:-'@FROM@'}
signers='@SIGNERS@' # One line for `ssh-keygen -Y verify`, or nothing.

fail() { printf 'moothall is not installed: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

case "$(uname -sm)" in
  'Linux x86_64') platform=x86_64-linux ;;
  *) fail "there is no program for $(uname -sm) yet; docs/releasing.md tells how to build one" ;;
esac
[ -n "$from" ] || fail "name the address of the release: MOOTHALL_FROM=URL"
have curl || fail "it needs curl"
have sha256sum || fail "it needs sha256sum"
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
prefix=${MOOTHALL_PREFIX:-$prefix}
bin=$prefix/bin

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=moothall-$version-$platform
load() { curl --fail --silent --show-error --location --proto '=https,file' --output "$work/$1" "$from/$1" || fail "$from/$1 cannot be had"; }
load SHA256SUMS
load "$name.tar.gz"
if [ -z "$signers" ]; then
  printf 'This release is not signed; its checksum is compared.\n' >&2
elif have ssh-keygen; then
  load SHA256SUMS.sig
  printf '%s\n' "$signers" >"$work/signers"
  ssh-keygen -q -Y verify -f "$work/signers" -I release@moothall -n moothall -s "$work/SHA256SUMS.sig" <"$work/SHA256SUMS" >/dev/null ||
    fail "the signature is not the release's. Tell the maintainers: SECURITY.md"
else
  printf 'The signature is not checked, because ssh-keygen is missing; the checksum is compared.\n' >&2
fi
(cd "$work" && grep -F "  $name.tar.gz" SHA256SUMS | sha256sum --check --status -) || fail "the checksum of $name.tar.gz differs"

tar -C "$work" -xzf "$work/$name.tar.gz"
mkdir -p "$bin" "$prefix/share/man/man1"
# A program that runs now keeps its file: the new one takes the name.
cp "$work/$name/moothall" "$bin/.moothall-new"
chmod 755 "$bin/.moothall-new"
mv "$bin/.moothall-new" "$bin/moothall"
cp "$work/$name/man/"*.1 "$prefix/share/man/man1/"
printf 'moothall %s is installed: %s\n' "$version" "$bin/moothall"
case ":$PATH:" in
  *":$bin:"*) printf 'Begin with: moothall serve\n' ;;
  *) printf 'Begin with: %s serve\n(%s is not in PATH)\n' "$bin/moothall" "$bin" ;;
esac
