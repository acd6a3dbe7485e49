#include "reap/selection.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "reap/last_look.h"

namespace corral::reap {
namespace {

using survey::Protection;
using survey::Server;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool has_part(const std::string& text, const std::string& part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

class Selector {
 public:
  Selector(const survey::Survey& survey, const Selectors& selectors, survey::Asker asker)
      : survey_(survey), selectors_(selectors), asker_(std::move(asker)) {
    asker_.takes_possible = selectors.possible;
  }

  Selection run() {
    const bool both = !selectors_.orphans && !selectors_.pile_ups;
    if (both || selectors_.orphans) choose_orphans();
    if (both || selectors_.pile_ups) choose_pile_ups();
    std::sort(selection_.groups.begin(), selection_.groups.end(), [this](const Group& a, const Group& b) {
      return survey_.servers[a.end.front()].age > survey_.servers[b.end.front()].age;
    });
    return std::move(selection_);
  }

 private:
  bool wanted(const Server& server) const { return is_wanted(server, selectors_); }

  /// Whether the server may be ended; if not, the reason is recorded. Processes that only look like servers
  /// are not recorded.
  bool may_touch(std::size_t index) {
    const Server& server = survey_.servers[index];
    const std::optional<Protection> protection = survey::protection_of(server, asker_);
    if (!protection) return true;
    if (*protection != Protection::NoEvidence)
      selection_.spared.push_back({index, survey::reason_of(*protection, server)});
    return false;
  }

  static std::string group_key(const Server& server, const std::string& client) {
    return client + '\0' + survey::command_key(server);
  }

  void choose_orphans() {
    std::map<std::string, Group> groups;
    for (std::size_t i = 0; i < survey_.servers.size(); ++i) {
      const Server& server = survey_.servers[i];
      if (server.state != Server::State::Orphan || !wanted(server) || !may_touch(i)) continue;
      Group& group = groups[group_key(server, server.client.id)];
      group.kind = Group::Kind::Orphans;
      group.client = server.client.name;
      group.command = survey::title_of(server);
      group.end.push_back(i);
    }
    for (auto& [key, group] : groups) selection_.groups.push_back(std::move(group));
  }

  /// The newest stay, because a client that lost track of its servers uses the one that it started last.
  void choose_pile_ups() {
    std::map<std::string, std::vector<std::size_t>> copies;  // oldest first, like the survey
    for (std::size_t i = 0; i < survey_.servers.size(); ++i) {
      const Server& server = survey_.servers[i];
      if (server.state != Server::State::Serving || !server.client.alive()) continue;
      if (survey::protection_of(server, asker_) == Protection::NoEvidence) continue;
      copies[group_key(server, std::to_string(server.client.pid))].push_back(i);
    }
    for (const auto& [key, all] : copies) {
      if (all.size() <= selectors_.keep) continue;
      const std::size_t excess = all.size() - selectors_.keep;
      Group group;
      group.kind = Group::Kind::PileUp;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Server& server = survey_.servers[all[i]];
        group.client = server.client.name + " (pid " + std::to_string(server.client.pid) + ")";
        group.command = survey::title_of(server);
        if (i < excess && wanted(server) && may_touch(all[i])) {
          group.end.push_back(all[i]);
        } else if (wanted(server)) {
          group.keep.push_back(all[i]);
        }
      }
      if (!group.end.empty()) selection_.groups.push_back(std::move(group));
    }
  }

  const survey::Survey& survey_;
  const Selectors& selectors_;
  survey::Asker asker_;
  Selection selection_;
};

}  // namespace

bool is_wanted(const Server& server, const Selectors& selectors) {
  if (server.age < selectors.older_than) return false;
  if (selectors.parent != 0 && server.client.pid != selectors.parent) return false;
  const bool client = selectors.client.empty() || lower(server.client.id) == lower(selectors.client) ||
                      lower(server.client.name) == lower(selectors.client);
  const bool match = selectors.match.empty() || has_part(server.shown, selectors.match) ||
                     has_part(server.command.name, selectors.match) ||
                     has_part(server.command.script, selectors.match);
  return client && match;
}

survey::Asker who_asks() { return {.own_uid = geteuid(), .own_ancestors = own_line(), .asked = true}; }

Selection select(const survey::Survey& survey, const Selectors& selectors, const survey::Asker& asker) {
  return Selector(survey, selectors, asker).run();
}

}  // namespace corral::reap
