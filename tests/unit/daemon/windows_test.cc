// Which windows of one user share a process: a table of what people's windows differ in, and a property of
// thousands of random pairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <random>
#include <set>

#include "daemon/origin.h"
#include "daemon/separation.h"
#include "survey/temp_files.h"

namespace corral::daemon {
namespace {

using config::Share;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

const std::string kMemory = "@modelcontextprotocol/server-memory";
const std::string kFiles = "@modelcontextprotocol/server-filesystem";
const std::string kEverything = "@modelcontextprotocol/server-everything";

/// A desk: a home directory with projects, and two directories of programs.
class Windows : public survey::TempFiles {
 protected:
  Windows() {
    write("home/.npmrc", "cache=/tmp");  // the user's own: it is the same for all projects
    for (const char* const plain : {"home/p0", "home/p1", "home/p2"}) write(std::string(plain) + "/x", "");
    write("home/p3/notes/one.md", "");
    write("home/p4/.npmrc", "save-exact=true");
    for (const char* const tool : {"one/tool", "two/tool", "home/p1/near/tool"}) {
      chmod(write(tool, "#!/bin/sh\n").c_str(), 0755);
    }
  }
  std::string at(const std::string& path) const { return root() + "/" + path; }
};

// ---- the table

struct Row {
  const char* what;
  Words argv;
  const char* shared;  // "one": one process for five windows, "five"
  const char* differs = "";
  Variables of_one_window = {};
  Words ignore = {};
};

const std::vector<Row> kRows = {
    {"memory", {"npx", "-y", kMemory}, "one"},
    {"everything", {"npx", "-y", kEverything}, "one"},
    {"files with a directory", {"npx", "-y", kFiles, "/srv"}, "one"},
    {"files below a shell", {"sh", "-c", "npx -y " + kFiles + " /srv"}, "one"},
    {"files here", {"npx", "-y", kFiles, "."}, "five", "the directory"},
    {"files in a directory here", {"npx", "-y", kFiles, "./x"}, "five", "the directory"},
    {"files here, below a shell", {"sh", "-c", "npx -y " + kFiles + " ."}, "five", "the directory"},
    {"an unknown server", {"/opt/server"}, "five", "the directory"},
    {"a declared server", {"/opt/server"}, "one", "", {}, {"cwd", "PATH"}},
    {"a declared server without PATH", {"/opt/server"}, "five", "PATH", {}, {"cwd"}},
    {"a declared server with a path",
     {"/opt/server", "--at=./x"},
     "five",
     "the directory",
     {},
     {"cwd", "PATH"}},
};

Variables desk_of(int window, const std::string& home) {
  const std::string number = std::to_string(window);
  return {{"HOME", home},
          {"PATH", "/opt/tools-" + number + "/bin:/usr/bin:/bin:"},
          {"EDITOR", "editor-" + number},
          {"TERM", "xterm-" + number},
          {"PS1", number + "> "},
          {"HISTFILE", "/history-" + number},
          {"SHLVL", number},
          {"TERM_SESSION_ID", "session-" + number}};
}

std::shared_ptr<const Environment> environment_of(const Variables& variables) {
  Environment environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return std::make_shared<Environment>(environment);
}

TEST_F(Windows, FiveOfThemShareWhatCannotTellThemApart) {
  for (const Row& row : kRows) {
    std::set<std::string> keys;
    std::vector<pool::ServerSpec> specs;
    for (int window = 0; window < 5; ++window) {
      const std::string number = std::to_string(window);
      write("home/project" + number + "/x/y", "");
      Origin origin;
      origin.server = "server";
      origin.argv = row.argv;
      origin.cwd = at("home/project" + number);
      origin.environment = environment_of(desk_of(window, at("home")));
      origin.ignore = row.ignore;
      specs.push_back(*resolve(origin, {}));
      keys.insert(specs.back().key);
    }
    EXPECT_EQ(keys.size(), std::string(row.shared) == "one" ? 1U : 5U) << row.what;
    const Words differs = separation_of(specs[0], specs[1]).differs;
    if (row.differs[0] != '\0') {
      EXPECT_THAT(differs, testing::Contains(row.differs)) << row.what;
    } else {
      EXPECT_THAT(differs, IsEmpty()) << row.what;
    }
  }
}

TEST_F(Windows, OneWithATokenOfItsOwnHasAProcessOfItsOwn) {
  for (const Row& row : kRows) {
    Origin origin;
    origin.server = "server";
    origin.argv = row.argv;
    origin.cwd = at("home/p0");
    Variables variables = desk_of(1, at("home"));
    origin.ignore = row.ignore;
    origin.environment = environment_of(variables);
    const pool::ServerSpec one = *resolve(origin, {});
    variables["SERVICE_TOKEN"] = "of this window";
    origin.environment = environment_of(variables);
    const pool::ServerSpec other = *resolve(origin, {});

    EXPECT_NE(one.key, other.key) << row.what;
    EXPECT_EQ(separation_of(one, other).differs, Words{"SERVICE_TOKEN"}) << row.what;
    EXPECT_EQ(separation_of(one, other).hint, "processes with different credentials are never shared");
  }
}

// ---- the hints

TEST_F(Windows, AreToldWhatWouldMakeThemOne) {
  Origin one;
  one.server = "tool";
  one.argv = {"/opt/server"};
  one.cwd = at("home/p0");
  one.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}, {"THEME", "dark"}});
  Origin other = one;
  other.cwd = at("home/p1");
  other.environment = environment_of({{"HOME", at("home")}, {"PATH", "/usr/bin"}, {"THEME", "light"}});
  const auto hint = [](const Origin& a, const Origin& b) {
    return separation_of(*resolve(a, {}), *resolve(b, {})).hint;
  };
  EXPECT_EQ(hint(one, other),
            "to share it: corral connect --ignore cwd --ignore PATH --ignore THEME -- COMMAND");

  one.argv = other.argv = {"/opt/server", "."};
  EXPECT_THAT(hint(one, other), HasSubstr("with absolute paths it could be shared"));

  other.argv = {"/opt/server", "--other"};
  EXPECT_EQ(hint(one, other), "") << "they are not the same server at all";
}

