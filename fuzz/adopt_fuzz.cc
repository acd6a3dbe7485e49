// Files of clients in both formats: what corral puts in front of their servers is what a parser finds there,
// and taking it away gives back the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "adopt/client_file.h"
#include "adopt/wrapping.h"
#include "config/toml_places.h"
#include "known/config_text.h"

namespace {

using namespace corral;

void round_trip(const std::string& text, known::ConfigFormat format, const char* table, const char* client) {
  const known::ConfigText before = known::parse_config(text, format);
  if (!before.error.empty()) return;
  std::vector<config::Edit> edits;
  std::vector<adopt::Expected> expected;
  std::vector<adopt::Undo> undo;
  for (const adopt::EntryText& entry : adopt::find_entries({text, before.value, format}, table)) {
    const adopt::Judgement judged =
        adopt::judge(entry, {*known::find_client(client), known::ConfigScope::User, adopt::Through::Connect});
    if (judged.verdict != adopt::Verdict::Wrap) continue;
    const adopt::Front front{"/usr/bin/corral", judged.words};
    const adopt::Wrapped wrapped = adopt::wrap(text, format, entry, front);
    edits.insert(edits.end(), wrapped.edits.begin(), wrapped.edits.end());
    expected.push_back({entry.keys, adopt::wrapped_value(entry, front)});
    undo.push_back({front.words.size(), entry.arguments, wrapped.last_line});
  }
  if (edits.empty()) return;
  const std::string adopted = config::applied(text, edits);
  // A text that the places do not fit is refused, and the file stays as it is.
  if (!adopt::check_change(before.value, expected, adopted, format)) return;

  const known::ConfigText now = known::parse_config(adopted, format);
  std::vector<config::Edit> back;
  std::size_t known = 0;
  for (const adopt::EntryText& entry : adopt::find_entries({adopted, now.value, format}, table)) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].keys != entry.keys) continue;
      const Result<std::vector<config::Edit>> undone = adopt::unwrap(adopted, entry, undo[i]);
      if (!undone) abort();
      back.insert(back.end(), undone->begin(), undone->end());
      ++known;
    }
  }
  if (known != expected.size() || config::applied(adopted, back) != text) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  config::find_toml_tables(text);  // must also survive what is not TOML
  config::find_inline_members(text, 0);
  config::find_toml_elements(text, 0);
  config::find_elements(text, 0);
  round_trip(text, known::ConfigFormat::Json, "mcpServers", "cursor");
  round_trip(text, known::ConfigFormat::Json, "projects/*/mcpServers", "claude-code");
  round_trip(text, known::ConfigFormat::Toml, "mcp_servers", "codex");
  return 0;
}
