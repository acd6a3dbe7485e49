#include "config/server_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "config/changes.h"
#include "config/show.h"

namespace corral::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

struct Edit {
  std::string_view key;  // of the option that the field belongs to
  std::function<void(Server&)> apply;
};

Server example() {
  Server server;
  server.name = "a";
  server.argv = {"x", "-y"};
  return server;
}

/// One edit for each field that an option sets. The bindings name every field, so that a new one does not
/// compile until it is named here, and has an edit below.
std::vector<Edit> edits() {
  [[maybe_unused]] const auto& [name, argv, env, cwd, description, share, disabled, tools, deny, timeout,
                                containment, limits, stdin_grace, term_grace, on_stop, idle, stateless,
                                restart, park, unattended, probe, modern, eager, warm, on_change, min_version,
                                ignore, roots, recycle, file, line, built_in] = Server();
  [[maybe_unused]] const auto& [memory_bytes, processes, cpu_thousandths] = proc::Limits();
  return {
      {"command", [](Server& s) { s.argv.front() = "z"; }},
      {"args", [](Server& s) { s.argv.emplace_back("more"); }},
      {"env", [](Server& s) { s.env.emplace_back("A", "1"); }},
      {"cwd", [](Server& s) { s.cwd = "/"; }},
      {"description", [](Server& s) { s.description = "reads files"; }},
      {"share", [](Server& s) { s.share = Share::Root; }},
      {"disabled", [](Server& s) { s.disabled = true; }},
      {"tools", [](Server& s) { s.tools.emplace(); }},
      {"deny", [](Server& s) { s.deny = {"drop"}; }},
      {"timeout", [](Server& s) { s.timeout = 1s; }},
      {"containment", [](Server& s) { s.containment = proc::Containment::Strict; }},
      {"memory", [](Server& s) { s.limits.memory_bytes = 1; }},
      {"pids", [](Server& s) { s.limits.processes = 1; }},
      {"cpu", [](Server& s) { s.limits.cpu_thousandths = 1; }},
      {"stdin_grace", [](Server& s) { s.stdin_grace = 1s; }},
      {"term_grace", [](Server& s) { s.term_grace = 1s; }},
      {"on_stop", [](Server& s) { s.on_stop = "true"; }},
      {"idle", [](Server& s) { s.idle = 1s; }},
      {"stateless", [](Server& s) { s.stateless = true; }},
      {"restart", [](Server& s) { s.restart = false; }},
      {"park", [](Server& s) { s.park = false; }},
      {"unattended", [](Server& s) { s.unattended = std::chrono::minutes(1); }},
      {"probe", [](Server& s) { s.probe = 0s; }},
      {"era", [](Server& s) { s.modern = false; }},
      {"eager", [](Server& s) { s.eager = true; }},
      {"warm", [](Server& s) { s.warm = 1; }},
      {"on_change", [](Server& s) { s.on_change = OnChange::Warn; }},
      {"min_version", [](Server& s) { s.min_version = "1.0"; }},
      {"ignore", [](Server& s) { s.ignore = {"cwd"}; }},
      {"roots", [](Server& s) { s.roots = {"/srv"}; }},
      {"recycle", [](Server& s) { s.recycle = 1; }},
  };
}

boost::json::value shown(const Server& server) {
  Configuration configuration;
  configuration.servers = {server};
  return boost::json::parse(to_json(configuration)).at("servers").at(0);
}

std::set<std::string> labels(const Server& server) {
  std::set<std::string> result;
  for (const ShownLine& line : lines_of(server)) result.insert(std::string(line.label));
  return result;
}

std::string page() {
  std::ifstream file(std::string(DOCS_DIR) + "/configuration.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The row of the table in that section whose first cell names the key.
std::string row_of(std::string_view key, const std::string& section) {
  std::istringstream lines(section);
  const std::string name = "`" + std::string(key) + "`";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("|") && line.substr(0, line.find(" | ")).find(name) != line.npos) return line;
  }
  return "";
}

TEST(ServerOptions, HaveARowForEveryFieldOfAServer) {
  std::set<std::string_view> edited;
  for (const Edit& edit : edits()) {
    const ServerOption* const option = find_option(edit.key);
    ASSERT_NE(option, nullptr) << edit.key;
    Server server = example();
    edit.apply(server);
    EXPECT_FALSE(option->value.same(example(), server)) << edit.key;
    EXPECT_TRUE(option->value.same(server, server)) << edit.key;
    EXPECT_NE(shown(example()), shown(server)) << edit.key;
    edited.insert(edit.key);
  }
  for (const ServerOption& option : server_options()) {
    EXPECT_TRUE(edited.contains(option.key)) << option.key << " has no edit in this test";
  }
}

TEST(ServerOptions, SayWhatAChangeMeansForAReload) {
  for (const Edit& edit : edits()) {
    Configuration before;
    before.servers = {example()};
    Configuration after = before;
    edit.apply(after.servers.front());

    const auto changed = changes(before, after).changed;

    if (find_option(edit.key)->on_reload == OnReload::Replace) {
      EXPECT_THAT(changed, ElementsAre("a")) << edit.key;
    } else {
      EXPECT_THAT(changed, IsEmpty()) << edit.key;
    }
  }
}

