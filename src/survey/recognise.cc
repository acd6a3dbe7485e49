#include <string_view>

#include "base/files.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

bool is_named(const known::KnownClient& client, const Process& process) {
  const std::string called = process.argv.empty() ? "" : base_name(process.argv.front());
  const std::string program = base_name(process.executable);
  for (const std::string_view name : client.executables) {
    if (name == program || name == called) return true;
  }
  return false;
}

bool runs_package(const known::KnownClient& client, const known::ServerCommand& command) {
  constexpr std::string_view kPrefix = "npm:";
  if (!std::string_view(command.key).starts_with(kPrefix)) return false;
  const std::string_view package = std::string_view(command.key).substr(kPrefix.size());
  for (const std::string_view own : client.packages) {
    if (own == package) return true;
  }
  return false;
}

bool lives_at(const known::KnownClient& client, const Process& process, const known::ServerCommand& command) {
  for (const std::string_view part : client.path_parts) {
    if (process.executable.find(part) != std::string::npos) return true;
    if (command.script.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

const known::KnownClient* recognise_client(const Process& process, const known::ServerCommand& command) {
  // `npx some-client` is a launcher with the client's package in its command line, not the client.
  const known::KnownLauncher* launcher = known::find_launcher(command.launcher);
  const bool launches = launcher != nullptr && launcher->kind != known::LauncherKind::Interpreter;
  for (const known::KnownClient& client : known::known_clients()) {
    if (is_named(client, process)) return &client;
    if (!launches && (runs_package(client, command) || lives_at(client, process, command))) return &client;
  }
  return nullptr;
}

const char* name_of(Evidence::Kind kind) {
  switch (kind) {
    case Evidence::Kind::Tag: return "tag";
    case Evidence::Kind::Configuration: return "configuration";
    case Evidence::Kind::Pipe: return "pipe";
    case Evidence::Kind::Package: return "package";
    case Evidence::Kind::Parent: return "parent";
    case Evidence::Kind::Environment: return "environment";
    case Evidence::Kind::Cgroup: return "cgroup";
    case Evidence::Kind::Session: return "session";
    case Evidence::Kind::StartTime: return "start-time";
    case Evidence::Kind::Name: return "name";
    case Evidence::Kind::Socket: return "socket";
  }
  return "?";
}

}  // namespace corral::survey
