// Files in any layout, made at random: adopt and release give back the same bytes, and in between a parser
// sees the intended change and nothing else. The seed is in the message of a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>

#include "adopt/client_file.h"
#include "adopt/wrapping.h"
#include "known/config_text.h"

namespace corral::adopt {
namespace {

namespace json = boost::json;

using known::ConfigFormat;

class RandomFile {
 public:
  RandomFile(unsigned seed, ConfigFormat format) : random_(seed), toml_(format == ConfigFormat::Toml) {
    newline_ = one_in(3) ? "\r\n" : "\n";
  }

  std::string text() {
    return toml_ ? toml() : (one_in(5) ? "\xEF\xBB\xBF" : "") + blank() + root() + blank();
  }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }
  template <class... Words>
  std::string any(const Words&... words) {
    const std::vector<std::string> all = {words...};
    return all[random_() % all.size()];
  }

  std::string comment() {
    return toml_ ? "# ] \" ' [" + newline_ : any("/* ] } \" , */", "// \" } ]" + newline_);
  }
  /// Between two tokens.
  std::string blank() {
    std::string text;
    while (!one_in(2)) text += one_in(6) ? comment() : any(" ", "\t", newline_, "  ", newline_ + "    ");
    return text;
  }
  std::string space() { return any("", " ", "  ", "\t"); }

  std::string word() {
    if (!toml_) {
      return any("\"-y\"", "\"\"", "\"a b\"", "\"\\\"],[\\\\\"", "\"\\u00e9/*\"", "\"${input:x}\"",
                 "\"\xC3\xA9\"", "\"sk-0123456789abcdef0123\"", "12", "true");
    }
    return any("\"-y\"", "''", "'a \" b'", "\"\\\"],[\\\\\"", "\"\\u00e9#\"", "'''],''''",
               "\"\"\"a\"\"\"\"\"", "'''\n x'''", "12", "true");
  }
  std::string list(unsigned least) {
    std::string text = "[" + blank();
    const unsigned count = least + static_cast<unsigned>(random_() % 4);
    for (unsigned i = 0; i < count; ++i) {
      text += (i == 0 && least > 0 ? any("\"x\"", toml_ ? "'y'" : "\"\\u0079\"") : word()) + blank();
      if (i + 1 < count || one_in(4)) text += "," + blank();
    }
    return text + "]";
  }

  // ---- JSON

  std::string command() {
    return any("\"npx\"", "\"/opt/a\\\"b\\\"\"", "\"\\u006eode\"", "\"\xE2\x82\xAC\"", "\"C:\\\\x\"");
  }
  std::string member(const std::string& key, const std::string& value) {
    return "\"" + key + "\"" + blank() + ":" + blank() + value;
  }
  std::string object(std::vector<std::string> members) {
    std::shuffle(members.begin(), members.end(), random_);
    std::string text = "{" + blank();
    for (std::size_t i = 0; i < members.size(); ++i) {
      text += members[i] + blank();
      if (i + 1 < members.size() || one_in(4)) text += "," + blank();
    }
    return text + "}";
  }
  std::vector<std::string> pair(const char* key) {
    std::vector<std::string> members = {member(key, command())};
    if (!one_in(3)) members.push_back(member("args", one_in(5) ? "null" : list(0)));
    return members;
  }
  std::string entry() {
    std::vector<std::string> members;
    if (one_in(4)) {
      members = {member("command", list(1))};
    } else if (one_in(5)) {
      members = {member("command", object(pair("path")))};
    } else {
      members = pair("command");
    }
    if (one_in(2)) members.push_back(member("env", R"({"A": "\"command\": []"})"));
    if (one_in(2)) members.push_back(member("timeout", any("12", "1.5e3", "null")));
    return object(members);
  }
  std::string root() {
    std::vector<std::string> servers;
    for (unsigned i = 0; i < random_() % 4; ++i) {
      servers.push_back(member(any("a", "b c", "@x/y", "\xC3\xA9") + std::to_string(i), entry()));
    }
    std::vector<std::string> members = {member("mcpServers", object(servers))};
    if (one_in(2)) members.push_back(member("other", list(0)));
    return object(members);
  }

  // ---- TOML

