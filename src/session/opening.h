// How a session is opened: the first request of its client, kept until it is answered, and the answers that
// need no instance, from a manifest or because the client cannot wait any longer. Owned by its session, whose
// other parts it uses.
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

/// What a first request says of its client. A legacy client that names a revision that corral does not know
/// is told the newest one.
router::ClientFacts read_client(knowledge::Era era, const wire::Message& message);
/// Commands of corral would rather wait for their server than be greeted early.
bool is_patient(const wire::Message& message);

class Opening {
 public:
  /// All of these are parts of the session, or outlive it.
  Opening(Transport& transport, pool::Pool& pool, const Attachment& attachment, router::ClientFacts& client,
          router::SessionMemory& memory)
      : transport_(transport), pool_(pool), attachment_(attachment), client_(client), memory_(memory) {}

  /// Keeps the request until it is answered, and counts what it says of its client for as long as the session
  /// lasts. False if the account (null = none) cannot hold it: it is not kept then.
  bool keep(const wire::Message& request, std::size_t introduction, Account* account);
  /// A later request of a modern client introduces it again, and the next instance hears the latest words.
  /// Returns how many bytes that would be if the account cannot hold them; nothing is changed then.
  std::optional<std::size_t> hear_introduction(const wire::Message& request);
  /// The client cancels the request with this id. If it is this one, it gets no answer, but the server is
  /// opened all the same. An initialize request cannot be cancelled.
  void cancel(std::string_view id);
  /// The client sends another first request, and wants its answer.
  void want_answer() { cancelled_ = false; }
  /// Hands the request over, with the bytes that are held for it. Call only while it waits.
  Deferred::Entry release();

  bool waits() const { return request_ != nullptr; }
  bool cancelled() const { return cancelled_; }

  void answer_initialize(std::string_view id, const std::string& handshake, knowledge::Era server_era);
  void describe_server(std::string_view id, std::string_view handshake, knowledge::Era server_era);
  /// Whether the request could be answered so.
  bool answer_from_manifest(const wire::Message& request);
  /// Answers the opening request without the server, if it is one that can be answered so.
  bool answer_early();
  /// Answers a request for a list before the server is there: the list is empty, and news will follow.
  void give_early_list(const wire::Message& request);

  /// A modern client that has asked for nothing but server/discover may still begin with initialize.
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
