// Expands ${VAR} in the entry of a server, and decides which of its tools are allowed.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "config/configuration.h"

namespace corral::config {
namespace {

/// The kernel accepts neither a longer word nor a longer list of words, whatever the resource limits are.
constexpr std::size_t kLongestWord = 128 << 10;
constexpr std::size_t kMostWords = std::size_t{6} << 20;

/// The length of the variable name at the beginning of the text; 0 if there is none.
std::size_t name_length(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return 0;
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), fits) - text.begin());
}

/// The text between ${ and }.
struct Reference {
  std::string_view name;
  std::optional<std::string_view> fallback;
};

/// ${VAR}, ${VAR:-default} and ${env:VAR}. Anything else in braces is left unchanged, such as ${x%.*} for a
/// shell.
std::optional<Reference> parse_reference(std::string_view inside) {
  if (inside == "workspaceFolder" || inside.starts_with("input:")) return Reference{inside, std::nullopt};
  if (inside.starts_with("env:")) inside.remove_prefix(4);
  const std::size_t length = name_length(inside);
  const std::string_view rest = inside.substr(length);
  if (length == 0 || (!rest.empty() && !rest.starts_with(":-"))) return std::nullopt;
  Reference reference{inside.substr(0, length), std::nullopt};
  if (reference.name == "userHome") reference.name = "HOME";
  if (!rest.empty()) reference.fallback = rest.substr(2);
  return reference;
}

class Expansion {
 public:
  Expansion(const Server& server, const std::vector<std::string>& environment)
      : server_(server), environment_(environment) {}

  /// `place` names the position of the text in messages: "args[2]".
  Result<std::string> of(std::string_view text, const std::string& place) {
    std::string whole;
    std::size_t done = 0;
    std::size_t close = 0;
    if (text.size() > kLongestWord) return too_long(place);
    for (std::size_t open = text.find("${"); open != text.npos; open = text.find("${", done)) {
      if (close <= open) close = text.find('}', open);
      if (close == text.npos) break;
      const bool escaped = open > done && text[open - 1] == '$';  // the server gets ${VAR} for $${VAR}
      const auto reference =
          escaped ? std::nullopt : parse_reference(text.substr(open + 2, close - open - 2));
      whole += text.substr(done, (escaped ? open - 1 : open) - done);
      if (!reference) {
        whole += "${";
        done = open + 2;  // not after the brace: there may be another ${ before it
        continue;
      }
      const Result<std::string_view> value = value_of(*reference, place);
      if (!value) return value.error();
      whole += *value;
      done = close + 1;
      if (whole.size() > kLongestWord) return too_long(place);
    }
    whole += text.substr(done);
    total_ += whole.size() + 1;
    if (whole.size() >= kLongestWord || total_ > kMostWords) return too_long(place);
    return {boost::system::in_place_value, std::move(whole)};
  }

 private:
  Result<std::string_view> value_of(const Reference& reference, const std::string& place) const {
    if (reference.fallback && reference.fallback->find("${") != std::string_view::npos) {
      return Error{naming(place) +
                   " has a default that contains another ${. Write the default without a variable."};
    }
    const std::optional<std::string_view> value = variable(reference.name);
    // As in a shell, the default also replaces an empty value.
    if (reference.fallback && (!value || value->empty())) return *reference.fallback;
    if (value) return *value;
    const std::string name = printable(std::string(reference.name));
    return Error{naming(place) + " needs the variable " + name + ", which is not set" + hint(reference.name)};
  }

  static std::string hint(std::string_view name) {
    const std::string text(name);
    if (name == "workspaceFolder")
      return ". Use ${CORRAL_ROOT} instead: the project root, or the client's directory.";
    if (name.starts_with("input:")) return ". corral cannot prompt for values: use an environment variable.";
    return ". Set it where the client is started, or write ${" + text + ":-DEFAULT} or $${" + text + "}.";
  }

  std::optional<std::string_view> variable(std::string_view name) const {
    for (const std::string_view entry : environment_) {
      if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
        return entry.substr(name.size() + 1);
      }
    }
    return std::nullopt;
  }

  std::string naming(const std::string& place) const { return "server '" + server_.name + "': " + place; }

  Error too_long(const std::string& place) const {
    return Error{naming(place) + " is longer than the kernel allows. Shorten it."};
  }

  const Server& server_;
  const std::vector<std::string>& environment_;
  std::size_t total_ = 0;
};

bool matches(std::string_view pattern, std::string_view name) {
  // After a mismatch, only the last star has to match one more letter; the earlier stars need no retry.
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

Result<Server> expand(const Server& server, const std::vector<std::string>& environment) {
  Server expanded = server;
  Expansion expansion(server, environment);
  for (std::size_t i = 0; i < expanded.argv.size(); ++i) {
    const std::string place = i == 0 ? "command" : "args[" + std::to_string(i - 1) + "]";
    const Result<std::string> word = expansion.of(expanded.argv[i], place);
    if (!word) return word.error();
    expanded.argv[i] = *word;
  }
  if (expanded.argv.empty() || expanded.argv.front().empty()) {
    return Error{"server '" + server.name +
                 "': command is empty after expansion. Set the variable that it uses."};
  }
  for (auto& [name, value] : expanded.env) {
    const Result<std::string> text = expansion.of(value, "env." + printable(name));
    if (!text) return text.error();
    value = *text;
  }
  const Result<std::string> cwd = expansion.of(server.cwd, "cwd");
  if (!cwd) return cwd.error();
  if (!cwd->empty() && cwd->front() != '/') {
    return Error{"server '" + server.name + "': cwd must be an absolute path; start it with '/' or ${HOME}."};
  }
  expanded.cwd = *cwd;
  return expanded;
}

bool allows_tool(const Server& server, std::string_view tool) {
  const auto in = [tool](const std::vector<std::string>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [tool](const std::string& pattern) { return matches(pattern, tool); });
  };
  return (!server.tools || in(*server.tools)) && !in(server.deny);
}

bool limits_tools(const Server& server) {
  return !server.deny.empty() || (server.tools && !names_every_tool(*server.tools));
}

bool names_every_tool(const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [](const std::string& pattern) {
    return !pattern.empty() && pattern.find_first_not_of('*') == std::string::npos;
  });
}

}  // namespace corral::config
