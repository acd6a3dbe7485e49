// Which windows of one user share a process, as a property of thousands of random pairs: exactly those that
// differ in nothing that their server can notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>

#include "daemon/separation.h"
#include "daemon/windows_desk.h"

namespace corral::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Program {
  Words argv;
  bool blind = false;                               // it notices neither directory nor PATH
  bool blind_path = false;                          // it notices only the directory
  bool from_npm = false;                            // its launcher reads .npmrc
  std::optional<std::set<std::string>> reads = {};  // the only variables that it reads
  bool relative = false;                            // an argument is a relative path
  bool names_notes = false;                         // an argument may be a directory here
  bool names_project = false;  // an argument is the variable in which the client names the project
  bool looked_up = false;      // PATH finds it
};

const std::set<std::string> kNone = {};
const std::vector<Program> kPrograms = {
    {.argv = {"npx", "-y", kMemory},
     .blind = true,
     .from_npm = true,
     .reads = std::set<std::string>{"MEMORY_FILE_PATH"}},
    {.argv = {"npx", "-y", kEverything}, .blind = true, .from_npm = true},
    {.argv = {"npx", "-y", kFiles, "/srv"}, .blind = true, .from_npm = true, .reads = kNone},
    {.argv = {"npx", "-y", kFiles, "."}, .blind = true, .from_npm = true, .reads = kNone, .relative = true},
    {.argv = {"npx", "-y", kFiles, "notes"},
     .blind = true,
     .from_npm = true,
     .reads = kNone,
     .names_notes = true},
    {.argv = {"sh", "-c", "npx -y " + kFiles + " ./here"},
     .blind = true,
     .from_npm = true,
     .reads = kNone,
     .relative = true},
    {.argv = {"npx", "-y", "tavily-mcp"}, .blind_path = true, .reads = kNone},
    {.argv = {"docker", "run", "-i", "mcp/time"}, .blind = true, .reads = kNone},
    {.argv = {"docker", "run", "-e", "THEME", "mcp/time"},
     .blind = true,
     .reads = std::set<std::string>{"THEME"}},
    {.argv = {"docker", "run", "-v", "/srv:/srv", "mcp/time"}},
    {.argv = {"uvx", "mcp-server-time"}, .blind = true, .reads = kNone},
    {.argv = {"python3", "-m", "mcp_server_time"}, .blind_path = true, .reads = kNone},
    {.argv = {"sh", "-c", "/opt/server $CLAUDE_PROJECT_DIR"}, .names_project = true},
    {.argv = {"/opt/server"}},
    {.argv = {"/opt/server", "--file=../x"}, .relative = true},
    {.argv = {"/opt/server", "notes"}, .names_notes = true},
    {.argv = {"tool"}, .looked_up = true},
    {.argv = {"tool", "--fast"}, .looked_up = true},
};

const std::vector<std::string> kDirectories = {"home", "home/p0", "home/p1", "home/p2", "home/p3", "home/p4"};
const std::string kProject = "CLAUDE_PROJECT_DIR";
const Words kNames = {"THEME", "EDITOR", "TERM_PROGRAM",     "API_TOKEN",    "ACCOUNT", "LANG",
                      "TZ",    "PWD",    "MEMORY_FILE_PATH", "NODE_OPTIONS", kProject};
const Words kOfEntries = {"THEME", "ACCOUNT", "MEMORY_FILE_PATH", kProject};
const Words kValues = {"val-a", "val-b", "./val", "sk-val0123456789abcdefghij",
                       "https://me:val@example.org/"};
const Words kIgnorable = {"cwd", "PATH", "THEME", "ACCOUNT", "LANG", "TZ", kProject};
const std::set<std::string> kNotPassedOn = {"EDITOR", "TERM_PROGRAM", "PWD"};
const std::set<std::string> kPassedToEntries = {"LANG", "TZ", "HOME", "PATH"};

/// One window, and what it starts. Plain choices, from which both the daemon's decision and the test's own
/// are made.
struct Window {
  std::size_t program = 0;
  bool configured = false;
  std::string directory = "home/p0";
  Words path = {"one"};  // "one", "two", "near" (relative), "none"; repeated or empty parts mean nothing
  Variables variables;
  Variables of_entry;  // the entry's own `env`
  std::set<std::string> ignore;
  bool by_root = false;
  bool pinned = false;  // the entry names a directory
  std::string principal;

  bool operator==(const Window&) const = default;
};

class RandomWindows : public Windows {
 protected:
  static constexpr unsigned kSeed = 20261119;

  std::size_t below(std::size_t number) {
    return std::uniform_int_distribution<std::size_t>(0, number - 1)(random_);
  }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  template <class List>
  auto one_of(const List& list) {
    return list[below(list.size())];
  }

