// Requests that a private server sent to its client, under ids of ours on the client's side. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"

namespace corral::router {

/// How it is answered when its client cannot. Its method is not kept: a server may make it as long as it
/// likes.
enum class QuestionKind : std::uint8_t { Elicitation, Other };

inline QuestionKind kind_of_question(std::string_view method) {
  return method == "elicitation/create" ? QuestionKind::Elicitation : QuestionKind::Other;
}

class Questions {
 public:
  /// `down_id` is the one under which the client hears it.
  void add(QuestionId down_id, std::string_view server_id, QuestionKind kind) {
    asked_.emplace(down_id, Question{std::string(server_id), kind});
  }
  struct Question {
    std::string id;  // as the server wrote it
    QuestionKind kind;
  };
  std::optional<Question> take(QuestionId down_id) {
    const auto found = asked_.find(down_id);
    if (found == asked_.end()) return std::nullopt;
    Question question = std::move(found->second);
    asked_.erase(found);
    return question;
  }
  std::optional<QuestionId> find(std::string_view server_id) const {
    for (const auto& [down_id, question] : asked_) {
      if (question.id == server_id) return down_id;
    }
    return std::nullopt;
  }
  std::vector<QuestionId> take_all() {
    std::vector<QuestionId> down_ids = all();
    asked_.clear();
    return down_ids;
  }
  std::vector<QuestionId> all() const {
    std::vector<QuestionId> down_ids;
    for (const auto& [down_id, question] : asked_) down_ids.push_back(down_id);
    return down_ids;
  }
  std::size_t size() const { return asked_.size(); }

 private:
  std::map<QuestionId, Question> asked_;
};

}  // namespace corral::router