TEST(ServerOptions, AreCompleteRows) {
  std::set<std::string_view> keys;
  for (const ServerOption& option : server_options()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key << " is there twice";
    for (const std::string_view synonym : option.synonyms) {
      EXPECT_TRUE(synonym.empty() || keys.insert(synonym).second) << synonym << " is there twice";
    }
    EXPECT_NE(option.read, nullptr) << option.key;
    EXPECT_NE(option.value.same, nullptr) << option.key;
    EXPECT_EQ(option.value.json == nullptr, option.value.json_key.empty()) << option.key;
    EXPECT_EQ(option.text.phrase == nullptr, option.text.line.empty()) << option.key;
    EXPECT_FALSE(option.doc.empty()) << option.key;
  }
  EXPECT_EQ(find_option(""), nullptr) << "an unused synonym is not a name";
  EXPECT_EQ(find_option("includeTools"), find_option("tools"));
}

TEST(ServerOptions, OfOneLineFollowEachOther) {
  EXPECT_THAT(labels(example()), testing::Contains("life"));
  std::vector<std::string_view> order;
  for (const ServerOption& option : server_options()) {
    if (option.text.line.empty() || (!order.empty() && order.back() == option.text.line)) continue;
    EXPECT_THAT(order, testing::Not(testing::Contains(option.text.line))) << option.key;
    order.push_back(option.text.line);
  }
}

TEST(ServerOptions, AreReadWhereTheTableSays) {
  for (const ServerOption& option : server_options()) {
    if (option.key == "command") continue;
    const std::string member = "\"" + std::string(option.key) + "\": {\"wrong\": 1}";
    const auto fails = [](const std::string& members) {
      return !parse(R"({"mcpServers": {"a": {"command": "x", )" + members + "}}}", "f.json");
    };
    EXPECT_EQ(fails(member), option.may_be_in(OptionPlace::Entry) && option.key != "description")
        << option.key;
    if (option.key == "tools" || option.key == "deny") continue;  // an error in either place
    EXPECT_EQ(fails("\"corral\": {" + member + "}"), option.may_be_in(OptionPlace::Corral)) << option.key;
  }
}

TEST(Description, IsReadShownAndNoReasonToReplaceAnInstance) {
  const auto with = [](const std::string& members) {
    return parse(R"({"mcpServers": {"a": {"command": "x", )" + members + "}}}", "f.json");
  };
  const auto plain = with(R"("description": "Reads\nfiles")");
  const auto other = with(R"("description": "old", "corral": {"description": "new"})");
  ASSERT_TRUE(plain && other);

  const std::string text(shown(plain->servers.front()).at("description").as_string());
  EXPECT_EQ(text.find('\n'), std::string::npos) << "safe for a terminal";
  EXPECT_EQ(other->servers.front().description, "new") << "the corral object takes precedence";
  EXPECT_EQ(about(other->servers.front()).at("description"), "new");
  EXPECT_THAT(changes(*plain, *other).changed, IsEmpty());
}

TEST(Description, ThatIsTooLongIsAnErrorOnlyWhereClientsDoNotWriteIt) {
  const std::string member = "\"description\": \"" + std::string(201, 'x') + "\"";
  const auto of_client = parse(R"({"mcpServers": {"a": {"command": "x", )" + member + "}}}", "f.json");
  ASSERT_TRUE(of_client);
  EXPECT_THAT(of_client->warnings, ElementsAre(HasSubstr("is longer than 200 bytes and is not shown")));
  EXPECT_EQ(of_client->servers.front().description, "");

  const auto own = parse(R"({"mcpServers": {"a": {"command": "x", "corral": {)" + member + "}}}}", "f.json");
  ASSERT_FALSE(own);
  EXPECT_THAT(own.error().message, HasSubstr("is longer than 200 bytes"));
}

TEST(ServerOptions, AreDocumented) {
  const std::string text = page();
  const std::size_t entry = text.find("\n## A server\n");
  const std::size_t corral = text.find("\n### `corral` of a server\n");
  const std::size_t end = text.find("\n## The daemon\n");
  ASSERT_LT(entry, corral);
  ASSERT_LT(corral, end);
  for (const ServerOption& option : server_options()) {
    const bool in_entry = option.may_be_in(OptionPlace::Entry);
    const std::string section =
        in_entry ? text.substr(entry, corral - entry) : text.substr(corral, end - corral);
    const std::string row = row_of(option.key, section);
    EXPECT_THAT(row, HasSubstr(std::string(option.doc))) << option.key;
    for (const std::string_view synonym : option.synonyms) {
      EXPECT_THAT(row, HasSubstr(std::string(synonym))) << option.key;
    }
    if (option.place == OptionPlace::Both) {
      EXPECT_NE(row_of(option.key, text.substr(corral, end - corral)), "") << option.key;
    }
    if (!option.value.json_key.empty()) {
      const std::string shown_as(option.value.json_key.substr(0, option.value.json_key.find('.')));
      EXPECT_THAT(text.substr(text.find("\n## `corral config check`")), HasSubstr("`" + shown_as + "`"));
    }
  }
}

}  // namespace
}  // namespace corral::config
