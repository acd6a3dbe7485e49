#include "reap/selection.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "reap/last_look.h"

namespace corral::reap {
namespace {

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
  Selector(const survey::Survey& survey, const Selectors& selectors, const Untouchable& untouchable)
      : survey_(survey), selectors_(selectors), untouchable_(untouchable) {}

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

  /// Whether it may be ended; if not, that is noted.
  bool may_touch(std::size_t index) {
    const std::string reason = why_not(survey_.servers[index]);
    if (reason.empty()) return true;
    selection_.spared.push_back({index, reason});
    return false;
  }

  std::string why_not(const Server& server) const {
    if (server.uid != untouchable_.own_uid) {
      return "belongs to another user (uid " + std::to_string(server.uid) + "): run corral as that user";
    }
    if (server.debugged) return "a debugger is attached to it: detach first";
    if (server.in_container) return "runs in a container, or another PID namespace: run corral there";
    if (server.client_inside != 0) {
      return "a client runs inside it (pid " + std::to_string(server.client_inside) + "): leave that first";
    }
    const auto& above = untouchable_.own_ancestors;
    const bool ours = std::any_of(server.tree.begin(), server.tree.end(), [&above](pid_t pid) {
      return std::find(above.begin(), above.end(), pid) != above.end();
    });
    return ours ? "this command runs inside it" : "";
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

  /// The newest stay: a client that lost track uses what it started last.
  void choose_pile_ups() {
    std::map<std::string, std::vector<std::size_t>> copies;  // oldest first, as the survey is
    for (std::size_t i = 0; i < survey_.servers.size(); ++i) {
      const Server& server = survey_.servers[i];
      if (server.state != Server::State::Serving || !server.client.alive()) continue;
      if (server.certainty == Server::Certainty::Possible && !selectors_.possible) continue;
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
  const Untouchable& untouchable_;
  Selection selection_;
};

}  // namespace

bool is_wanted(const Server& server, const Selectors& selectors) {
  if (server.certainty == Server::Certainty::Possible && !selectors.possible) return false;
  if (server.age < selectors.older_than) return false;
  if (selectors.parent != 0 && server.client.pid != selectors.parent) return false;
  const bool client = selectors.client.empty() || lower(server.client.id) == lower(selectors.client) ||
                      lower(server.client.name) == lower(selectors.client);
  const bool match = selectors.match.empty() || has_part(server.shown, selectors.match) ||
                     has_part(server.command.name, selectors.match) ||
                     has_part(server.command.script, selectors.match);
  return client && match;
}

Untouchable who_must_not_be_touched() { return {geteuid(), own_line()}; }

Selection select(const survey::Survey& survey, const Selectors& selectors, const Untouchable& untouchable) {
  return Selector(survey, selectors, untouchable).run();
}

}  // namespace corral::reap