  std::string toml_command() { return any("\"npx\"", "'/opt/a\"b\"'", "\"\\u006eode\"", "\"a\\\"b#\""); }
  std::string line_end() { return space() + (one_in(4) ? "# , ] \"" : "") + newline_; }
  std::string toml_line(const std::string& key, const std::string& value) {
    return space() + any(key, "\"" + key + "\"", "'" + key + "'") + space() + "=" + space() + value;
  }
  std::string toml_entry(const std::string& name) {
    if (!inline_ && !listed_ && one_in(5)) return inline_entry(name);
    std::vector<std::string> lines = {toml_line("command", one_in(5) ? list(1) : toml_command())};
    if (!one_in(3) && lines.front().find('[') == std::string::npos)
      lines.push_back(toml_line("args", list(0)));
    const bool env = one_in(2);
    if (env) lines.push_back(toml_line("env", "{ A = \"command = []\" }"));
    if (one_in(2)) lines.push_back(toml_line("since", "2026-11-19 20:00:00"));
    if (listed_) lines.push_back(toml_line("name", name.front() == 'a' ? "\"" + name + "\"" : name));
    std::shuffle(lines.begin(), lines.end(), random_);
    const std::string header = listed_ ? "[[" + space() + "mcp_servers" + space() + "]]"
                                       : "[mcp_servers" + space() + "." + space() + name + "]";
    std::string text = header + line_end();
    for (const std::string& line : lines) text += line + line_end() + (one_in(4) ? newline_ : "");
    const std::string parent = listed_ ? "mcp_servers" : "mcp_servers." + name;
    if (!env && one_in(3)) text += "[" + parent + ".env]" + line_end() + toml_line("K", "'v'") + line_end();
    return text;
  }
  std::string inline_entry(const std::string& name) {
    inline_ = true;
    std::vector<std::string> members = {"command" + space() + "=" + space() + toml_command()};
    if (!one_in(3)) members.push_back("args =" + space() + list(0));
    std::shuffle(members.begin(), members.end(), random_);
    std::string text;
    for (const std::string& one : members) text += (text.empty() ? "" : space() + "," + space()) + one;
    return "[mcp_servers]" + newline_ + name + " = {" + space() + text + space() + "}" + line_end();
  }
  std::string toml() {
    std::string text = (one_in(5) ? "\xEF\xBB\xBF" : "") + blank();
    if (!text.empty() && text.back() != '\n') text += newline_;
    if (one_in(2)) text += "model = 'x'" + line_end();
    listed_ = one_in(3);
    for (unsigned i = 0; i < random_() % 4; ++i) {
      text += toml_entry(any("a", "'b c'", "\"@x/y\"", "a-b").insert(1, std::to_string(i)));
    }
    if (one_in(3)) {
      while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    }
    return text;
  }

  std::mt19937 random_;
  bool toml_;
  bool inline_ = false;  // [mcp_servers] is there, and may not be there twice
  bool listed_ = false;  // [[mcp_servers]] with names inside
  std::string newline_;
};

/// Adopts and releases every server that can be; returns how many there were.
std::size_t round_trip(const std::string& text, ConfigFormat format, const std::string& note) {
  const std::string table = format == ConfigFormat::Toml ? "mcp_servers" : "mcpServers";
  const known::KnownClient& client = *known::find_client("cursor");
  const known::ConfigText before = known::parse_config(text, format);
  if (!before.error.empty()) {
    ADD_FAILURE() << note << before.error << "\n" << text;
    return 0;
  }
  std::vector<config::Edit> edits;
  std::vector<Expected> expected;
  std::vector<std::pair<EntryText, Undo>> done;
  for (const EntryText& entry : find_entries({text, before.value, format}, table)) {
    const Judgement judged = judge(entry, {client, known::ConfigScope::User, Through::Connect});
    EXPECT_EQ(judged.verdict, Verdict::Wrap) << note << judged.why << "\n" << text;
    if (judged.verdict != Verdict::Wrap) continue;
    const Front front{"/usr/bin/corral", judged.words};
    const Wrapped wrapped = wrap(text, format, entry, front);
    edits.insert(edits.end(), wrapped.edits.begin(), wrapped.edits.end());
    expected.push_back({entry.keys, wrapped_value(entry, front)});
    done.push_back({entry, {front.words.size(), entry.arguments, wrapped.last_line}});
  }
  const std::string adopted = config::applied(text, edits);
  const Result<void> good = check_change(before.value, expected, adopted, format);
  EXPECT_TRUE(good) << note << good.error().message << "\n" << text << "\n---\n" << adopted;

  const known::ConfigText now = known::parse_config(adopted, format);
  std::vector<config::Edit> back;
  for (const EntryText& entry : find_entries({adopted, now.value, format}, table)) {
    const auto same = [&](const auto& one) { return one.first.keys == entry.keys; };
    const auto one = std::find_if(done.begin(), done.end(), same);
    if (one == done.end()) continue;
    const Result<std::vector<config::Edit>> undone = unwrap(adopted, entry, one->second);
    EXPECT_TRUE(undone) << note << undone.error().message << "\n" << adopted;
    if (undone) back.insert(back.end(), undone->begin(), undone->end());
    EXPECT_EQ(hash_of(unwrapped_value(entry, one->second)), hash_of(one->first.value)) << note;
  }
  EXPECT_EQ(config::applied(adopted, back), text) << note << "\n---\n" << adopted;
  return done.size();
}

TEST(RandomLayout, OfJsonIsTheSameAfterAdoptAndRelease) {
  std::size_t servers = 0;
  for (unsigned seed = 0; seed < 3000 && !testing::Test::HasFailure(); ++seed) {
    servers += round_trip(RandomFile(seed, ConfigFormat::Json).text(), ConfigFormat::Json,
                          "seed " + std::to_string(seed) + ": ");
  }
  EXPECT_GT(servers, 2000U);
}

TEST(RandomLayout, OfTomlIsTheSameAfterAdoptAndRelease) {
  std::size_t servers = 0;
  for (unsigned seed = 0; seed < 3000 && !testing::Test::HasFailure(); ++seed) {
    servers += round_trip(RandomFile(seed, ConfigFormat::Toml).text(), ConfigFormat::Toml,
                          "seed " + std::to_string(seed) + ": ");
  }
  EXPECT_GT(servers, 2000U);
}

}  // namespace
}  // namespace corral::adopt
