// What the daemon says in answer to `status`, as values that can be sorted and shown: for `corral ps` and
// `corral top`. It may be older or newer than we are: what is missing or of another type is not there, and
// every text is made safe for a terminal here.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/screen/page.h"

namespace corral::cli {

struct ProcessEntry {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string name;
  std::string state;
  std::optional<std::uint64_t> memory;
  std::optional<std::chrono::milliseconds> cpu;  // ever used
  std::optional<std::chrono::milliseconds> age;
};

struct LimitEntry {
  std::optional<std::uint64_t> memory;
  std::optional<std::uint64_t> processes;
  std::optional<double> cpu;  // cores
  std::optional<std::uint64_t> recycle;
};

struct SessionEntry {
  std::string id = {};
  std::string server = {};
  std::string instance = {};  // whole id; empty = none now
  std::string state = {};
  std::string transport = {};
  std::string client_name = {};
  std::string client_version = {};
  std::string client_command = {};
  std::string client_root = {};
  std::int64_t client_pid = 0;  // 0 = not known, or by URL
  std::optional<std::chrono::milliseconds> age = {};
  std::optional<std::uint64_t> calls = {};
};

struct InstanceEntry {
  std::string server = {};
  std::string id = {};
  std::string version = {};
  std::string state = {};
  std::string share = {};
  std::string reason = {};
  std::string level = {};
  std::string root = {};
  std::string stale = {};  // what has changed; empty = nothing
  std::int64_t pid = 0;
  std::int64_t keeper = 0;
  std::optional<std::chrono::milliseconds> uptime = {};
  std::optional<std::uint64_t> calls = {};
  LimitEntry limits = {};
  std::optional<std::uint64_t> memory = {};
  std::optional<double> cpu = {};  // cores
  std::optional<std::vector<ProcessEntry>> processes = {};
  std::vector<SessionEntry> sessions = {};
};

/// A server whose calls are refused.
struct HaltedServer {
  std::string name = {};
  std::string state = {};  // "stopped" by somebody, or "broken": died too often
  std::string why = {};    // how a broken one ended at last
};

struct Overview {
  std::string version;  // of the daemon
  std::int64_t pid = 0;
  std::optional<std::chrono::milliseconds> uptime;
  std::vector<InstanceEntry> instances;
  std::vector<SessionEntry> waiting;  // without an instance: parked, lazy, not open yet; or as its server
  std::vector<HaltedServer> halted;
  std::string only;                // the one server that was asked for; empty = all
  std::vector<std::string> names;  // of all servers that are known, also beside that one
};

/// `server` keeps only what is of that name; empty = everything.
Overview read_overview(const boost::json::value& status, const std::string& server = {});

// ---- how its values are shown, the same everywhere; "-" = not known

std::string shown(const std::string& text);
std::string shown_age(const std::optional<std::chrono::milliseconds>& age);
std::string shown_number(const std::optional<std::uint64_t>& number);
/// "81 MB", "81 MB/512 MB" with a limit.
std::string shown_memory(const InstanceEntry& instance);
/// Cores: 100% is one.
std::string shown_percent(double cores);
/// "50%", "50%/150%" with a limit.
std::string shown_cpu(const InstanceEntry& instance);
/// "3", "3/64"; the keeper is not counted.
std::string shown_processes(const InstanceEntry& instance);
/// Processor time ever used: "0.35s", "12s", "4m 10s".
std::string shown_time(const std::optional<std::chrono::milliseconds>& time);
/// "stale" or "fresh"; of sessions without an instance "parked".
std::string shown_code(const InstanceEntry& instance);
/// "codex 1.2 (pid 812)"; "by URL" where no process is known.
std::string shown_client(const SessionEntry& session);
/// "codex, claude x2": by name only.
std::string shown_clients(const std::vector<SessionEntry>& sessions);
/// Of sessions without an instance: why, and what to do next.
std::string waiting_reason(const Overview& overview, const std::string& server, const std::string& state);
/// "files is stopped; `corral start files` allows it to run".
std::string shown_halt(const HaltedServer& server);
Tone tone_of_state(const std::string& state);
/// Why it is shared or not, without the word that says whether.
std::string shown_reason(const InstanceEntry& instance);

}  // namespace corral::cli
