// What is known about each server, learned from its instances and kept from one daemon to the next. Decides
// whether sessions may share an instance, and what a session can be told without one. Identifies servers by
// their launch key; does not know slots or sessions.
//
// Owned by the pool and used on the loop's thread. Makes no calls to slots or sessions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "instance/handshake.h"
#include "knowledge/manifest_store.h"
#include "knowledge/sharing.h"
#include "pool/server_spec.h"
#include "router/changed_list.h"
#include "router/tool_list.h"

namespace corral::pool {

/// What a session can be told about a server that does not run.
struct Known {
  knowledge::Era era;
  bool shared;
  const knowledge::Portrait* portrait;  // valid until something new is learned
};

class ServerCatalog {
 public:
  explicit ServerCatalog(Loop& loop) : saving_(loop) {}

  /// Where the knowledge is stored between two daemons. The store outlives the catalog; null = not stored.
  void keep_in(knowledge::ManifestStore* store) { store_ = store; }
  /// Saves now. Without this call, new knowledge is saved after a short delay.
  void save();
  /// If very many servers are known (commands that differ in one variable are different servers), saves those
  /// that are not in use and removes them from memory. Invalidates references that were returned.
  void forget_some(const std::function<bool(std::string_view key)>& in_use);
  /// Forgets what is known if the files of the server have changed since. Reads the file system.
  void forget_old_build(const ServerSpec& spec);

  // ---- decisions

  /// The configured or known era; nothing if it is neither.
  std::optional<knowledge::Era> era_of(const ServerSpec& spec);
  knowledge::SharingDecision decide(const Ask& ask);
  /// Whether there is evidence that the server loses nothing when its process ends between two calls.
  bool keeps_no_state(const ServerSpec& spec);
  /// Whether an earlier instance has answered a probe.
  bool answers_probes(const ServerSpec& spec) { return knowledge_of(spec).manifest.answers_probes; }
  /// Whether the knowledge is about this build.
  bool is_known_build(const ServerSpec& spec, const knowledge::Fingerprint& build);
  /// What the session can be told before it needs an instance. Nothing if too little is known.
  std::optional<Known> known(const Ask& ask, const knowledge::SharingDecision& decision);
  /// The last known tools/list result for such a session; empty if none is known. Valid until something new
  /// is learned.
  std::string_view known_tools(const Ask& ask);
  /// Whether the user must still be told how to share this server. True once for each server.
  bool hint_once(const ServerSpec& spec);

  // ---- learning from instances

  /// An open instance: its server, what it answered, and whether several sessions share it.
  struct Source {
    const ServerSpec& spec;
    const instance::Handshake& handshake;
    bool shared;
  };
  /// The instance is open: learns its build, its era and the result of its handshake.
  void learn_build(const Source& source, const knowledge::Fingerprint& build);
  /// The server uses this era: forgets what it showed in the other one.
  void learn_era(const ServerSpec& spec, knowledge::Era era);
  /// What the annotations of all its tools say, as listed by such an instance.
  void learn_annotations(const ServerSpec& spec, knowledge::Sharing sharing, router::ToolEffects tools);
  /// The server sent a request to a client on a shared instance.
  void learn_conversational(const ServerSpec& spec);
  void learn_that_it_answers_probes(const ServerSpec& spec);
  /// The result of a list request, for clients that the server cannot tell apart from this one.
  void learn_list(const Source& source, std::string_view introduction, knowledge::ListKind kind,
                  std::string_view result);
  /// The server says that this list has changed.
  void forget_list(const ServerSpec& spec, router::ChangedList list);

 private:
  struct Knowledge {
    knowledge::Manifest manifest;
    std::string server;  // its name
    bool hinted = false;
    bool contradicts = false;  // a shared instance showed a tool that is not read-only
  };
  Knowledge& knowledge_of(const ServerSpec& spec);
  knowledge::SharingFacts facts_of(const ServerSpec& spec);
  knowledge::Portrait& portrait_of(const Source& source, std::string_view introduction);
  void learned(const std::string& key);

  std::map<std::string, Knowledge, std::less<>> knowledge_;  // by launch key
  knowledge::ManifestStore* store_ = nullptr;
  std::set<std::string> unsaved_;  // launch keys
  Timer saving_;
};

}  // namespace corral::pool
