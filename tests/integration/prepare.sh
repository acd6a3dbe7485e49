# Read by `run` here and in the folders beside it: makes CORRAL_BIN an absolute path, installs the packages that
# the lockfile pins, and puts the pinned node first in PATH.
#   what     who asks, for messages
#   caller   the folder that a relative CORRAL_BIN starts from
#   packages this folder
case "${CORRAL_BIN:=$packages/../../build/dev/bin/corral}" in
  /*) ;;
  *) CORRAL_BIN=$caller/$CORRAL_BIN ;;
esac
if [ ! -x "$CORRAL_BIN" ]; then
  echo "$what: no corral at $CORRAL_BIN; build it first or set CORRAL_BIN" >&2
  exit 1
fi
export CORRAL_BIN

# Two builds may run their tests at the same time; only one of them installs.
install_packages() {
  cd "$packages"
  cmp -s package-lock.json node_modules/.installed-lock && return
  if ! command -v npm >/dev/null; then
    echo "$what: npm is missing; install nodejs 18 or later and npm" >&2
    exit 1
  fi
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.installed-lock
}
(
  flock 9
  install_packages
) 9<"$packages/package-lock.json"

# The lockfile also pins node, npm and npx, so the system's own versions make no difference from here on.
# npm 9 does not link the pinned node into .bin, hence its own directory.
PATH=$(echo "$packages"/node_modules/node-linux-*/bin):$packages/node_modules/.bin:$PATH
export PATH
if ! node --version | grep -q '^v22\.'; then
  echo "$what: no pinned node for this machine ($(uname -sm)) in node_modules" >&2
  exit 1
fi
