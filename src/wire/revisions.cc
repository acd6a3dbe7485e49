#include "wire/revisions.h"

#include "wire/json_text.h"

namespace corral::wire {
namespace {

constexpr bool in_order() {
  for (std::size_t i = 1; i < kRevisions.size(); ++i) {
    if (kRevisions[i - 1].date >= kRevisions[i].date || kRevisions[i - 1].era > kRevisions[i].era)
      return false;
  }
  return true;
}
static_assert(in_order(), "oldest first, and the modern revisions after the legacy ones");

}  // namespace

std::string revisions_in_words() {
  std::string text;
  for (std::size_t i = 0; i < kRevisions.size(); ++i) {
    if (i > 0) text += i + 1 == kRevisions.size() ? " and " : ", ";
    text += kRevisions[i].date;
  }
  return text;
}

std::string unsupported_version_data(std::string_view requested) {
  std::string supported;
  for (const Revision& revision : kRevisions) {
    if (revision.era != Era::Modern) continue;
    supported.append(supported.empty() ? "" : ",").append(quoted(revision.date));
  }
  return R"({"supported":[)" + supported + R"(],"requested":)" + std::string(requested) + "}";
}

}  // namespace corral::wire
