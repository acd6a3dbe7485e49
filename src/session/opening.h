// Opens a session: keeps the first request of the client until it is answered, and gives the answers that
// need no instance, from a manifest or because the client cannot wait any longer. Owned by its session, whose
// other parts it uses; called on the loop's thread. It sends to the transport, and calls the session only
// through the task of `start_patience`, from a timer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "base/shares.h"
#include "pool/pool.h"
#include "session/attachment.h"
#include "session/deferred.h"
#include "session/transport.h"
#include "wire/message.h"

namespace corral::session {

/// Whether the client would rather wait for its server than be answered early. Commands of corral would.
bool is_patient(const wire::Message& message);

class Opening {
 public:
  /// Parts of the session, or outlive it.
  struct Parts {
    Transport& transport;
    pool::Pool& pool;
    Attachment& attachment;
    Deferred& deferred;
    router::ClientFacts& client;
    router::SessionMemory& memory;
  };
  Opening(Loop& loop, const Parts& parts) : parts_(parts), patience_(loop) {}

  /// The client sends its first request. Keeps it until it is answered, reads the facts about the client, and
  /// counts them for as long as the session lasts. False if the account (null = not counted) has no room; the
  /// request is refused then.
  bool begin(knowledge::Era era, const wire::Message& request, Account* account);
  /// If no instance is open when clients give up, the client is answered without one, and `answered` is
  /// called. Has no effect while that time runs: a client that tries again has waited since its first
  /// request.
  void start_patience(Task answered);
  void stop_patience() { patience_.cancel(); }
  /// Every request of a modern client has the facts about it; the next instance gets the latest ones. If the
  /// account has no room, returns how many bytes they have, and changes nothing.
  std::optional<std::size_t> hear_introduction(const wire::Message& request);
  /// The client cancels the request with this id. If that is the first request, it is not answered, but the
  /// server is opened nevertheless. An initialize request cannot be cancelled.
  void cancel(std::string_view id);
  /// The client sends another first request, which must be answered.
  void want_answer() { cancelled_ = false; }
  /// Returns the request, with the bytes that are held for it. Call it only while `waits()`.
  Deferred::Entry release();

  bool waits() const { return request_ != nullptr; }
  bool cancelled() const { return cancelled_; }

  void answer_initialize(std::string_view id, const std::string& handshake, knowledge::Era server_era);
  void describe_server(std::string_view id, std::string_view handshake, knowledge::Era server_era);
  /// False if the manifest does not have the answer; nothing is sent then.
  bool answer_from_manifest(const wire::Message& request);
  /// Answers a list request before the server is ready: the list is empty, and list_changed will follow.
  void give_early_list(const wire::Message& request);

  /// Whether a modern client has sent only server/discover. It may then still begin again with initialize.
  bool only_greeted() const { return only_greeted_; }
  void asked_for_more() { only_greeted_ = false; }

 private:
  bool keep(const wire::Message& request, std::size_t introduction, Account* account);
  bool answer_early();
  void give_list(const wire::Message& request, router::ListKind kind, std::string_view result,
                 knowledge::Era server_era, std::string_view handshake);

  const Parts parts_;
  Timer patience_;                            // before the client is answered without its server
  std::unique_ptr<Deferred::Entry> request_;  // until it is answered
  Account::Held introduction_;
  bool cancelled_ = false;
  bool only_greeted_ = true;
};

}  // namespace corral::session
