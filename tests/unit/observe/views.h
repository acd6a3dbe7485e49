// A daemon with one server that two clients share, and one that is only configured.
#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "observe/snapshot.h"

namespace corral::observe {

inline InstanceView some_instance(const std::string& server, pid_t pid) {
  InstanceView instance;
  instance.server = server;
  instance.id = server + std::to_string(pid);
  instance.pid = pid;
  instance.keeper = pid - 1;
  instance.state = "ready";
  instance.era = "legacy";
  instance.share = "shared";
  instance.reason = "shared: its entry says so";
  instance.level = "keeper";
  instance.uptime = milliseconds(61'500);
  instance.counters.calls = 3;
  return instance;
}

inline SessionView some_session(std::uint64_t id, const std::string& client, pid_t pid) {
  SessionView session;
  session.id = id;
  session.server = "files";
  session.client.name = client;
  session.client.version = "2.1";
  session.client.pid = pid;
  session.transport = "stdio";
  session.state = "ready";
  session.instance = "files100";
  session.age = milliseconds(2'000);
  return session;
}

inline Snapshot some_snapshot() {
  Snapshot snapshot;
  snapshot.daemon.pid = 10;
  snapshot.daemon.version = "0.1.0";
  snapshot.daemon.build = "2026-11-16";
  snapshot.daemon.protocol = 3;
  snapshot.daemon.uptime = std::chrono::hours(1);
  snapshot.daemon.config = "/etc/servers.json";
  snapshot.daemon.registry = "/state/registry.db";
  snapshot.daemon.pid_file = {"/run/corral.pid", true, 10, "0.1.0", "2026-11-16T03:00:00Z", true};
  snapshot.servers = {{"files", false, false, "", "/state/logs/files.log"}, {"memory", true, true, "", ""}};
  snapshot.instances = {some_instance("files", 100)};
  snapshot.instances[0].version = "1.2.3";
  snapshot.instances[0].sessions = {7, 8};
  snapshot.sessions = {some_session(7, "claude-code", 812), some_session(8, "codex", 0)};
  snapshot.counters.instances_started = 4;
  return snapshot;
}

inline boost::json::value parsed(const std::string& text) { return boost::json::parse(text); }

}  // namespace corral::observe
