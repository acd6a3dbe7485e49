# The life of the Debian package on a machine, inside a root of its own: install, use, upgrade under a running daemon, remove,
# purge. $1 is the package, $2 the same with a higher version. Ends with "STORY OK" if everything was as it should be.
set -eu
export DEBIAN_FRONTEND=noninteractive HOME=/srv/user LC_ALL=C
mkdir -p "$HOME"
say() { echo "== $*"; }
ask() { printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\n' "$1" "$2" "$3"; }
# The answer with this id, within 15 s.
answer() {
  tries=0
  until grep -q "\"id\":$1[,}]" /tmp/answers; do
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || { echo "no answer to $1"; cat /tmp/answers; exit 1; }
    sleep 0.1
  done
}
corral_processes() {
  for one in /proc/[0-9]*; do
    case $(cat "$one/comm" 2>/dev/null) in corral*) echo "${one#/proc/}" ;; esac
  done
}

say install
{ apt-get update -qq && apt-get install -y -qq --no-install-recommends "$1"; } >/tmp/apt 2>&1 || { cat /tmp/apt; exit 1; }
corral --version -v
test "$(corral --version -v --json | grep -c '"linked":"dynamic","sqlite":"shared"')" = 1
test -f /usr/share/bash-completion/completions/corral && test -f /usr/share/zsh/vendor-completions/_corral
test -z "$(corral_processes)"

say use
corral run --report - -- corral version </dev/null >/tmp/report 2>&1
grep -q '"survivors":\[\],"leaked":false' /tmp/report
mkfifo /tmp/requests
corral connect corral </tmp/requests >/tmp/answers 2>/tmp/errors &
session=$!
exec 3>/tmp/requests
ask 1 initialize '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"story","version":"1"}}' >&3
answer 1
daemon=$(cat /run/user/0/corral/corral.pid /tmp/corral-0/corral.pid 2>/dev/null | head -n 1)
test -n "$daemon"
test -d "/proc/$daemon"

say "upgrade under the running daemon"
apt-get install -y -qq --no-install-recommends "$2" >/tmp/apt 2>&1 || { cat /tmp/apt; exit 1; }
test "$(dpkg-query -W -f '${Version}' corral)" = "$(dpkg-deb -f "$2" Version)"
test -d "/proc/$daemon"
printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' >&3
ask 2 tools/call '{"name":"get_server_info","arguments":{}}' >&3
answer 2
grep -q "\\\\\"current_pid\\\\\":$daemon\>\|\"current_pid\":$daemon\>" /tmp/answers
# A new session is served by the daemon that runs.
corral call corral get_server_info >/tmp/info
grep -q "\"current_pid\": *$daemon\>" /tmp/info
exec 3>&-
wait "$session"

say "end and remove"
corral shutdown
test -z "$(corral_processes)"
test -d "$HOME/.local/state/corral"
dpkg -r corral >/dev/null
test ! -e /usr/bin/corral && test ! -e /usr/libexec/corral
test -d "$HOME/.local/state/corral" # what belongs to a user stays

say purge
dpkg -P corral >/dev/null 2>&1 || true # nothing is left that a purge could take
if dpkg-query -W corral 2>/dev/null; then exit 1; fi
find / -xdev -name '*corral*' -not -path "$HOME/*" -not -path '/packages*' -not -path '/tmp/*' -not -path '/run/user/*' \
  -not -path '/var/log/*' -not -path '/var/cache/*' >/tmp/left
test ! -s /tmp/left || { cat /tmp/left; exit 1; }
echo "STORY OK"
