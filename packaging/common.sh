# What the scripts of this directory share. Source it with $source set to the root of the tree.
# shellcheck shell=sh

fail() {
  echo "packaging/$(basename "$0"): $*" >&2
  exit 1
}

# need PROGRAM:PACKAGE...: all of these programs, or a message that names the Debian packages and what to type.
need() {
  missing=
  for pair in "$@"; do
    command -v "${pair%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
  done
  [ -z "$missing" ] || fail "these Debian packages are missing; type: apt-get install --no-install-recommends$missing"
}

# The value that CMake keeps for a build directory, or for the directory `static` in one.
cached() {
  cache=$1/CMakeCache.txt
  [ -f "$cache" ] || cache=$1/../CMakeCache.txt
  [ -f "$cache" ] || fail "'$1' is not a build directory: make one with \`cmake --preset release\`"
  sed -n "s/^$2:[A-Z]*=//p" "$cache"
}

# The version, and the point in time that every file of a package gets: that of the build, so of its last commit.
version_of() { cached "$1" CMAKE_PROJECT_VERSION; }
epoch_of() { cached "$1" CORRAL_EPOCH; }

# x64 or arm64: the processor that the program of a build is for.
processor_of() {
  case $(LC_ALL=C readelf -h "$1/bin/corral" | sed -n 's/^ *Machine: *//p') in
    *X86-64*) echo x64 ;;
    *AArch64*) echo arm64 ;;
    *) fail "'$1/bin/corral' is for a processor that no package is made for" ;;
  esac
}

# A directory for the work, which is removed at the end, also after Ctrl+C.
make_work() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/corral-package-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# The mirrors that the apt of this machine uses for its own release, as lines of a list of sources: deb or deb-src.
debian_sources() {
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  keys=
  for file in /usr/share/keyrings/debian-archive-keyring.gpg /usr/share/keyrings/ubuntu-archive-keyring.gpg; do
    [ ! -f "$file" ] || keys="$keys${keys:+,}$file"
  done
  # Without the release files, which are not there before the first `apt-get update`, or if an image was made without them.
  # shellcheck disable=SC2016 # apt replaces these
  apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null | sort -u |
    while read -r uri release component; do
      case $release in
        "$codename" | "$codename-updates" | "$codename-security")
          echo "$1 ${keys:+[signed-by=$keys] }$uri $release $component" ;;
      esac
    done
}

# The directory of the static program of a build, which may also be named itself.
static_of() {
  found=$1
  [ ! -f "$found/CMakeCache.txt" ] || found=$found/static
  [ -x "$found/bin/corral" ] || fail "there is no '$found/bin/corral'. Type: make static"
  ! readelf -l "$found/bin/corral" | grep -q INTERP || fail "'$found/bin/corral' needs libraries. Type: make static"
  echo "$found"
}

# The files of the tree that are changed and not committed, without the pages that `make release-check` writes.
uncommitted() {
  git -C "$source" status --porcelain -- . ':(exclude)docs/releases' ||
    fail "'$source' is not a git repository: a release is made of a commit"
}