  void change(Window& window) {
    switch (below(9)) {
      case 0: window.program = below(kPrograms.size()); return;
      case 1: window.directory = one_of(kDirectories); return;
      case 2:
        window.path = {one_of(Words{"one", "two", "near", "none", ""}), one_of(Words{"one", "two", "one"})};
        return;
      case 3:
      case 4: window.variables[one_of(kNames)] = one_of(kValues); return;
      case 5: window.variables.erase(one_of(kNames)); return;
      case 6: window.ignore.insert(one_of(kIgnorable)); return;
      case 7: window.ignore.erase(one_of(kIgnorable)); return;
      default: break;
    }
    if (chance(3)) window.of_entry[one_of(kOfEntries)] = one_of(kValues);
    if (chance(2)) window.configured = !window.configured;
    if (chance(4)) window.by_root = !window.by_root;
    if (chance(4)) window.pinned = !window.pinned;
    if (chance(4)) window.principal = one_of(Words{"", "ci", "laptop"});
  }

  pool::ServerSpec spec_of(const Window& window) const {
    config::Configuration configuration;
    config::Server entry;
    entry.name = "entry";
    entry.argv = kPrograms[window.program].argv;
    entry.ignore.assign(window.ignore.begin(), window.ignore.end());
    if (window.pinned) entry.cwd = at("home/p2");
    entry.env.assign(window.of_entry.begin(), window.of_entry.end());
    configuration.servers = {entry};
    Origin origin;
    origin.server = window.configured ? "entry" : "command";
    if (!window.configured) origin.argv = entry.argv;
    if (!window.configured) origin.ignore = entry.ignore;
    origin.cwd = at(window.directory);
    if (window.by_root) origin.share = "root";
    Variables variables = window.variables;
    variables["HOME"] = at("home");
    for (const std::string& part : window.path) {
      const bool inside = part == "one" || part == "two";
      variables["PATH"] += (inside ? at(part) : part == "none" ? "/none" : part) + ":";
    }
    origin.environment = environment_of(variables);
    origin.principal = window.principal;
    Result<pool::ServerSpec> spec = resolve(origin, configuration);
    EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
    return spec ? *spec : pool::ServerSpec{};
  }

  // What a server can notice, worked out from the choices alone.

  static Words path_of(const Window& window) {
    Words parts;
    for (const std::string& part : window.path) {
      if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
    }
    return parts;
  }
  static bool is_pinned(const Window& window) { return window.pinned && window.configured; }
  /// Where PATH finds the tool: "near" is only there in p1.
  static std::string tool_of(const Window& window) {
    if (!kPrograms[window.program].looked_up) return {};
    for (const std::string& part : path_of(window)) {
      if (part == "one" || part == "two") return part;
      if (part == "near" && window.directory == "home/p1" && !is_pinned(window)) return "home/p1/near";
    }
    return "nowhere";
  }
  static bool directory_counts(const Window& window) {
    const Program& program = kPrograms[window.program];
    if (window.by_root || is_pinned(window)) return true;
    if (program.relative || (program.names_notes && window.directory == "home/p3")) return true;
    if (tool_of(window) == "home/p1/near") return true;
    for (const auto& [name, value] : passed_to(window)) {
      if (program.names_project && name == kProject) return true;
      const bool read = name == "NODE_OPTIONS" || (program.reads && program.reads->contains(name));
      if (read && name != "THEME" && value == "./val") return true;
    }
    const bool sees_settings = program.from_npm && window.directory == "home/p4";
    return !window.ignore.contains("cwd") && !(program.blind && !sees_settings);
  }
  static std::string runs_in(const Window& window) {
    if (is_pinned(window)) return "home/p2";
    return directory_counts(window) ? window.directory : "home";
  }
  static bool path_counts(const Window& window) {
    const Program& program = kPrograms[window.program];
    return !program.blind && !program.blind_path && !window.ignore.contains("PATH");
  }
  static bool is_credential(const std::string& name, const std::string& value) {
    return name == "API_TOKEN" || value.starts_with("sk-") || value.starts_with("https://me:");
  }
  static Variables passed_to(const Window& window) {
    Variables passed;
    for (const auto& [name, value] : window.variables) {
      if (kNotPassedOn.contains(name) || (window.configured && !kPassedToEntries.contains(name))) continue;
      passed[name] = value;
    }
    if (!window.configured) return passed;
    for (const auto& [name, value] : window.of_entry) passed[name] = value;
    return passed;
  }
  /// Without those that make no difference and must not be there.
  static Variables reach(const Window& window) {
    Variables reaching = passed_to(window);
    if (window.configured) return reaching;
    const Program& program = kPrograms[window.program];
    std::erase_if(reaching, [&](const auto& variable) {
      const auto& [name, value] = variable;
      if (name == kProject && !directory_counts(window)) return true;
      if (!program.reads || program.reads->contains(name) || is_credential(name, value)) return false;
      return name != "LANG" && name != "TZ" && name != "NODE_OPTIONS";
    });
    return reaching;
  }
  static Variables variables_that_count(const Window& window) {
    Variables counting = reach(window);
    std::erase_if(counting, [&window](const auto& variable) {
      return window.ignore.contains(variable.first) && !is_credential(variable.first, variable.second);
    });
    return counting;
  }
  static Variables without_path_and_home(const pool::ServerSpec& spec) {
    Variables variables;
    for (const std::string& entry : spec.launch.environment) {
      const std::string name = entry.substr(0, entry.find('='));
      if (name != "PATH" && name != "HOME") variables[name] = entry.substr(name.size() + 1);
    }
    return variables;
  }
  static std::set<std::string> declared(const Window& window) {
    std::set<std::string> names = window.ignore;
    names.erase("cwd");
    names.erase("PATH");
    return names;
  }
  static bool must_be_apart(const Window& a, const Window& b) {
    if (a.program != b.program || a.configured != b.configured || a.principal != b.principal) return true;
    if (a.by_root != b.by_root || (a.by_root && a.directory != b.directory)) return true;
    if (runs_in(a) != runs_in(b) || path_counts(a) != path_counts(b)) return true;
    if (path_counts(a) ? path_of(a) != path_of(b) : tool_of(a) != tool_of(b)) return true;
    return variables_that_count(a) != variables_that_count(b) || declared(a) != declared(b);
  }

