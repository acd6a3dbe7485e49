// The open HTTP sessions of all principals: finds the session of a request, and ends sessions that are
// unused, no longer allowed, or whose client process has exited. Must be used on the loop's thread.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/lifetime.h"
#include "transport/http_session.h"
#include "transport/http_session_opener.h"
#include "transport/owner_finder.h"
#include "transport/process_lease.h"

namespace corral::transport {

class HttpSessions {
 public:
  /// One session, and what keeps it alive. Its address is stable; it is valid until the loop runs again.
  struct Entry {
    Account::Held place;  // outlives the session, which also counts what it holds
    std::unique_ptr<HttpSession> session;
    std::string principal;
    std::string server;
    std::string root;                       // as named at the beginning
    std::string group;                      // modern
    std::vector<std::string> capabilities;  // modern: those that its instance was told about
    Clock::time_point last_used = Clock::now();
    std::list<std::string>::iterator turn;  // in `by_use_` of its principal
    std::unique_ptr<ProcessLease> lease;    // while it is bound to a process, or may become so
  };

  /// All of them must outlive the sessions. The destructor ends all sessions.
  HttpSessions(Loop& loop, HttpSessionOpener& opener, OwnerFinder& finder, Clock::duration idle);
  HttpSessions(const HttpSessions&) = delete;

  /// Opens a session under this key, or says why it cannot be opened. A principal at its limit gets it in
  /// place of an unused session.
  std::variant<Entry*, HttpRefusal> open(const std::string& key, const HttpArrival& arrival,
                                         std::unique_ptr<HttpSession> session);
  /// For the session with this key to call when it is done: removes it.
  HttpSession::Gone forgets(const std::string& key);

  /// Null if there is none. The session of another principal or server is not found. Counts as use.
  Entry* find(const std::string& key, const HttpArrival& arrival);

  /// Adds a modern session to its group: sessions that the same requests may use.
  void add_to_group(Entry& entry, const std::string& key, const std::string& group);
  /// A session of the group for a client with these capabilities; null if a new one must be opened.
  Entry* find_in(const std::string& group, const HttpArrival& arrival,
                 const std::vector<std::string>& capabilities);
  /// Whether a session of the group has that many requests open.
  bool crowded(const std::string& group, std::size_t open_requests) const;

  /// The session may belong to one process: records a message from this peer. Has no effect if `may_bind` was
  /// not called.
  void message_from(Entry& entry, const http::Peer& peer);
  /// From now on, messages decide whether the session ends with a process.
  void may_bind(Entry& entry);
  /// The session ends with this process.
  void bind(Entry& entry, const Owner& owner);

 private:
  bool may_go_on(const std::string& key, const Entry& entry, HttpArrival arrival);
  void withdraw(const std::string& key, const std::string& why);
  std::optional<Account::Held> place_for(const std::string& principal);
  bool end_unused_of(const std::string& principal);
  void forget(const std::string& key);
  void watch_idle();
  void end_idle();

  Loop& loop_;
  HttpSessionOpener& opener_;
  OwnerFinder& finder_;
  const Clock::duration idle_;
  std::unordered_map<std::string, Entry> entries_;  // by Mcp-Session-Id, or a key that no client knows
  std::unordered_map<std::string, std::list<std::string>>
      by_use_;  // keys by principal, least recently used first
  std::unordered_map<std::string, std::vector<std::string>> groups_;  // keys of modern sessions
  Timer expiry_;
  Lifetime lifetime_;
};

}  // namespace corral::transport
