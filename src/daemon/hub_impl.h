// The inside of the hub, for the files that are its parts: hub.cc (arriving, leaving), hub_verbs.cc (what is
// asked), hub_reload.cc (another configuration).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/guest.h"
#include "daemon/hub.h"
#include "daemon/origin.h"
#include "daemon/owned_sessions.h"
#include "pool/pool.h"

namespace corral::daemon {

inline constexpr int kRefused = 125;  // what a client that gets no server exits with

struct Hub::Impl {
  Impl(Loop& given, config::Configuration first, proc::Spawner& spawner, ReadAgain again,
       Records& given_records);

  Result<std::shared_ptr<const pool::ServerSpec>> wanted(const Origin& origin);
  Origin origin_of(control::Hello& hello);
  void seat(Guests::iterator guest);
  void forget(const session::Session& gone);
  void look_whether_empty();
  void apply_options();

  // what is told
  void tell_detached(const Guest& guest);
  void tell_refused(const std::string& server, const std::string& cause, const std::string& why,
                    pid_t process = 0, const std::string& principal = "user");
  void tell_reload(const std::string& cause, const std::string& text);
  void hear(const events::Event& event);
  void keep_session(const Guest& guest, std::int64_t ended_ms);  // 0 = it is not over
  std::size_t sessions_of(const InstanceId& instance) const;
  std::string broken(const std::string& server) const;
  observe::Snapshot snapshot(const observe::Usage* usage);
  void measured_snapshot(std::function<void(const observe::Snapshot&)> done);

  // what is asked
  std::string too_old(const control::Hello& hello) const;
  void show(const control::Hello& hello, const transport::Answer& answer);
  bool end_guest(const std::string& number, const std::function<void(const SessionEvidence&)>& tell);
  void create_session(transport::Question& question, const transport::Answer& answer);
  void end_session(const transport::Question& question, const transport::Answer& answer);
  void handle_server(const transport::Question& question, const transport::Answer& answer);

  // those who come by HTTP
  Result<Origin> origin_of(const transport::HttpArrival& arrival);
  std::optional<transport::HttpRefusal> objection(const transport::HttpArrival& arrival) const;

  // another configuration
  void redefine_guests(const std::string& server);

  // leaving
  void drain_step();

  std::string why_full(const std::shared_ptr<const pool::ServerSpec>& wanted);

  Loop& loop;
  Shares shares;  // outlives all who hold some
  Records& records;
  config::Configuration configuration;
  ReadAgain read_again;
  std::string configuration_error;  // of the file as it is now; empty = it is in force
  Environments environments;
  ServerSpecs wanteds;
  pool::Pool pool;
  Guests guests;
  std::unordered_map<const session::Session*, Guests::iterator> seats;  // where each guest stands
  std::unordered_map<SessionId, Guests::iterator> by_number;
  OwnedSessions owned;
  IdSource<SessionId> session_ids;
  Origin alone;  // its argv is empty unless there is one server only
  std::function<observe::PidFileView()> pid_file;
  std::string http_url;
  std::string http_unix;
  Clock::time_point started = Clock::now();
  Task empty;
  std::function<void(std::string)> asked_to_stop;

  bool draining = false;
  bool sessions_ended = false;
  bool insisted = false;
  bool drain_over = false;
  Timer drain_timer;
  Clock::time_point drain_until{};
  Ended ended;
  std::vector<std::function<void(Ended)>> drained;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

/// A peer in a sandbox may use what is configured, as it is configured: with its PATH, its folder or its
/// variables it would choose what runs out here.
void forget_premises(control::Hello& hello);

}  // namespace corral::daemon
