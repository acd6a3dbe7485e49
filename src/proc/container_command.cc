#include "proc/container_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace corral::proc {
namespace {

// Options of docker and podman themselves that take their value in the next argument; all others are flags,
// or hold a "=".
constexpr std::array<std::string_view, 36> kGlobalWithValue = {
    "-c", "--context", "-H", "--host", "-l", "--log-level", "--config", "--tlscacert", "--tlscert",
    "--tlskey",
    // podman only
    "--cgroup-manager", "--conmon", "--connection", "--db-backend", "--default-mounts-file",
    "--events-backend", "--hooks-dir", "--identity", "--imagestore", "--module", "--namespace",
    "--network-cmd-path", "--network-config-dir", "--out", "--registries-conf", "--root", "--runroot",
    "--runtime", "--runtime-flag", "--ssh", "--storage-driver", "--storage-opt", "--tmpdir", "--url",
    "--volumepath", "--cni-config-dir"};

// Looks for the container by our label, and by its id in case the label search fails; then checks that the
// label is found no more. $1 id file, $2 "ours" if we made that file; the rest is the launcher with its own
// options.
constexpr const char* kRemoval = R"sh(
file=$1; whose=$2; shift 2
find() { "$@" ps --all --quiet --no-trunc --filter "label=corral.instance=$CORRAL_INSTANCE"; }
for id in $( { find "$@"; cat "$file"; } 2>/dev/null | sort -u); do "$@" rm -f "$id" >/dev/null 2>&1; done
[ "$whose" != ours ] || rm -f "$file"
[ -z "$(find "$@")" ]
)sh";

/// Where the word "run" stands; 0 = nowhere.
std::size_t find_run(const std::vector<std::string>& argv) {
  std::size_t at = 1;
  while (at < argv.size() && argv[at].starts_with("-")) {
    const bool takes_value =
        std::find(kGlobalWithValue.begin(), kGlobalWithValue.end(), argv[at]) != kGlobalWithValue.end();
    at += takes_value ? 2 : 1;
  }
  if (at < argv.size() && argv[at] == "container") ++at;
  return at < argv.size() && argv[at] == "run" ? at : 0;
}

/// The user's own --cidfile, if there is one among the options of `run`.
std::optional<std::string> given_id_file(const std::vector<std::string>& argv, std::size_t run) {
  for (std::size_t at = run + 1; at < argv.size(); ++at) {
    constexpr std::string_view kJoined = "--cidfile=";
    if (argv[at].starts_with(kJoined)) return argv[at].substr(kJoined.size());
    if (argv[at] == "--cidfile" && at + 1 < argv.size()) return argv[at + 1];
  }
  return std::nullopt;
}

}  // namespace

std::optional<ContainerCommand> container_command(const std::vector<std::string>& argv,
                                                  const std::string& executable, const std::string& instance,
                                                  const std::string& scratch, const std::string& directory) {
  const std::string launcher = std::filesystem::path(argv.front()).filename().string();
  if (launcher != "docker" && launcher != "podman") return std::nullopt;
  const std::size_t run = find_run(argv);
  if (run == 0) return std::nullopt;

  ContainerCommand command{argv, {keeper::TerminatorKind::Container, {"/bin/sh", "-c", kRemoval, "corral"}}};
  std::vector<std::string> inserted = {"--label", "corral.instance=" + instance};
  const std::optional<std::string> given = given_id_file(argv, run);
  const std::string own = scratch + "/corral-" + instance + ".cid";
  if (!given) inserted.insert(inserted.end(), {"--cidfile", own});
  const auto after_run = command.argv.begin() + static_cast<std::ptrdiff_t>(run) + 1;
  command.argv.insert(after_run, inserted.begin(), inserted.end());

  std::vector<std::string>& removal = command.removal.argv;
  removal.push_back(given ? (std::filesystem::path(directory) / *given).string() : own);
  removal.push_back(given ? "theirs" : "ours");
  removal.push_back(executable);
  removal.insert(removal.end(), argv.begin() + 1, argv.begin() + static_cast<std::ptrdiff_t>(run));
  if (removal.back() == "container") removal.pop_back();
  return command;
}

}  // namespace corral::proc
