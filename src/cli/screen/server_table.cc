#include "cli/screen/server_table.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/system_users.h"
#include "base/text.h"
#include "base/units.h"
#include "survey/survey_json.h"

namespace corral::cli {
namespace {

constexpr std::size_t kFewRows = 12;
constexpr std::size_t kEnds = 3;  // rows at each end of a long list

std::string state_of(const survey::Server& server) {
  const bool possible = server.certainty == survey::Server::Certainty::Possible;
  return survey::name_of(server.state) + std::string(possible ? "?" : "");
}

std::string user_of(uid_t uid) {
  const std::optional<SystemUser> user = system_user(uid);
  return user ? printable(user->name) : std::to_string(uid);
}

/// Without the scope of its package, which many share and which needs too much room.
std::string short_name_of(const survey::Server& server) {
  const std::string name = name_of(server);
  const std::size_t slash = name.find('/');
  return name.starts_with('@') && slash != std::string::npos ? name.substr(slash + 1) : name;
}

enum class Users : std::uint8_t { Hidden, Shown };

std::vector<std::string> row_of(const survey::Server& server, Users users) {
  std::vector<std::string> row = {std::to_string(server.pid), state_of(server), show_age(server.age),
                                  std::to_string(server.tree.size()), show_size(server.memory.footprint())};
  if (users == Users::Shown) row.push_back(user_of(server.uid));
  row.push_back(short_name_of(server));
  row.push_back(client_of(server));
  return row;
}

}  // namespace

std::string count(std::size_t number, const std::string& noun, const std::string& plural) {
  return std::to_string(number) + " " + (number == 1 ? noun : plural);
}

std::string client_of(const survey::Server& server) {
  const survey::Client& client = server.client;
  if (client.alive()) return client.name + " (pid " + std::to_string(client.pid) + ")";
  return server.state == survey::Server::State::Orphan && !client.id.empty() ? client.name + " (gone)"
                                                                             : client.name;
}

std::string name_of(const survey::Server& server) {
  const std::string name = server.command.name.empty() ? server.shown : printable(server.command.name);
  return server.command.version.empty() ? name : name + " " + printable(server.command.version);
}

std::string sum_of(const survey::Survey& survey, const std::vector<std::size_t>& servers) {
  std::size_t processes = 0;
  std::uint64_t memory = 0;
  std::chrono::milliseconds oldest{0};
  std::chrono::milliseconds newest = std::chrono::milliseconds::max();
  for (const std::size_t index : servers) {
    const survey::Server& server = survey.servers[index];
    processes += server.tree.size();
    memory += server.memory.footprint();
    oldest = std::max(oldest, server.age);
    newest = std::min(newest, server.age);
  }
  const std::string ages = servers.size() > 1 ? "oldest " + show_age(oldest) + ", newest " + show_age(newest)
                                              : "age " + show_age(oldest);
  return count(processes, "process", "processes") + ", " + show_size(memory) + ", " + ages;
}

void show_servers(Page& page, const survey::Survey& survey, const std::vector<std::size_t>& servers,
                  Rows rows) {
  const uid_t own = geteuid();
  const bool only_own = std::all_of(servers.begin(), servers.end(),
                                    [&](std::size_t index) { return survey.servers[index].uid == own; });
  const Users users = only_own ? Users::Hidden : Users::Shown;
  std::vector<Page::Column> columns = {{"PID"}, {"STATE"}, {"AGE"}, {"PROCS", true}, {"MEMORY", true}};
  if (users == Users::Shown) columns.push_back({"USER"});
  columns.push_back({"SERVER", false, true});
  columns.push_back({"CLIENT"});
  std::vector<std::vector<std::string>> shown;
  const bool few = rows == Rows::Few && servers.size() > kFewRows;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!few || i < kEnds || i + kEnds >= servers.size()) {
      shown.push_back(row_of(survey.servers[servers[i]], users));
    } else if (i == kEnds) {
      shown.emplace_back(columns.size());
      shown.back().front() = page.style().unicode ? "…" : "...";
    }
  }
  page.table("  ", columns, shown);
  if (few) {
    page.paragraph("  ", "(" + std::to_string(servers.size() - 2 * kEnds) + " more; -v shows all)");
  }
}

}  // namespace corral::cli
