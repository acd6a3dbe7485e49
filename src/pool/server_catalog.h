// What is known of each server: what its instances have shown, learned from them and kept from one daemon to
// the next. Decides from it whether sessions may share an instance, and what a session can be told without
// one. Knows servers by their launch key; knows neither slots nor sessions.
//
// Owned by the pool, belongs to the loop's thread, calls nobody back.
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

/// What can be told of a server without starting it.
struct Known {
  knowledge::Era era;
  bool shared;
  const knowledge::Portrait* portrait;  // until something new is learned
};

class ServerCatalog {
 public:
  explicit ServerCatalog(Loop& loop) : saving_(loop) {}

  /// Where what is learned outlives the daemon. The store outlives the catalog; null = nowhere.
  void keep_in(knowledge::ManifestStore* store) { store_ = store; }
  /// Saves what was learned at once. Otherwise it is saved a moment after it was learned.
  void save();
  /// Commands that differ in one variable are different servers: beyond a number of them, those that are not
  /// in use are saved and forgotten here. References that were given out are then no longer valid.
  void forget_some(const std::function<bool(std::string_view key)>& in_use);
  /// What another build has shown says nothing of this one. Reads the files of the server.
  void forget_old_build(const ServerSpec& spec);

  // ---- what follows from it

  /// Nothing if it is neither configured nor known.
  std::optional<knowledge::Era> era_of(const ServerSpec& spec);
  knowledge::SharingDecision decide(const Ask& ask);
  /// Whether there is evidence that nothing is lost when its process ends between two calls.
  bool keeps_no_state(const ServerSpec& spec);
  /// Whether an earlier instance has answered a probe.
  bool answers_probes(const ServerSpec& spec) { return knowledge_of(spec).manifest.answers_probes; }
  /// Whether this is the build that is known.
  bool is_known_build(const ServerSpec& spec, const knowledge::Fingerprint& build);
  /// What a session may be told before it needs an instance. Nothing if too little is known.
  std::optional<Known> known(const Ask& ask, const knowledge::SharingDecision& decision);
  /// The last tools/list result that such a session got, until something new is learned; empty if none is
  /// known.
  std::string_view known_tools(const Ask& ask);
  /// True once for each server: whether its hint is still to be given.
  bool hint_once(const ServerSpec& spec);

  // ---- what instances teach

  /// An open instance: its server, what it answered, and whether several sessions share it.
  struct Source {
    const ServerSpec& spec;
    const instance::Handshake& handshake;
    bool shared;
  };
  /// Which build it is, which era it speaks and what it answered, once it is open.
  void learn_build(const Source& source, const knowledge::Fingerprint& build);
  /// What the server showed in the other era says nothing of this one.
  void learn_era(const ServerSpec& spec, knowledge::Era era);
  /// What the annotations of its tools say, as such an instance listed them.
  void learn_annotations(const ServerSpec& spec, knowledge::Sharing sharing, router::ToolEffects tools);
  /// It asked a client something on a shared instance.
  void learn_conversational(const ServerSpec& spec);
  void learn_that_it_answers_probes(const ServerSpec& spec);
  /// What it showed to clients that say the same of themselves as this one.
  void learn_list(const Source& source, std::string_view introduction, knowledge::ListKind kind,
                  std::string_view result);
  /// The server says that this list is another one now.
  void forget_list(const ServerSpec& spec, router::ChangedList list);

 private:
  struct Knowledge {
    knowledge::Manifest manifest;
    std::string server;  // its name
    bool hinted = false;
    bool refuted = false;  // a shared instance showed a tool that is not read-only
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
