#include "cli/screen/adopt_page.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/secrets.h"
#include "base/text.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

using adopt::FileLook;
using adopt::FoundServer;
using adopt::Shape;
using adopt::Standing;
using adopt::Verdict;

std::string in_quotes(const std::string& word) { return json::serialize(json::string(word)); }

/// The lines of a command and its arguments, in the style of the file.
std::vector<std::string> lines_of(const std::vector<std::string>& words, Shape shape,
                                  known::ConfigFormat format) {
  const bool toml = format == known::ConfigFormat::Toml;
  const auto key = [toml](const std::string& name) { return toml ? name + " = " : in_quotes(name) + ": "; };
  const bool list = shape == Shape::List;
  std::string elements;
  for (std::size_t i = list ? 0 : 1; i < words.size(); ++i) {
    elements += (elements.empty() ? "" : ", ") + in_quotes(words[i]);
  }
  if (list) return {key("command") + "[" + elements + "]"};
  std::vector<std::string> lines = {key(shape == Shape::Object ? "path" : "command") +
                                    in_quotes(words.front())};
  if (!elements.empty()) lines.push_back(key("args") + "[" + elements + "]");
  return lines;
}

std::string what_it_is(const FoundServer& server) {
  const adopt::Judgement& judged = server.judged;
  switch (judged.verdict) {
    case Verdict::Wrap:
      return judged.why.empty() ? "`corral " + std::string(adopt::name_of(judged.through)) + "`" : judged.why;
    case Verdict::Kept: return "goes through corral already";
    case Verdict::Url: return "has a URL, so there is no process to keep";
    case Verdict::Switch: return "has no command";
    case Verdict::Refused: return "left alone: " + judged.why;
    case Verdict::Managed: return "left alone: " + judged.why;
  }
  return "";
}

std::string label_of(const FoundServer& server) {
  std::string label = printable(server.entry.name);
  if (!server.entry.project.empty()) label += " of " + printable(shorten_home(server.entry.project));
  if (server.entry.line > 0) label += " (line " + std::to_string(server.entry.line) + ")";
  return label;
}

json::value text_or_nothing(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(printable(text));
}

const char* name_of_scope(known::ConfigScope scope) {
  switch (scope) {
    case known::ConfigScope::User: return "user";
    case known::ConfigScope::Project: return "project";
    case known::ConfigScope::Machine: return "machine";
  }
  return "?";
}

json::array names_and_reasons(const std::vector<adopt::FileOutcome::Named>& list) {
  json::array array;
  for (const auto& [name, why] : list) {
    array.push_back(json::object{{"name", printable(name)}, {"why", printable(why)}});
  }
  return array;
}

std::string list_of_names(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + printable(name);
  return list;
}

std::string meaning_of(Standing standing) {
  switch (standing) {
    case Standing::Ours: return "adopted";
    case Standing::Undone: return "undone: starts without corral";
    case Standing::Changed: return "changed since, by hand";
    case Standing::Replaced: return "replaced: starts without corral";
    case Standing::Gone: return "gone from the file";
    case Standing::Unknown: return "unknown: the file cannot be read";
  }
  return "";
}

}  // namespace

std::vector<std::string> diff_of(const FoundServer& server, const std::string& program,
                                 known::ConfigFormat format) {
  const std::optional<std::vector<std::string>> words = adopt::words_of(server.entry.value);
  if (!words || words->empty()) return {};
  // Hidden before corral's words are put in front, so that both lines hide the same.
  const std::vector<std::string> shown = hide_secrets(*words);
  std::vector<std::string> after = {printable(program)};
  after.insert(after.end(), server.judged.words.begin(), server.judged.words.end());
  after.insert(after.end(), shown.begin(), shown.end());
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(shown, server.entry.shape, format)) lines.push_back("- " + line);
  for (const std::string& line : lines_of(after, server.entry.shape, format)) lines.push_back("+ " + line);
  return lines;
}

void show_look(Page& page, const FileLook& look, const std::string& program) {
  page.heading(std::string(look.file.client->name) + ": " + printable(shorten_home(look.file.path)));
  if (!look.error.empty()) return page.paragraph("  left alone: ", printable(shorten_homes(look.error)));
  bool any = false;
  for (const FoundServer& server : look.servers) {
    if (server.judged.verdict == Verdict::Switch) continue;
    any = true;
    page.paragraph("  " + label_of(server) + "  ", printable(what_it_is(server)));
    if (server.judged.verdict != Verdict::Wrap) continue;
    for (const std::string& line : diff_of(server, program, adopt::format_of(look.file.path))) {
      page.command("    ", toned(line, line.front() == '-' ? Tone::Bad : Tone::Good, page.style()));
    }
  }
  if (!any) page.paragraph("  ", "has no servers");
}

