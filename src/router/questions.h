// Requests that a private server sent to its client, under ids of ours on the client's side. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corral::router {

class Questions {
 public:
  /// `down_id` is the one under which the client hears it.
  void add(std::uint64_t down_id, std::string_view server_id, std::string_view method) {
    asked_.emplace(down_id, Question{std::string(server_id), std::string(method)});
  }
  struct Question {
    std::string id;  // as the server wrote it
    std::string method;
  };
  std::optional<Question> take(std::uint64_t down_id) {
    const auto found = asked_.find(down_id);
    if (found == asked_.end()) return std::nullopt;
    Question question = std::move(found->second);
    asked_.erase(found);
    return question;
  }
  std::optional<std::uint64_t> find(std::string_view server_id) const {
    for (const auto& [down_id, question] : asked_) {
      if (question.id == server_id) return down_id;
    }
    return std::nullopt;
  }
  std::vector<std::uint64_t> take_all() {
    std::vector<std::uint64_t> down_ids = all();
    asked_.clear();
    return down_ids;
  }
  std::vector<std::uint64_t> all() const {
    std::vector<std::uint64_t> down_ids;
    for (const auto& [down_id, question] : asked_) down_ids.push_back(down_id);
    return down_ids;
  }
  std::size_t size() const { return asked_.size(); }

 private:
  std::map<std::uint64_t, Question> asked_;
};

}  // namespace corral::router