TEST_F(Windows, OfAConfiguredServerAreToldTheLineOfItsEntry) {
  config::Configuration configuration;
  config::Server server;
  server.name = "files";
  server.argv = {"/opt/server"};
  server.ignore = {"LANG"};
  configuration.servers = {server};
  Origin one;
  one.server = "files";
  one.cwd = at("home/p0");
  one.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}});
  Origin other = one;
  other.cwd = at("home/p1");

  EXPECT_EQ(separation_of(*resolve(one, configuration), *resolve(other, configuration)).hint,
            R"(to share it: "corral": {"ignore": ["LANG", "cwd"]} in the entry "files")");
}

TEST_F(Windows, OfTwoTokensNeverShare) {
  Origin one;
  one.server = "tool";
  one.argv = {"npx", "-y", kMemory};
  one.cwd = at("home/p0");
  one.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}});
  Origin other = one;
  other.principal = "ci";

  const Separation separation = separation_of(*resolve(one, {}), *resolve(other, {}));

  EXPECT_EQ(separation.differs, Words{"the access token"});
  EXPECT_THAT(separation.hint, HasSubstr("never shared"));
}

TEST(Separation, IsSaidInOneSentence) {
  EXPECT_EQ(show_separation({}, 7), "");
  EXPECT_EQ(show_separation({"PATH"}, 1040), "separate from process 1040: PATH differs");
  EXPECT_EQ(show_separation({"the limits"}, 7), "separate from process 7: the limits differ");
  EXPECT_EQ(show_separation({"A", "B"}, 7), "separate from process 7: A and B differ");
  EXPECT_EQ(show_separation({"A", "B", "C", "D", "E", "F", "G"}, 7),
            "separate from process 7: A, B, C, D, E and 2 more differ");
}

// ---- the property

struct Program {
  Words argv;
  bool known = false;        // in the list of servers that notice neither directory nor PATH
  bool relative = false;     // an argument is a relative path
  bool names_notes = false;  // an argument may be a directory here
  bool looked_up = false;    // PATH finds it
};

const std::vector<Program> kPrograms = {
    {.argv = {"npx", "-y", kMemory}, .known = true},
    {.argv = {"npx", "-y", kFiles, "/srv"}, .known = true},
    {.argv = {"npx", "-y", kFiles, "."}, .known = true, .relative = true},
    {.argv = {"npx", "-y", kFiles, "notes"}, .known = true, .names_notes = true},
    {.argv = {"sh", "-c", "npx -y " + kFiles + " ./here"}, .known = true, .relative = true},
    {.argv = {"/opt/server"}},
    {.argv = {"/opt/server", "--file=../x"}, .relative = true},
    {.argv = {"/opt/server", "notes"}, .names_notes = true},
    {.argv = {"tool"}, .looked_up = true},
    {.argv = {"tool", "--fast"}, .looked_up = true},
};

const std::vector<std::string> kDirectories = {"home", "home/p0", "home/p1", "home/p2", "home/p3", "home/p4"};
const Words kNames = {"THEME", "EDITOR", "TERM_PROGRAM", "API_TOKEN", "ACCOUNT", "LANG", "TZ", "PWD"};
const Words kValues = {"val-a", "val-b", "sk-val0123456789abcdefghij", "https://me:val@example.org/"};
const Words kIgnorable = {"cwd", "PATH", "THEME", "ACCOUNT", "LANG", "TZ"};
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
    return !window.ignore.contains("cwd") && !(program.known && window.directory != "home/p4");
  }
  static std::string runs_in(const Window& window) {
    if (is_pinned(window)) return "home/p2";
    return directory_counts(window) ? window.directory : "home";
  }
  static bool path_counts(const Window& window) {
    return !kPrograms[window.program].known && !window.ignore.contains("PATH");
  }
  static bool is_credential(const std::string& name, const std::string& value) {
    return name == "API_TOKEN" || value.starts_with("sk-") || value.starts_with("https://me:");
  }
  static Variables variables_that_count(const Window& window) {
    Variables counting;
    for (const auto& [name, value] : window.variables) {
      if (kNotPassedOn.contains(name) || (window.configured && !kPassedToEntries.contains(name))) continue;
      if (window.ignore.contains(name) && !is_credential(name, value)) continue;
      counting[name] = value;
    }
    return counting;
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
