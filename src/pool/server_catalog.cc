#include "pool/server_catalog.h"

#include <utility>

#include "base/log.h"
#include "knowledge/introduction.h"
#include "knowledge/known_servers.h"

namespace corral::pool {

using knowledge::Era;
using knowledge::ListKind;
using knowledge::Sharing;
using knowledge::sharing_of;

namespace {

constexpr std::chrono::milliseconds kBeforeSaving{100};
constexpr std::size_t kMostKnown = 256;

/// A shared legacy server was opened without the capabilities of any client.
std::string profile_for(Era era, Sharing sharing, std::string_view introduction) {
  const bool plain = sharing == Sharing::Shared && era == Era::Legacy;
  return knowledge::profile_of(era, plain ? instance::plain_initialize_params() : introduction);
}

}  // namespace

ServerCatalog::Knowledge& ServerCatalog::knowledge_of(const ServerSpec& spec) {
  const auto found = knowledge_.find(spec.key);
  if (found != knowledge_.end()) return found->second;
  Knowledge& known = knowledge_[spec.key];
  known.server = spec.server;
  if (store_ != nullptr) known.manifest = store_->load(spec.key);
  return known;
}

// ---- storing and forgetting

void ServerCatalog::learned(const std::string& key) {
  if (store_ == nullptr) return;
  unsaved_.insert(key);
  if (!saving_.running()) saving_.start(kBeforeSaving, [this] { save(); });
}

void ServerCatalog::save() {
  for (const std::string& key : std::exchange(unsaved_, {})) {
    const auto found = knowledge_.find(key);
    if (found != knowledge_.end()) store_->save(key, found->second.server, found->second.manifest);
  }
}

void ServerCatalog::forget_some(const std::function<bool(std::string_view key)>& in_use) {
  if (knowledge_.size() < kMostKnown) return;
  save();
  std::erase_if(knowledge_, [&in_use](const auto& known) { return !in_use(known.first); });
}

void ServerCatalog::forget_old_build(const ServerSpec& spec) {
  Knowledge& known = knowledge_of(spec);
  if (spec.entry.on_change == config::OnChange::Ignore) return;
  const auto changed = knowledge::what_changed(known.manifest.fingerprint);
  if (!changed) return;
  log_line("server " + spec.server + ": " + *changed + "; what was known about it is learned again");
  known.manifest = {};
  known.contradicts = false;
}

// ---- decisions

std::optional<Era> ServerCatalog::era_of(const ServerSpec& spec) {
  if (const auto era = configured_era(spec)) return era;
  const std::optional<bool> modern = knowledge_of(spec).manifest.modern;
  if (!modern) return std::nullopt;
  return *modern ? Era::Modern : Era::Legacy;
}

knowledge::SharingFacts ServerCatalog::facts_of(const ServerSpec& spec) {
  return {
      .server = spec.server,
      .wanted = spec.entry.share,
      .root = spec.root,
      .from_configuration = spec.from_configuration,
      .stateless_by_configuration = spec.entry.stateless,
      .known = spec.known,
      .shown = static_cast<const knowledge::Conduct&>(knowledge_of(spec).manifest),
      .era = era_of(spec).value_or(Era::Legacy),
  };
}

/// A session that asks again does not change between shared and private: its client relies on what the server
/// declared.
knowledge::SharingDecision ServerCatalog::decide(const Ask& ask) {
  knowledge::SharingDecision decision = decide_sharing(facts_of(*ask.spec));
  if (!ask.shared || *ask.shared == decision.shared) return decision;
  decision.shared = *ask.shared;
  decision.confirm_annotations = false;
  decision.confirm_modern = false;
  decision.reason = knowledge::reason_for(sharing_of(*ask.shared), "as it was when the session began");
  return decision;
}

bool ServerCatalog::keeps_no_state(const ServerSpec& spec) {
  return knowledge::keeps_no_state(facts_of(spec));
}

bool ServerCatalog::is_known_build(const ServerSpec& spec, const knowledge::Fingerprint& build) {
  return build == knowledge_of(spec).manifest.fingerprint;
}

std::optional<Known> ServerCatalog::known(const Ask& ask, const knowledge::SharingDecision& decision) {
  const ServerSpec& spec = *ask.spec;
  const knowledge::Manifest& manifest = knowledge_of(spec).manifest;
  const auto era = era_of(spec);
  // Without a fingerprint a change to the code would go unnoticed.
  if (!era || manifest.fingerprint.files.empty()) return std::nullopt;
  const auto found =
      manifest.portraits.find(profile_for(*era, sharing_of(decision.shared), ask.initialize_params));
  if (found == manifest.portraits.end() || found->second.handshake.empty()) return std::nullopt;
  // If the version of the server will be refused, the session must be told at once, not later.
  if (!knowledge::objection_to_version(spec.server, found->second.handshake, spec.entry.min_version).empty())
    return std::nullopt;
  return Known{*era, decision.shared, &found->second};
}

std::string_view ServerCatalog::known_tools(const Ask& ask) {
  const auto era = era_of(*ask.spec);
  if (!era) return {};
  const auto& portraits = knowledge_of(*ask.spec).manifest.portraits;
  const auto found = portraits.find(profile_for(*era, sharing_of(decide(ask).shared), ask.initialize_params));
  if (found == portraits.end()) return {};
  return found->second.lists[static_cast<std::size_t>(ListKind::Tools)];
}

bool ServerCatalog::hint_once(const ServerSpec& spec) {
  return !std::exchange(knowledge_of(spec).hinted, true);
}

// ---- learning from instances

/// The portrait of the server as clients that say this of themselves see it.
knowledge::Portrait& ServerCatalog::portrait_of(const Source& source, std::string_view introduction) {
  const std::string profile = profile_for(source.handshake.era(), sharing_of(source.shared), introduction);
  auto& portraits = knowledge_of(source.spec).manifest.portraits;
  // Clients choose what they say of themselves: no more is kept than a file takes.
  if (!portraits.contains(profile) && portraits.size() >= knowledge::kMostPortraits) {
    portraits.erase(portraits.begin());
  }
  knowledge::Portrait& portrait = portraits[profile];
  portrait.handshake = source.handshake.result();
  return portrait;
}

void ServerCatalog::learn_build(const Source& source, const knowledge::Fingerprint& build) {
  knowledge::Manifest& manifest = knowledge_of(source.spec).manifest;
  if (!(manifest.fingerprint == build)) {
    if (!manifest.fingerprint.files.empty()) manifest.portraits.clear();
    manifest.fingerprint = build;
  }
  learn_era(source.spec, source.handshake.era());
  portrait_of(source, source.handshake.initialize_params());
  learned(source.spec.key);
}

void ServerCatalog::learn_era(const ServerSpec& spec, Era era) {
  knowledge::Manifest& manifest = knowledge_of(spec).manifest;
  const bool modern = era == Era::Modern;
  if (manifest.modern == modern) return;
  manifest.portraits.clear();
  manifest.modern = modern;
  learned(spec.key);
}

void ServerCatalog::learn_annotations(const ServerSpec& spec, knowledge::Sharing sharing,
                                      router::ToolEffects tools) {
  Knowledge& known = knowledge_of(spec);
  const bool read_only = tools == router::ToolEffects::ReadOnly;
  // What a shared instance shows is what counts; a private one may show fewer tools.
  if (sharing == knowledge::Sharing::Shared && !read_only) known.contradicts = true;
  known.manifest.read_only = read_only && !known.contradicts;
  learned(spec.key);
}

void ServerCatalog::learn_conversational(const ServerSpec& spec) {
  if (std::exchange(knowledge_of(spec).manifest.conversational, true)) return;
  learned(spec.key);
  log_line("server " + spec.server +
           " sent a request to a client on a shared instance and was refused; new sessions get instances of "
           "their own");
}

void ServerCatalog::learn_that_it_answers_probes(const ServerSpec& spec) {
  knowledge_of(spec).manifest.answers_probes = true;
  learned(spec.key);
}

void ServerCatalog::learn_list(const Source& source, std::string_view introduction, ListKind kind,
                               std::string_view result) {
  std::string& list = portrait_of(source, introduction).lists[static_cast<std::size_t>(kind)];
  if (list == result) return;
  list = result.size() <= knowledge::kLargestPortrait ? result : "";
  learned(source.spec.key);
}

void ServerCatalog::forget_list(const ServerSpec& spec, router::ChangedList list) {
  for (auto& [profile, portrait] : knowledge_of(spec).manifest.portraits) {
    const auto forget = [&lists = portrait.lists](ListKind kind) {
      lists[static_cast<std::size_t>(kind)].clear();
    };
    switch (list) {
      case router::ChangedList::Tools: forget(ListKind::Tools); break;
      case router::ChangedList::Prompts: forget(ListKind::Prompts); break;
      case router::ChangedList::Resources:
        forget(ListKind::Resources);
        forget(ListKind::Templates);
        break;
    }
  }
  learned(spec.key);
}

}  // namespace corral::pool
