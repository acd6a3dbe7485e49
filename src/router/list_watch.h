// Notices when an instance lists something other than its clients have seen: a client that saw the tools of
// the last instance is told if the next one has others.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "knowledge/manifest.h"
#include "router/attached_sessions.h"
#include "router/learner.h"
#include "router/pending_calls.h"

namespace corral::router {

/// The list that a request with this method asks for.
std::optional<ListKind> list_kind_of(std::string_view method);
/// Of the list in the result of such a request, whatever else the result has.
std::size_t list_digest(ListKind kind, std::string_view result);

class ListWatch {
 public:
  /// `sessions` and `learner` outlive it.
  ListWatch(const AttachedSessions& sessions, Learner& learner, Ask ask);

  /// The instance is open. `instance` is its id, which makes digests of incomplete lists differ.
  void opened(knowledge::Era era, std::string_view instance);

  /// The client received this list from an earlier instance: asks this one for it, unless its list is known
  /// already. A modern server may show each client another list, so it is asked for each one.
  void compare(SessionPort& port, ListKind kind);
  /// The answer to what `compare` asked. Sessions whose client has seen another list are told.
  void answered(const Call& call, std::string_view result);
  /// The server answered a client's own request for the first page of this list.
  void given(SessionPort& port, ListKind kind, std::string_view result);
  /// The server says that a list has changed: what was compared is out of date.
  void changed(ChangedList list);

 private:
  struct Listed {
    bool asked = false;
    std::optional<std::size_t> digest;
  };

  std::size_t digest_of(ListKind kind, std::string_view result) const;
  void learn(const SessionPort& port, ListKind kind, std::string_view result);

  const AttachedSessions& sessions_;
  Learner& learner_;
  Ask ask_;
  bool modern_ = false;
  std::size_t instance_hash_ = 0;
  std::array<Listed, kListKinds> listed_{};  // legacy: what this instance lists, where that was compared
};

}  // namespace corral::router
