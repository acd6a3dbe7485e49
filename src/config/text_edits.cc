#include "config/text_edits.h"

#include <algorithm>

namespace corral::config {

std::string applied(const std::string& text, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    result.append(text, at, edit.begin - at).append(edit.text);
    at = edit.end;
  }
  return result.append(text, at);
}

std::string newline_of(const std::string& text) {
  const std::size_t end = text.find('\n');
  return end != std::string::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

std::size_t line_start(const std::string& text, std::size_t at) {
  const std::size_t end = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return end == std::string::npos ? 0 : end + 1;
}

std::string indent_of(const std::string& text, std::size_t at) {
  const std::size_t start = line_start(text, at);
  const std::size_t end = std::min(text.find_first_not_of(" \t", start), text.size());
  return text.substr(start, end - start);
}

bool begins_its_line(const std::string& text, std::size_t at) {
  return text.find_first_not_of(" \t", line_start(text, at)) == at;
}

}  // namespace corral::config
