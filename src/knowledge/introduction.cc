#include "knowledge/introduction.h"

#include <compare>
#include <set>

#include "base/version_order.h"
#include "knowledge/launch_key.h"
#include "wire/json_text.h"

namespace corral::knowledge {
namespace {

using wire::member_text;

// Real profiles have about 60 bytes. They are keys of maps and are written to files, so their length is
// limited.
constexpr std::size_t kLongest = 512;
constexpr std::size_t kMostExtensions = 32;
constexpr std::size_t kLongestVersion = 100;  // for display

bool declares(std::string_view capabilities, std::string_view name) {
  return member_text(capabilities, name).starts_with('{');
}

/// `{}` means forms, because older revisions have only forms.
void add_elicitation(std::string_view capabilities, std::set<std::string>& words) {
  const std::string_view elicitation = member_text(capabilities, "elicitation");
  if (!elicitation.starts_with('{')) return;
  const bool url = declares(elicitation, "url");
  if (declares(elicitation, "form") || !url) words.insert("elicitation.form");
  if (url) words.insert("elicitation.url");
}

/// The names are quoted, because they may contain any character, including the separator of profiles.
void add_extensions(std::string_view capabilities, std::set<std::string>& words) {
  const std::string_view extensions = member_text(capabilities, "extensions");
  std::set<std::string> names;
  bool too_many = false;
  wire::each_member(extensions, [&](std::string_view name, wire::Member) {
    if (too_many) return;
    names.insert("ext:" + wire::quoted(name.substr(0, kLongest + 1)));
    too_many = names.size() > kMostExtensions || name.size() > kLongest;
  });
  if (too_many) names = {"ext:" + name_digest(extensions)};
  words.merge(names);
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : "+").append(word);
  return text.empty() ? "plain" : text;
}

/// The date of a revision; any other text is quoted.
std::string revision_in(std::string_view initialize_params) {
  const std::string_view written = member_text(initialize_params, "protocolVersion");
  std::string version = wire::string_value(written).value_or("");
  if (version.empty() || wire::is_legacy_version(version)) return version;
  return wire::quoted(version);
}

}  // namespace

std::string profile_of(Era era, std::string_view initialize_params) {
  const std::string_view capabilities = member_text(initialize_params, "capabilities");
  std::set<std::string> words;
  const std::string_view sampling = member_text(capabilities, "sampling");
  if (sampling.starts_with('{')) {
    words.insert("sampling");
    if (declares(sampling, "tools")) words.insert("sampling.tools");
  }
  if (declares(capabilities, "roots")) words.insert("roots");
  add_elicitation(capabilities, words);
  add_extensions(capabilities, words);

  std::string profile = joined(words);
  if (era == Era::Legacy) {
    const std::string revision = revision_in(initialize_params);
    if (!revision.empty()) profile += " " + revision;
  }
  return profile.size() <= kLongest ? profile : "digest " + name_digest(profile);
}

std::string client_name(std::string_view initialize_params) {
  const std::string_view info = member_text(initialize_params, "clientInfo");
  return wire::string_value(member_text(info, "name")).value_or("");
}

std::string version_in(std::string_view handshake_result) {
  std::string_view info = wire::member_text(handshake_result, "serverInfo");
  if (info.empty()) {
    const std::string_view meta = wire::member_text(handshake_result, "_meta");
    info = wire::member_text(meta, "io.modelcontextprotocol/serverInfo");
  }
  return wire::string_member(info, "version").value_or("").substr(0, kLongestVersion);
}

std::string objection_to_version(const std::string& server, std::string_view handshake_result,
                                 const std::string& least) {
  if (least.empty()) return {};
  const std::string version = version_in(handshake_result);
  const auto order = compare_versions(version, least);
  if (order && std::is_gteq(*order)) return {};
  const std::string cause = version.empty() ? " does not report its version"
                            : order         ? " is version " + version
                                            : " reports a version that cannot be compared, " + version;
  return "server " + server + cause + ", and \"min_version\" in the configuration asks for " + least +
         " or later: update the server, or lower \"min_version\"";
}

}  // namespace corral::knowledge
