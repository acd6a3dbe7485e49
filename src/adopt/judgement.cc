#include "adopt/judgement.h"

#include <sys/stat.h>

#include <boost/json.hpp>
#include <optional>

#include "base/text.h"
#include "config/entry.h"
#include "config/volatile_variables.h"
#include "known/command_name.h"
#include "known/server_command.h"

namespace corral::adopt {
namespace {

namespace json = boost::json;

bool has_url(const json::object& entry) {
  for (const std::string_view key : config::kAddressKeys) {
    const json::value* const address = entry.if_contains(key);
    if (address != nullptr && address->is_string() && !address->get_string().empty()) return true;
  }
  return false;
}

/// A reference that the client replaces: ${NAME}, ${input:x}, $NAME, {env:NAME}.
bool has_variable(std::string_view word) {
  const std::size_t dollar = word.find('$');
  return (dollar != std::string_view::npos && dollar + 1 < word.size()) ||
         word.find("{env:") != std::string_view::npos;
}

bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

/// Why corral cannot go in front of this command line; empty if it can.
std::string objection_to_command(const std::vector<std::string>& words, const Circumstances& given) {
  const std::string& command = words.front();
  if (command.empty()) return "its command is empty";
  if (command.find('\0') != std::string::npos) return "its command has a NUL";
  if (command.starts_with("~")) {
    return "its command begins with ~, which only this client replaces: write the whole path";
  }
  if (words.size() == 1 && command.find_first_of(" \t") != std::string::npos && !is_file(command)) {
    return "its command has spaces and may be a whole command line: write the words as \"args\"";
  }
  if (given.client.plain_arguments && has_variable(command)) {
    return std::string(given.client.name) + " replaces no variables in arguments, and its command has one";
  }
  return "";
}

std::string objection_to(const EntryText& entry, const Circumstances& given) {
  if (!entry.refusal.empty()) return entry.refusal;
  const std::optional<std::vector<std::string>> words = words_of(entry.value);
  if (!words) return "its command or its arguments are not text";
  if (words->empty()) return "its command is empty";
  if (has_url(entry.value)) return "it has a command and a URL, and corral does not guess which one counts";
  if (entry.value.if_contains("dev") != nullptr) {
    return "its \"dev\" makes the client watch and debug the command itself";
  }
  return objection_to_command(*words, given);
}

/// The first variable of the entry that `corral connect` would not pass on; empty if there is none.
std::string variable_not_passed_on(const json::object& entry) {
  for (const char* const key : {"env", "environment"}) {
    const json::value* const given = entry.if_contains(key);
    if (given == nullptr || !given->is_object()) continue;
    for (const auto& [name, value] : given->get_object()) {
      if (config::is_volatile(name, value.is_string() ? std::string_view(value.get_string()) : ""))
        return name;
    }
  }
  return "";
}

/// A name that `connect --name` accepts, as near to the client's as possible; empty if there is none.
std::string name_for_connect(const std::string& name) {
  const std::string plain = known::plain_name(name);
  return known::objection_to_name(plain).empty() ? plain : "";
}

void choose_words(const EntryText& entry, Judgement& judged) {
  const std::string variable = variable_not_passed_on(entry.value);
  if (judged.through == Through::Connect && !variable.empty()) {
    judged.through = Through::Run;
    judged.why = "`corral run`, because `corral connect` does not pass on the variable " +
                 printable(variable.substr(0, 100));
  }
  if (judged.through == Through::Run) {
    judged.words = {"run", "--"};
    return;
  }
  const std::string name = name_for_connect(entry.name);
  judged.words = {"connect"};
  if (!name.empty()) judged.words.insert(judged.words.end(), {"--name", name});
  judged.words.emplace_back("--");
}

}  // namespace

Judgement judge(const EntryText& entry, const Circumstances& given) {
  Judgement judged;
  judged.through = given.through;
  if (entry.value.if_contains("command") == nullptr) {
    judged.verdict = has_url(entry.value) ? Verdict::Url : Verdict::Switch;
    return judged;
  }
  const std::optional<std::vector<std::string>> words = words_of(entry.value);
  const std::string objection = objection_to(entry, given);
  if (words && known::goes_through_corral(*words)) {
    judged.verdict = Verdict::Kept;
  } else if (given.scope == known::ConfigScope::Machine) {
    judged.verdict = Verdict::Managed;
    judged.why = "the file belongs to the administrator";
  } else if (!objection.empty()) {
    judged.verdict = Verdict::Refused;
    judged.why = objection;
  } else {
    judged.verdict = Verdict::Wrap;
    choose_words(entry, judged);
  }
  return judged;
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Wrap: return "wrap";
    case Verdict::Kept: return "kept";
    case Verdict::Url: return "url";
    case Verdict::Switch: return "switch";
    case Verdict::Refused: return "refused";
    case Verdict::Managed: return "managed";
  }
  return "?";
}

const char* name_of(Through through) { return through == Through::Run ? "run" : "connect"; }

}  // namespace corral::adopt