  static std::string shown(const Window& window) {
    std::string text = std::to_string(window.program) + (window.configured ? " entry" : " command") + " in " +
                       window.directory + " PATH";
    for (const std::string& part : window.path) text += " " + part;
    for (const auto& [name, value] : window.variables)
      text.append(" ").append(name).append("=").append(value);
    for (const auto& [name, value] : window.of_entry)
      text.append(" env ").append(name).append("=").append(value);
    for (const std::string& word : window.ignore) text += " ignore " + word;
    return text + (window.by_root ? " by root" : "") + (window.pinned ? " pinned" : "") + " for '" +
           window.principal + "'";
  }

  std::mt19937 random_{kSeed};
};

TEST_F(RandomWindows, ShareExactlyIfTheyDifferInNothingThatMatters) {
  std::size_t shared = 0;
  constexpr std::size_t kPairs = 6000;
  for (std::size_t number = 0; number < kPairs && !HasFailure(); ++number) {
    Window one;
    for (std::size_t changes = below(8); changes > 0; --changes) change(one);
    Window other = one;
    for (std::size_t changes = below(4); changes > 0; --changes) change(other);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", pair " + std::to_string(number) + ":\n  " + shown(one) +
                 "\n  " + shown(other));
    const pool::ServerSpec a = spec_of(one);
    const pool::ServerSpec b = spec_of(other);

    EXPECT_EQ(a.key != b.key, must_be_apart(one, other));
    EXPECT_EQ(a.launch.directory, at(runs_in(one)));
    EXPECT_EQ(without_path_and_home(a), reach(one)) << "what reaches the server, it can notice";
    shared += a.key == b.key && !(one == other) ? 1 : 0;
  }
  EXPECT_GT(shared, kPairs / 20) << "or the property says little";
}

TEST_F(RandomWindows, AreToldWhatSeparatesThemByNameAndWhatWouldHelp) {
  std::size_t helped = 0;
  for (std::size_t number = 0; number < 3000 && !HasFailure(); ++number) {
    Window one;
    for (std::size_t changes = below(8); changes > 0; --changes) change(one);
    Window other = one;
    for (std::size_t changes = below(4); changes > 0; --changes) change(other);
    if (one.configured == other.configured) other.ignore = one.configured ? one.ignore : other.ignore;
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", pair " + std::to_string(number) + ":\n  " + shown(one) +
                 "\n  " + shown(other));
    const pool::ServerSpec a = spec_of(one);
    const pool::ServerSpec b = spec_of(other);

    const Separation separation = separation_of(a, b);

    EXPECT_EQ(separation.differs.empty(), a.key == b.key);
    std::string all = separation.hint;
    for (const std::string& name : separation.differs) all += " " + name;
    EXPECT_THAT(all, Not(HasSubstr("val"))) << "a value";
    if (!separation.hint.starts_with("to share it: ") ||
        separation.hint.find("`corral add`") != std::string::npos)
      continue;
    ++helped;
    std::set<std::string> words = one.ignore;
    words.insert(other.ignore.begin(), other.ignore.end());
    for (const auto& difference : knowledge::differences({a.launch, a.noticed}, {b.launch, b.noticed})) {
      words.insert(difference.ignore);
      EXPECT_THAT(separation.hint, HasSubstr(difference.ignore));
    }
    one.ignore = other.ignore = words;
    EXPECT_EQ(spec_of(one).key, spec_of(other).key) << separation.hint;
  }
  EXPECT_GT(helped, 50U) << "or the property says little";
}

}  // namespace
}  // namespace corral::daemon
