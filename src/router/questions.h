// The requests that a server sends to its client ("questions"), under ids that are unique on the client's
// side. Over one pipe nothing links a question to the call that caused it. A private server has only one
// client to ask; a shared one was told that its clients can do nothing, and is refused if it asks anyway.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "base/id.h"
#include "router/attached_sessions.h"
#include "router/learner.h"
#include "router/router_options.h"
#include "wire/message.h"

namespace corral::router {

class Questions {
 public:
  /// How the server is reached.
  struct Server {
    std::function<bool()> congested;  // it does not read what is sent
    std::function<void(const wire::Line& line, std::initializer_list<wire::Edit> edits)> send;
  };

  /// The references outlive it.
  Questions(const RouterOptions& options, const AttachedSessions& sessions, RouterCounters& counters,
            Learner& learner, Server server);

  /// The server sent a request. It is passed to the client, or answered here.
  void asked(const wire::Message& request);
  /// The client answered. An answer to a question that is not open is dropped, counted and noted.
  void answered(SessionPort& port, const wire::Message& response);
  /// The server sent notifications/cancelled. True if that names an open question; its client is told.
  bool withdrawn(const wire::Message& notification);
  /// The server ends: clients need not work on answers for it any more.
  void take_back();
  /// The client of this session sends nothing more: from now on questions are answered without it, because
  /// calls that wait for them would delay the end of the session.
  void client_silent(SessionPort& port);
  /// The server reads again.
  void server_reads() { unread_replies_ = 0; }

  /// How many wait for their client.
  std::size_t size() const { return open_.size(); }

 private:
  /// How a question is answered when its client cannot. The method is not kept: a server may make it as long
  /// as it likes.
  enum class Kind : std::uint8_t { Elicitation, Other };
  struct Question {
    std::string id;  // as the server wrote it
    Kind kind;
  };

  static Kind kind_of(std::string_view method);
  void reply(const std::string& message);
  void answer_for_client(std::string_view id, Kind kind);

  const RouterOptions& options_;
  const AttachedSessions& sessions_;
  RouterCounters& counters_;
  Learner& learner_;
  Server server_;
  std::map<QuestionId, Question> open_;
  bool client_silent_ = false;
  std::size_t unread_replies_ = 0;  // replies queued for a server that does not read
};

}  // namespace corral::router
