#include "knowledge/manifest_store.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/log.h"
#include "knowledge/launch_key.h"
#include "version.h"
#include "wire/json_writer.h"

namespace corral::knowledge {
namespace {

using wire::member_text;

// Change the number if an older corral would misread the text. A field that it may ignore needs no new
// number.
constexpr std::string_view kFormat = "1";
constexpr std::array<std::string_view, kListKinds> kListNames = {"tools", "prompts", "resources",
                                                                 "templates"};
constexpr std::size_t kMostFiles = 64;  // in a fingerprint; a real one has a few
// How many arrays and objects of the text enclose them.
constexpr std::size_t kHandshakeDepth = 3;
constexpr std::size_t kListDepth = 4;

/// What a manifest needs around its portraits.
constexpr std::string_view kPortraitsFrame = ",\"portraits\":[]}\n";

constexpr const char* kCorrupt = "is corrupt";

bool is_utf8(const std::string& text) { return wire::string_value(wire::quoted(text)) == text; }

std::string file_text(const FilePrint& file) {
  return wire::JsonObject()
      .text("path", file.path)
      .number("device", file.device)
      .number("inode", file.inode)
      .number("size", file.size)
      .number("modified_ns", file.modified_ns)
      .json();
}

bool fits(const Portrait& portrait) {
  std::size_t size = portrait.handshake.size();
  bool valid = portrait.handshake.empty() || wire::is_strict_object(portrait.handshake, kHandshakeDepth);
  for (const std::string& list : portrait.lists) {
    size += list.size();
    valid = valid && (list.empty() || wire::is_strict_object(list, kListDepth));
  }
  return valid && size <= kLargestPortrait;
}

std::string portrait_text(const std::string& profile, const Portrait& portrait) {
  wire::JsonObject text;
  text.text("profile", profile);
  if (!portrait.handshake.empty()) text.raw("handshake", portrait.handshake);
  wire::JsonObject lists;
  for (std::size_t kind = 0; kind < kListKinds; ++kind) {
    if (!portrait.lists[kind].empty()) lists.raw(kListNames[kind], portrait.lists[kind]);
  }
  return text.raw("lists", lists.json()).json();
}

/// Plain profiles first: shared instances have those, so most sessions use them.
std::vector<const std::pair<const std::string, Portrait>*> by_use(const Manifest& manifest) {
  std::vector<const std::pair<const std::string, Portrait>*> portraits;
  for (const auto& entry : manifest.portraits) portraits.push_back(&entry);
  std::stable_partition(portraits.begin(), portraits.end(),
                        [](const auto* entry) { return entry->first.starts_with("plain"); });
  return portraits;
}

template <class Number>
bool read_number(std::string_view json, Number& number) {
  const char* const end = json.data() + json.size();
  const auto [stop, error] = std::from_chars(json.data(), end, number);
  return error == std::errc() && stop == end;
}

bool read_text(std::string_view json, std::string& text) {
  std::optional<std::string> value = wire::string_value(json);
  if (!value) return false;
  text = std::move(*value);
  return true;
}

/// One that is not there stays as it is.
template <class Flag>
bool read_flag(std::string_view json, Flag& flag) {
  if (json.empty()) return true;
  flag = json == "true";
  return json == "true" || json == "false";
}

bool read_object(std::string_view json, std::string& text) {
  if (json.empty()) return true;
  text = json;
  return json.starts_with('{');
}

bool read_file(std::string_view json, FilePrint& file) {
  return read_text(member_text(json, "path"), file.path) && file.path.starts_with('/') &&
         is_utf8(file.path) && read_number(member_text(json, "device"), file.device) &&
         read_number(member_text(json, "inode"), file.inode) &&
         read_number(member_text(json, "size"), file.size) &&
         read_number(member_text(json, "modified_ns"), file.modified_ns);
}

bool read_fingerprint(std::string_view json, Fingerprint& fingerprint) {
  const auto elements = wire::array_elements(json, kMostFiles);
  if (!elements || elements->size() > kMostFiles) return false;
  for (const wire::Span& element : *elements) {
    if (!read_file(element.in(json), fingerprint.files.emplace_back())) return false;
  }
  return true;
}

bool read_portrait(std::string_view json, std::string& profile, Portrait& portrait) {
  const std::string_view lists = member_text(json, "lists");
  if (!read_text(member_text(json, "profile"), profile) || !is_utf8(profile)) return false;
  if (!read_object(member_text(json, "handshake"), portrait.handshake) || !lists.starts_with('{'))
    return false;
  for (std::size_t kind = 0; kind < kListKinds; ++kind) {
    if (!read_object(member_text(lists, kListNames[kind]), portrait.lists[kind])) return false;
  }
  return fits(portrait);
}

bool read_portraits(std::string_view json, Manifest& manifest) {
  const auto elements = wire::array_elements(json, kMostPortraits);
  if (!elements || elements->size() > kMostPortraits) return false;
  for (const wire::Span& element : *elements) {
    std::string profile;
    Portrait portrait;
    if (!read_portrait(element.in(json), profile, portrait)) return false;
    if (!manifest.portraits.emplace(std::move(profile), std::move(portrait)).second) return false;
  }
  return true;
}

/// The known direct members, as JSON.
struct Pieces {
  std::string_view format;
  std::string_view modern;
  std::string_view read_only;
  std::string_view conversational;
  std::string_view answers_probes;
  std::string_view fingerprint;
  std::string_view portraits;
};

/// Also proves that the whole text is strict JSON.
bool take_apart(const std::string& text, Pieces& pieces) {
  if (!wire::is_strict_object(text)) return false;
  return wire::each_member(text, [&](std::string_view key, wire::Member member) {
    const std::string_view value = member.value.in(text);
    if (key == "format") pieces.format = value;
    if (key == "modern") pieces.modern = value;
    if (key == "read_only") pieces.read_only = value;
    if (key == "conversational") pieces.conversational = value;
    if (key == "answers_probes") pieces.answers_probes = value;
    if (key == "fingerprint") pieces.fingerprint = value;
    if (key == "portraits") pieces.portraits = value;
  });
}

}  // namespace

std::string manifest_text(const std::string& server, const Manifest& manifest) {
  const std::vector<FilePrint>& files = manifest.fingerprint.files;
  if (std::any_of(files.begin(), files.end(), [](const FilePrint& file) { return !is_utf8(file.path); })) {
    return {};
  }
  wire::JsonObject text;
  text.raw("format", kFormat).text("corral", kVersion).text("server", server);
  if (manifest.modern) text.flag("modern", *manifest.modern);
  if (manifest.read_only) text.flag("read_only", *manifest.read_only);
  text.flag("conversational", manifest.conversational);
  text.flag("answers_probes", manifest.answers_probes);
  text.raw("fingerprint", wire::array_of(files, file_text));
  wire::JsonArray portraits;
  std::size_t size = text.size() + kPortraitsFrame.size();
  std::size_t count = 0;
  for (const auto* entry : by_use(manifest)) {
    if (count == kMostPortraits) break;
    if (!is_utf8(entry->first) || !fits(entry->second)) continue;
    const std::string portrait = portrait_text(entry->first, entry->second);
    if (size + portrait.size() > kLargestManifest) continue;
    portraits.raw(portrait);
    size += portrait.size() + 1;  // and a comma
    ++count;
  }
  return text.raw("portraits", portraits.json()).json() + "\n";
}

std::optional<Manifest> parse_manifest(const std::string& text, std::string& why) {
  Pieces pieces;
  why = kCorrupt;
  if (text.size() > kLargestManifest || !take_apart(text, pieces)) return std::nullopt;
  if (pieces.format != kFormat) {
    why = pieces.format.empty() ? "is not a manifest of corral" : "has the format of another version";
    return std::nullopt;
  }
  Manifest manifest;
  const bool read = read_flag(pieces.modern, manifest.modern) &&
                    read_flag(pieces.read_only, manifest.read_only) &&
                    read_flag(pieces.conversational, manifest.conversational) &&
                    read_flag(pieces.answers_probes, manifest.answers_probes) &&
                    read_fingerprint(pieces.fingerprint, manifest.fingerprint) &&
                    read_portraits(pieces.portraits, manifest);
  if (!read) return std::nullopt;
  why.clear();
  return manifest;
}

Manifest ManifestStore::load(const std::string& key) const {
  if (registry_ == nullptr) return {};
  const std::string digest = name_digest(key);
  const std::optional<std::string> text = registry_->manifest(digest);
  if (!text) return {};
  std::string why;
  if (std::optional<Manifest> manifest = parse_manifest(*text, why)) return std::move(*manifest);
  if (warned_.insert(digest).second) {
    log_line("what was known about a server (" + digest + ") is learned again, because it " + why);
  }
  return {};
}

void ManifestStore::save(const std::string& key, const std::string& server, const Manifest& manifest) {
  const std::string text = registry_ == nullptr ? std::string() : manifest_text(server, manifest);
  if (!text.empty()) registry_->keep_manifest(name_digest(key), server, text);
}

}  // namespace corral::knowledge
