#include "proc/container_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace corral::proc {
namespace {

// Options of docker and podman themselves that take their value in the next argument; all others are flags or
// contain a "=".
constexpr std::array<std::string_view, 36> kGlobalWithValue = {
    "-c", "--context", "-H", "--host", "-l", "--log-level", "--config", "--tlscacert", "--tlscert",
    "--tlskey",
    // podman only
    "--cgroup-manager", "--conmon", "--connection", "--db-backend", "--default-mounts-file",
    "--events-backend", "--hooks-dir", "--identity", "--imagestore", "--module", "--namespace",
    "--network-cmd-path", "--network-config-dir", "--out", "--registries-conf", "--root", "--runroot",
    "--runtime", "--runtime-flag", "--ssh", "--storage-driver", "--storage-opt", "--tmpdir", "--url",
    "--volumepath", "--cni-config-dir"};

// Variables that tell docker and podman which engine to use. None of them is a secret, so the registry may
// store them.
constexpr std::array<std::string_view, 10> kWhereTheEngineIs = {
    "DOCKER_HOST=",    "DOCKER_CONTEXT=",    "DOCKER_CONFIG=",        "DOCKER_CERT_PATH=",
    "DOCKER_TLS=",     "DOCKER_TLS_VERIFY=", "CONTAINER_CONNECTION=", "CONTAINER_SSHKEY=",
    "CONTAINER_HOST=", "CONTAINERS_CONF="};

// Removes only containers that carry our label. The id file is a second way to find the container, for a
// launcher whose list command fails; the id is only used if it looks like one and the container carries the
// label. $1 is the directory with that file, which only this user can write to; the rest is the launcher with
// its options.
constexpr const char* kRemoval = R"sh(
set -f
folder=$1; shift
listed() { "$@" ps --all --quiet --no-trunc --filter "label=corral.instance=$CORRAL_INSTANCE"; }
ours() { [ "$("$@" inspect --format '{{index .Config.Labels "corral.instance"}}' "$id" 2>/dev/null)" = "$CORRAL_INSTANCE" ]; }
for id in $(listed "$@" 2>/dev/null); do "$@" rm -f "$id" >/dev/null 2>&1; done
id=$(cat "$folder/cid" 2>/dev/null)
case $id in *[!0-9a-f]* | '') ;; *) ! ours "$@" || "$@" rm -f "$id" >/dev/null 2>&1 ;; esac
rm -f "$folder/cid"; rmdir "$folder" 2>/dev/null
left=$(listed "$@") && [ -z "$left" ]
)sh";

bool takes_value(const std::string& option) {
  return std::find(kGlobalWithValue.begin(), kGlobalWithValue.end(), option) != kGlobalWithValue.end();
}

/// The index of the word "run"; 0 = not found.
std::size_t find_run(const std::vector<std::string>& argv) {
  std::size_t at = 1;
  while (at < argv.size() && argv[at].starts_with("-")) at += takes_value(argv[at]) ? 2 : 1;
  if (at < argv.size() && argv[at] == "container") ++at;
  return at < argv.size() && argv[at] == "run" ? at : 0;
}

/// Whether the argument at `at` is the value of the option before it: `--context container`.
bool is_option_value(const std::vector<std::string>& argv, std::size_t at) {
  return at > 1 && takes_value(argv[at - 1]);
}

bool tells_where_the_engine_is(std::string_view variable) {
  return std::any_of(kWhereTheEngineIs.begin(), kWhereTheEngineIs.end(),
                     [variable](std::string_view name) { return variable.starts_with(name); });
}

/// The process that removes the container may not have the server's environment.
std::vector<std::string> launcher_in(const std::vector<std::string>& environment,
                                     const std::string& executable) {
  std::vector<std::string> words;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(words), tells_where_the_engine_is);
  if (!words.empty()) words.insert(words.begin(), "/usr/bin/env");
  words.push_back(executable);
  return words;
}

/// docker refuses a second --cidfile, so a user's own is left alone. The option is searched in all arguments:
/// it may belong to the program inside the container, but then the label is sufficient.
bool names_id_file(const std::vector<std::string>& argv) {
  return std::any_of(argv.begin(), argv.end(), [](const std::string& argument) {
    return argument == "--cidfile" || argument.starts_with("--cidfile=");
  });
}

}  // namespace

bool is_container_run(const std::vector<std::string>& argv) {
  const std::string launcher = std::filesystem::path(argv.front()).filename().string();
  return (launcher == "docker" || launcher == "podman") && find_run(argv) != 0;
}

ContainerCommand container_command(const std::vector<std::string>& argv,
                                   const std::vector<std::string>& environment, const std::string& executable,
                                   const std::string& instance, const std::string& folder) {
  const std::size_t run = find_run(argv);
  ContainerCommand command{argv, {folder}};
  std::vector<std::string> inserted = {"--label", "corral.instance=" + instance};
  if (!names_id_file(argv)) inserted.insert(inserted.end(), {"--cidfile", folder + "/cid"});
  const auto after_run = command.argv.begin() + static_cast<std::ptrdiff_t>(run) + 1;
  command.argv.insert(after_run, inserted.begin(), inserted.end());

  const std::vector<std::string> launcher = launcher_in(environment, executable);
  command.removal.insert(command.removal.end(), launcher.begin(), launcher.end());
  const bool long_form = argv[run - 1] == "container" && run > 1;
  const std::size_t options_end = long_form && !is_option_value(argv, run - 1) ? run - 1 : run;
  command.removal.insert(command.removal.end(), argv.begin() + 1,
                         argv.begin() + static_cast<std::ptrdiff_t>(options_end));
  return command;
}

Terminator container_removal(const std::vector<std::string>& removal) {
  Terminator terminator{keeper::TerminatorKind::Container, {"/bin/sh", "-c", kRemoval, "corral"}};
  terminator.argv.insert(terminator.argv.end(), removal.begin(), removal.end());
  return terminator;
}

}  // namespace corral::proc
