#include "survey/protection.h"

#include <algorithm>
#include <array>

#include "base/words.h"

namespace corral::survey {
namespace {

/// corral may end everything that carries its mark, no matter what it does.
bool is_ours(const Server& server) { return server.cause == Server::Cause::CorralKilled; }

bool is_of_other_user(const Server& server, const Asker& asker) { return server.uid != asker.own_uid; }

bool holds_the_asker(const Server& server, const Asker& asker) {
  return std::any_of(server.tree.begin(), server.tree.end(),
                     [&asker](pid_t pid) { return contains(asker.own_ancestors, pid); });
}

bool is_debugged(const Server& server, const Asker&) { return server.debugged; }
bool is_in_container(const Server& server, const Asker&) { return server.in_container; }
bool has_client_inside(const Server& server, const Asker&) { return server.client_inside != 0; }
bool is_kept(const Server& server, const Asker&) { return server.state == Server::State::Kept; }

bool is_only_possible(const Server& server, const Asker& asker) {
  return server.certainty == Server::Certainty::Possible && !asker.takes_possible;
}

bool does_another_job(const Server& server, const Asker&) {
  return server.arguments == Arguments::Other && !is_ours(server);
}

/// A server that a client's configuration starts over pipes with exactly these arguments belongs to that
/// client, even if it also opens a port (for a browser, for a login): its pipes decide. But a variable may
/// have made it a service, which cannot be seen from here, so only a person may decide that.
bool waits_for_others(const Server& server, const Asker& asker) {
  const bool only_extra = asker.asked && server.arguments == Arguments::Same;
  return !server.listens.empty() && !only_extra && !is_ours(server);
}

bool is_connected(const Server& server, const Asker&) {
  return !server.connected.empty() && !is_ours(server);
}
bool is_in_pipeline(const Server& server, const Asker&) { return server.pipeline != 0 && !is_ours(server); }

struct Rule {
  Protection protection;
  bool (*holds)(const Server&, const Asker&);
  bool is_use = false;  // by others than the client at its pipes
};

// tests/mutants/protection-*.patch switch them off one by one, and a test must notice each time.
constexpr Rule kRules[] = {
    {Protection::OtherUser, is_of_other_user},
    {Protection::OwnLine, holds_the_asker},
    {Protection::Debugger, is_debugged},
    {Protection::Container, is_in_container},
    {Protection::ClientInside, has_client_inside},
    {Protection::Kept, is_kept},
    {Protection::NoEvidence, is_only_possible},
    {Protection::OtherArguments, does_another_job},
    {Protection::Listening, waits_for_others, true},
    {Protection::Connected, is_connected, true},
    {Protection::Pipeline, is_in_pipeline, true},
};

}  // namespace

std::optional<Protection> protection_of(const Server& server, const Asker& asker) {
  for (const Rule& rule : kRules) {
    if (rule.holds(server, asker)) return rule.protection;
  }
  return std::nullopt;
}

std::optional<Protection> use_of(const Server& server) {
  const Asker person{.asked = true};
  for (const Rule& rule : kRules) {
    if (rule.is_use && rule.holds(server, person)) return rule.protection;
  }
  return std::nullopt;
}

std::optional<Protection> protection_of(const OneProcess& process, uid_t own_uid) {
  if (process.own) return Protection::OwnLine;
  if (process.real != own_uid || process.effective != own_uid) return Protection::OtherUser;
  if (process.tracer != 0) return Protection::Debugger;
  return std::nullopt;
}

std::string reason_of(Protection protection, const Server& server) {
  switch (protection) {
    case Protection::OtherUser:
      return "belongs to another user (uid " + std::to_string(server.uid) + "): run corral as that user";
    case Protection::OwnLine: return "this command runs inside it";
    case Protection::Debugger: return "is being debugged: detach the debugger first";
    case Protection::Container: return "runs in a container, or another PID namespace: run corral there";
    case Protection::ClientInside:
      return "a client runs inside it (pid " + std::to_string(server.client_inside) + "): leave that first";
    case Protection::Kept: return "below a running corral, which ends it with its session";
    case Protection::NoEvidence: return "only looks like an MCP server";
    case Protection::OtherArguments:
      return "runs with arguments other than those in a configuration: end it by hand if necessary";
    case Protection::Listening: return "others may use it: it waits for connections at " + server.listens;
    case Protection::Connected: return "others use it: it is connected to " + server.connected;
    case Protection::Pipeline:
      return "is part of a shell's pipeline, with process " + std::to_string(server.pipeline);
  }
  return "?";
}

}  // namespace corral::survey
