// Opens a session: keeps the first request of the client until it is answered, and gives the answers that
// need no instance, from a manifest or because the client cannot wait any longer. Owned by its session, whose
// other parts it uses; called on the loop's thread. It sends to the transport, and never calls the session.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/shares.h"
#include "pool/pool.h"
#include "session/attachment.h"
#include "session/deferred.h"
#include "session/transport.h"
#include "wire/message.h"

namespace corral::session {

/// The facts about the client in its first request. If a legacy client names a revision that corral does not
/// know, the newest legacy revision is agreed.
router::ClientFacts read_client(knowledge::Era era, const wire::Message& message);
/// Whether the client would rather wait for its server than be answered early. Commands of corral would.
bool is_patient(const wire::Message& message);

class Opening {
 public:
  /// The arguments are parts of the session, or outlive it.
  Opening(Transport& transport, pool::Pool& pool, const Attachment& attachment, router::ClientFacts& client,
          router::SessionMemory& memory)
      : transport_(transport), pool_(pool), attachment_(attachment), client_(client), memory_(memory) {}

  /// Keeps the request until it is answered, and counts the facts about the client for as long as the session
  /// lasts. False if the account (null = not counted) has no room; the request is not kept then.
  bool keep(const wire::Message& request, std::size_t introduction, Account* account);
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
  /// Answers the first request without the server. False if that is not possible; nothing is sent then.
  bool answer_early();
  /// Answers a list request before the server is ready: the list is empty, and list_changed will follow.
  void give_early_list(const wire::Message& request);

  /// Whether a modern client has sent only server/discover. It may then still begin again with initialize.
  bool only_greeted() const { return only_greeted_; }
  void asked_for_more() { only_greeted_ = false; }

 private:
  void give_list(const wire::Message& request, router::ListKind kind, std::string_view result,
                 knowledge::Era server_era, std::string_view handshake);

  Transport& transport_;
  pool::Pool& pool_;
  const Attachment& attachment_;
  router::ClientFacts& client_;
  router::SessionMemory& memory_;
  std::unique_ptr<Deferred::Entry> request_;  // until it is answered
  Account::Held introduction_;
  bool cancelled_ = false;
  bool only_greeted_ = true;
};

}  // namespace corral::session
