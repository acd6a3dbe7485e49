// Which content of a result a client of some revision understands, and what replaces the rest.
#pragma once

#include <string_view>
#include <vector>

#include "bridge/changes.h"

namespace corral::bridge {

struct Vocabulary {
  bool audio = true;
  bool resource_links = true;
  bool structured = true;      // structured content and output schemas …
  bool any_structure = true;   // … of any type, not only objects
  bool modern_members = true;  // resultType, ttlMs, cacheScope

  bool complete() const { return audio && resource_links && structured && any_structure && modern_members; }
};

/// What a client of this legacy revision may not understand in a legacy server's messages.
Vocabulary legacy_vocabulary(std::string_view version);

/// The changes that a result of `method` (valid JSON) needs for such a client, in order of position.
std::vector<Change> result_changes(std::string_view method, std::string_view result,
                                   const Vocabulary& vocabulary);

}  // namespace corral::bridge
