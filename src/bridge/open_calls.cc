#include "bridge/open_calls.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/unique_id.h"
#include "bridge/modern_request.h"

namespace corral::bridge {

std::string fresh_state() { return random_hex(32); }

std::size_t held_by(const wire::Line& part) { return part.owner ? part.owner->size() : part.text.size(); }

OpenCalls::OpenCalls(Account* account) {
  if (account == nullptr) return;
  if (auto nothing = account->take(Good::Bytes, 0)) charged_ = std::move(*nothing);
}

bool OpenCalls::reserve(std::size_t bytes) {
  const std::size_t wanted = held() + bytes;
  return wanted <= kMostHeld && charged_.resize(wanted);
}

Call& OpenCalls::add(UpId id, Call call) {
  clients_[call.client_id] = id;
  count_level(call, Count::Add);
  params_held_ += held_by(call.params);
  Call& added = calls_.insert_or_assign(id, std::move(call)).first->second;
  settle();
  return added;
}

Call* OpenCalls::find(UpId id) {
  const auto found = calls_.find(id);
  return found == calls_.end() ? nullptr : &found->second;
}

std::optional<Call> OpenCalls::take(UpId id) {
  auto node = calls_.extract(id);
  if (node.empty()) return std::nullopt;
  Call& call = node.mapped();
  if (call.suspended()) {
    states_.erase(call.state);
  } else {
    count_level(call, Count::Remove);
    clients_.erase(call.client_id);
  }
  waiting_.erase(id);
  params_held_ -= held_by(call.params);
  settle();
  return std::move(call);
}

std::optional<UpId> OpenCalls::by_client(std::string_view client_id) const {
  const auto found = clients_.find(client_id);
  return found == clients_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<UpId> OpenCalls::by_state(std::string_view state) const {
  const auto found = states_.find(state);
  return found == states_.end() ? std::nullopt : std::optional(found->second);
}

std::string OpenCalls::suspend(UpId id, const std::string& state) {
  Call& call = calls_.at(id);
  count_level(call, Count::Remove);
  clients_.erase(call.client_id);
  states_[state] = id;
  call.state = state;
  for (Question& question : call.questions) question.told = true;
  note(id, call);
  return std::exchange(call.client_id, "");
}

void OpenCalls::resume(UpId id, std::string_view client_id, const Abilities& abilities,
                       std::optional<wire::LogLevel> level) {
  Call& call = calls_.at(id);
  states_.erase(call.state);
  call.state.clear();
  call.client_id = client_id;
  call.abilities = abilities;
  call.level = level;
  clients_[call.client_id] = id;
  count_level(call, Count::Add);
  note(id, call);
}

void OpenCalls::ask(UpId id, Question question) {
  Call& call = calls_.at(id);
  call.questions.push_back(std::move(question));
  note(id, call);
}

void OpenCalls::forget_question(std::string_view question_id) {
  const std::set<UpId> waiting = waiting_;
  for (const UpId id : waiting) {
    Call& call = calls_.at(id);
    std::erase_if(call.questions, [&](const Question& one) { return one.id == question_id; });
    note(id, call);
  }
  settle();
}

std::vector<Question> OpenCalls::take_questions(UpId id) {
  Call& call = calls_.at(id);
  std::vector<Question> questions = std::exchange(call.questions, {});
  note(id, call);
  settle();
  return questions;
}

std::optional<UpId> OpenCalls::cause_of(Ask ask) const {
  std::optional<UpId> suspended;
  for (auto one = calls_.rbegin(); one != calls_.rend(); ++one) {
    const Call& call = one->second;
    if (!can_be_suspended(call.method) || !call.in_progress() || !call.abilities.can(ask)) continue;
    if (!call.suspended()) return one->first;
    if (!suspended) suspended = one->first;
  }
  return suspended;
}

std::optional<UpId> OpenCalls::only_cause(Clock::time_point now) const {
  wire::PossibleCauses<UpId> causes;
  for (const auto& [id, call] : calls_) {
    if (can_be_suspended(call.method) && call.in_progress()) causes.add(id);
  }
  if (given_up_ && wire::may_still_work(*given_up_, now)) causes.add_unknown();
  return causes.only();
}

bool OpenCalls::any_cause() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const auto& one) {
    return can_be_suspended(one.second.method) && one.second.in_progress();
  });
}

std::optional<wire::LogLevel> OpenCalls::lowest_level() const {
  const auto lowest =
      std::find_if(levels_.begin(), levels_.end(), [](std::size_t count) { return count > 0; });
  if (lowest == levels_.end()) return std::nullopt;
  return static_cast<wire::LogLevel>(lowest - levels_.begin());
}

std::size_t OpenCalls::held() const {
  std::size_t bytes = params_held_;
  for (const UpId id : waiting_) {
    const Call& call = calls_.at(id);
    for (const Question& question : call.questions) bytes += question.request.size();
    if (call.answer) bytes += call.answer->text().size();
  }
  return bytes;
}

std::optional<Clock::time_point> OpenCalls::next_due() const {
  std::optional<Clock::time_point> next;
  for (const UpId id : waiting_) {
    const Clock::time_point due = calls_.at(id).due;
    if (!next || due < *next) next = due;
  }
  return next;
}

std::vector<UpId> OpenCalls::due(Clock::time_point now) const {
  std::vector<UpId> ids;
  for (const UpId id : waiting_) {
    if (calls_.at(id).due <= now) ids.push_back(id);
  }
  return ids;
}

void OpenCalls::count_level(const Call& call, Count how) {
  if (!call.level) return;
  std::size_t& count = levels_[static_cast<std::size_t>(*call.level)];
  how == Count::Add ? ++count : --count;
}

void OpenCalls::note(UpId id, const Call& call) {
  if (call.suspended() || !call.questions.empty()) {
    waiting_.insert(id);
  } else {
    waiting_.erase(id);
  }
}

}  // namespace corral::bridge