void show_outcome(Page& page, const std::string& path, const adopt::FileOutcome& outcome,
                  const std::string& done) {
  const std::string file = printable(shorten_home(path));
  if (!outcome.error.empty()) page.paragraph("left alone: ", printable(shorten_homes(outcome.error)));
  if (!outcome.changed.empty()) {
    page.paragraph("", done + " " + list_of_names(outcome.changed) + " in " + file +
                           ". A copy of the file from before today's first change is in " +
                           printable(shorten_home(outcome.copy)) + ".");
  }
  for (const auto& [name, why] : outcome.dropped) {
    page.paragraph("", "Nothing to release for " + printable(name) + " in " + file + ": " + why + ".");
  }
  for (const auto& [name, why] : outcome.refused) {
    page.paragraph("left alone: ", printable(name) + " in " + file + ": " + printable(why) + ".");
  }
}

void show_summary(Page& page, const AdoptSummary& summary) {
  std::string names;
  for (const known::KnownClient* const client : summary.clients) {
    names += (names.empty() ? "" : ", ") + std::string(client->name);
  }
  page.blank();
  page.paragraph("", counted(summary.adopted, "server") + " of " + names +
                         (summary.adopted == 1 ? " goes" : " go") + " through corral now" +
                         (summary.left_alone == 0
                              ? "."
                              : "; " + std::to_string(summary.left_alone) + " left alone, see above.") +
                         " Restart the clients that are running.");
  const std::string one =
      summary.clients.empty() ? "" : ", or `corral release " + std::string(summary.clients.front()->id) + "`";
  page.paragraph("Undo: ", "`corral release --all`" + one + ". Look: `corral adopt --status`, `corral ps`.");
}

void show_status(Page& page, const std::vector<adopt::LedgerRow>& rows,
                 const std::vector<Standing>& standings, const std::vector<FileLook>& looks) {
  std::vector<std::vector<std::string>> cells;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells.push_back({printable(rows[i].name()), printable(rows[i].client),
                     printable(shorten_home(rows[i].file)), meaning_of(standings[i])});
  }
  std::size_t open = 0;
  for (const FileLook& look : looks) {
    for (const FoundServer& server : look.servers) {
      const auto same = [&](const adopt::LedgerRow& row) {
        return row.is_about(look.file.path, server.entry);
      };
      const bool known = std::any_of(rows.begin(), rows.end(), same);
      const bool wrap = server.judged.verdict == Verdict::Wrap;
      open += wrap ? 1 : 0;
      if (known || (!wrap && server.judged.verdict != Verdict::Kept)) continue;
      cells.push_back({printable(server.entry.name), std::string(look.file.client->id),
                       printable(shorten_home(look.file.path)),
                       wrap ? "new: starts without corral" : "goes through corral, by hand"});
    }
    if (!look.error.empty()) page.paragraph("left alone: ", printable(shorten_homes(look.error)));
  }
  if (cells.empty()) return page.paragraph("", "No client of yours has a server with a command.");
  page.table("", {{"NAME"}, {"CLIENT"}, {"FILE"}, {"STATE", false, true}}, cells);
  if (open == 0) return;
  page.blank();
  page.paragraph("", counted(open, "server") + (open == 1 ? " does" : " do") +
                         " not go through corral. `corral adopt --all` shows the change and asks.");
}

json::object json_of(const FileLook& look) {
  json::array servers;
  for (const FoundServer& server : look.servers) {
    const bool wrap = server.judged.verdict == Verdict::Wrap;
    servers.push_back(json::object{
        {"name", printable(server.entry.name)},
        {"project", text_or_nothing(server.entry.project)},
        {"line", server.entry.line > 0 ? json::value(server.entry.line) : json::value(nullptr)},
        {"verdict", adopt::name_of(server.judged.verdict)},
        {"through", wrap ? json::value(adopt::name_of(server.judged.through)) : json::value(nullptr)},
        {"why", text_or_nothing(server.judged.why)}});
  }
  return {{"client", std::string_view(look.file.client->id)},
          {"file", printable(look.file.path)},
          {"scope", name_of_scope(look.file.scope)},
          {"error", text_or_nothing(look.error)},
          {"servers", std::move(servers)}};
}

json::object json_of(const std::string& path, const adopt::FileOutcome& outcome) {
  json::array changed;
  for (const std::string& name : outcome.changed) changed.emplace_back(printable(name));
  return {{"file", printable(path)},
          {"error", text_or_nothing(outcome.error)},
          {"copy", text_or_nothing(outcome.copy)},
          {"changed", std::move(changed)},
          {"dropped", names_and_reasons(outcome.dropped)},
          {"refused", names_and_reasons(outcome.refused)}};
}

json::object json_of(const adopt::LedgerRow& row, Standing standing) {
  return {{"name", printable(row.name())},
          {"client", row.client},
          {"file", printable(row.file)},
          {"state", adopt::name_of(standing)},
          {"through", adopt::name_of(row.through)},
          {"program", printable(row.program)},
          {"time", row.time}};
}

}  // namespace corral::cli
