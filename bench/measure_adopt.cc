// `corral adopt --dry-run` over the files of twelve clients, against `cat` of the same files: what looking at
// them costs beyond reading them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "measure.h"
#include "stats.h"

namespace corral::bench {
namespace {

constexpr double kTarget = 5;  // times `cat`
constexpr int kServers = 5;    // of each client

struct ClientFile {
  const char* path;   // below the home directory
  const char* table;  // where its servers are
  std::size_t other;  // bytes of other keys: Claude Code keeps its history in the same file
};

constexpr std::size_t kFew = 2000;

const std::vector<ClientFile> kFiles = {
    {".claude.json", "mcpServers", 200'000},
    {".config/Claude/claude_desktop_config.json", "mcpServers", kFew},
    {".codex/config.toml", "mcp_servers", kFew},
    {".copilot/mcp-config.json", "mcpServers", kFew},
    {".gemini/settings.json", "mcpServers", kFew},
    {".cursor/mcp.json", "mcpServers", kFew},
    {".config/Code/User/mcp.json", "servers", kFew},
    {".codeium/windsurf/mcp_config.json", "mcpServers", kFew},
    {".config/zed/settings.json", "context_servers", kFew},
    {".cline/data/settings/cline_mcp_settings.json", "mcpServers", kFew},
    {".config/opencode/opencode.json", "mcp", kFew},
    {".kiro/settings/mcp.json", "mcpServers", kFew},
};

std::string json_text(const ClientFile& file) {
  const bool list = std::string_view(file.table) == "mcp";  // opencode has one list for command and arguments
  std::string text = "{\n  \"" + std::string(file.table) + "\": {\n";
  for (int i = 0; i < kServers; ++i) {
    text += "    \"server" + std::to_string(i) + "\": {";
    text +=
        list ? R"("type": "local", "command": ["npx", "-y", "@x/server", "/srv/)" + std::to_string(i) + "\"]}"
             : R"("command": "npx", "args": ["-y", "@x/server", "/srv/)" + std::to_string(i) + "\"]}";
    text += i + 1 < kServers ? ",\n" : "\n";
  }
  text += "  },\n  \"other\": [";
  while (text.size() < file.other)
    text += "\n    {\"display\": \"something that was typed\", \"when\": 1763570000},";
  return text + " null]\n}\n";
}

std::string toml_text(const ClientFile& file) {
  std::string text = "model = \"some-model\"\n";
  for (int i = 0; i < kServers; ++i) {
    text += "\n[" + std::string(file.table) + ".server" + std::to_string(i) + "]\ncommand = \"npx\"\n" +
            "args = [\"-y\", \"@x/server\", \"/srv/" + std::to_string(i) + "\"]\n";
  }
  while (text.size() < file.other) text += "\n# a comment of somebody\n";
  return text;
}

/// The names of the files, quoted for a shell.
std::string make_files(const std::string& home) {
  std::string names;
  for (const ClientFile& file : kFiles) {
    const std::filesystem::path path = std::filesystem::path(home) / file.path;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << (path.extension() == ".toml" ? toml_text(file) : json_text(file));
    names += " '" + path.string() + "'";
  }
  return names;
}

double run_once(const std::string& command) {
  const Clock::time_point start = Clock::now();
  const int status = std::system((command + " >/dev/null 2>&1 </dev/null").c_str());
  if (status != 0) throw std::runtime_error("this failed, so it was not measured: " + command);
  return ms_since(start);
}

/// A dry run that does not see all servers measures nothing.
void check(const std::string& adopt) {
  const std::string wanted = std::to_string(kFiles.size() * kServers) + " servers";
  if (std::system((adopt + " | grep -q 'these " + wanted + "'").c_str()) != 0)
    throw std::runtime_error("the dry run does not find " + wanted + ": " + adopt);
}

}  // namespace

void measure_adopt(const Bench& bench, Results& results) {
  const std::string home = bench.scratch + "/adopt-home";
  const std::string cat = "cat" + make_files(home);
  // Without `env`, which would be one more process on one side.
  const std::string adopt =
      "unset CODEX_HOME CLAUDE_CONFIG_DIR COPILOT_HOME XDG_CONFIG_HOME XDG_STATE_HOME; HOME='" + home +
      "' COLUMNS=200 '" + bench.options.corral + "' adopt --all --dry-run";
  check(adopt);
  std::vector<double> adopts;
  std::vector<double> yardstick;
  std::vector<double> again;
  for (int round = 0; round < bench.rounds(25, 5); ++round) {
    yardstick.push_back(run_once(cat));
    adopts.push_back(run_once(adopt));
    again.push_back(run_once(cat));
  }
  Section section;
  section.name = "adopt";
  section.title = "adopt: a dry run over the files of 12 clients, against `cat` of the same files";
  section.note = "'raw' is cat here. Both are started by a shell.";
  section.headers = comparison_headers("files");
  const Comparison comparison = compare(adopts, yardstick);
  Row row{{"12 clients, 60 servers"}, {{"clients", json(static_cast<double>(kFiles.size()))}}, Verdict::None};
  add_comparison(row, comparison, "ms");
  row.cells.push_back("<= 5 x cat");
  row.verdict = judge_ratio(comparison, kTarget, noise_floor(ratios(again, yardstick)));
  section.rows.push_back(std::move(row));
  results.add(std::move(section));
}

}  // namespace corral::bench
