// The status of the daemon, arranged as `corral ps` and `corral top` show it: each instance with its
// sessions, the sessions without an instance, the servers that refuse calls. And how its values are shown.
// The values are those of observe/snapshot.h; `observe::read_status` has made their texts safe for a
// terminal.
#pragma once

#include <boost/json/fwd.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "observe/snapshot.h"

namespace corral::cli {

/// One instance with the sessions that it serves.
struct InstanceRow : observe::InstanceView {
  std::vector<observe::SessionView> served;
};

struct Overview {
  observe::DaemonView daemon;
  std::string url;  // where the daemon accepts clients by URL; empty = nowhere
  std::vector<InstanceRow> instances;
  std::vector<observe::SessionView>
      waiting;  // without an instance; a server that refuses calls gives them its state
  std::vector<observe::ServerView> halted;     // servers that refuse calls
  std::vector<observe::FailureView> failures;  // of the last minutes
  std::vector<observe::SessionObjectView> objects;
  std::string only;                             // the one server that was asked for; empty = all
  std::vector<std::string> names;               // of all known servers, whether or not `only` is set
  std::map<std::string, observe::About> about;  // by the name of the server
  /// Where servers are configured that are not in the daemon's own file: FILE:LINE, by name.
  std::map<std::string, std::string> places;
};

/// Only what belongs to `server`; empty = everything.
Overview overview_of(observe::Snapshot status, const std::string& server = {});
/// The same for the daemon's answer.
Overview read_overview(const boost::json::value& status, const std::string& server = {});

// ---- how its values are shown, the same everywhere; "-" = not known

std::string shown(const std::string& text);
/// "files, memory".
std::string shown_list(const std::vector<std::string>& words);
/// The first eight characters, as in every table.
std::string shown_id(const std::string& instance);
/// 0 = not known.
std::string shown_pid(pid_t pid);
/// "ready"; of an instance that ends if no session comes "idle, ends in 7m".
std::string shown_state(const observe::InstanceView& instance);
std::string shown_age(const std::optional<std::chrono::milliseconds>& age);
std::string shown_number(const std::optional<std::uint64_t>& number);
std::string shown_size(const std::optional<std::uint64_t>& bytes);
/// Nothing if it was not measured.
std::optional<std::uint64_t> memory_of(const observe::InstanceView& instance);
std::optional<double> cpu_of(const observe::InstanceView& instance);
/// "81 MB", "81 MB/512 MB" with a limit.
std::string shown_memory(const observe::InstanceView& instance);
/// Cores: 100% is one.
std::string shown_percent(double cores);
/// "50%", "50%/150%" with a limit.
std::string shown_cpu(const observe::InstanceView& instance);
/// "3", "3/64"; the keeper is not counted.
std::string shown_processes(const observe::InstanceView& instance);
/// Processor time ever used: "0.35s", "12s", "4m 10s".
std::string shown_time(const std::optional<std::chrono::milliseconds>& time);
/// "stale" or "fresh"; of sessions without an instance "parked".
std::string shown_code(const observe::InstanceView& instance);
/// Its id.
std::string shown_session(const observe::SessionView& session);
/// "codex 1.2 (pid 812)"; "by URL" where no process is known.
std::string shown_client(const observe::SessionView& session);
/// "codex, claude x2": by name only.
std::string shown_clients(const std::vector<observe::SessionView>& sessions);
/// Of sessions without an instance: why, and what to do next.
std::string waiting_reason(const Overview& overview, const std::string& server, const std::string& state);
/// "files is stopped; `corral start files` allows it to run".
std::string shown_halt(const observe::ServerView& server);
Tone tone_of_state(const std::string& state);
/// What the configuration says about a server, and which file if it is another one than the daemon's: each
/// text behind the label, or nothing.
void show_about(Page& page, const std::string& label, const Overview& overview, const std::string& server);
/// "codex 1.2 (pid 812), claude x5 (pids 901, 902, 903, 904, 905)"; "-" without sessions.
std::string shown_each_client(const std::vector<observe::SessionView>& sessions);
/// Why there is nothing to show of a name, and which one may be meant: "no server is called 'fils': did you
/// mean files?"
std::string unknown_server(const std::string& name, const std::vector<std::string>& names);
/// Why it is shared or not, without the word that says whether.
std::string shown_reason(const observe::InstanceView& instance);

}  // namespace corral::cli
