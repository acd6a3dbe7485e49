// What a part of the router gets in a unit test: sessions, a learner and a server that only record what they
// are told.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/attached_sessions.h"
#include "router/learner.h"
#include "router/pending_calls.h"
#include "router/router_options.h"
#include "wire/rpc.h"

namespace corral::tests {

/// The line with these places replaced.
inline std::string edited(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  std::string text(line.text);
  std::size_t shift = 0;
  for (const wire::Edit& edit : edits) {
    if (!edit.where.present()) continue;
    text.replace(edit.where.begin + shift, edit.where.end - edit.where.begin, edit.text);
    shift += edit.text.size() - (edit.where.end - edit.where.begin);
  }
  return text;
}

struct RecordedOutput : router::ClientOutput {
  bool congested() const override { return slow; }
  void error_output(std::string_view bytes) override { errors.append(bytes); }
  void note(const std::string& sentence) override { notes.push_back(sentence); }
  bool of_several_programs() const override { return several_programs; }

  bool slow = false;
  bool several_programs = false;
  std::string errors;
  std::vector<std::string> notes;
};

/// A session that records what it is told.
class RecordedPort final : public RecordedOutput, public router::SessionPort {
 public:
  using RecordedOutput::error_output;
  using RecordedOutput::note;

  explicit RecordedPort(std::uint64_t number, knowledge::Era era = knowledge::Era::Legacy)
      : SessionPort(SessionId(number), {}, nullptr, static_cast<RecordedOutput&>(*this)) {
    client_.era = era;
    client_.introduction = R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c"}})";
  }

  void opened(const router::Opened&) override {}
  void instance_lost(router::Departure, const std::string&) override {}
  void instance_ended(const instance::TreeEnd&) override {}
  void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits) override {
    lines_.push_back(edited(line, edits));
  }
  void answer(const wire::Message& message, std::string_view id) override {
    lines_.push_back(edited(message.line(), {{message.where().id, id}}));
  }
  void server_drained() override { ++drained; }
  void list_changed(router::ChangedList list) override { changed.push_back(list); }

  /// What the client got since the last call.
  std::vector<std::string> received() { return std::exchange(lines_, {}); }

  std::vector<router::ChangedList> changed;
  int drained = 0;

 private:
  std::vector<std::string> lines_;
};

struct RecordedLearner final : router::Learner {
  void on_tools(router::ToolEffects effects) override { tools.push_back(effects); }
  void on_question() override { ++questions; }
  void on_list(const router::SessionPort& port, router::ListKind, std::string_view result) override {
    lists.emplace_back(port.id(), result);
  }
  void on_list_changed(router::ChangedList list) override { changed.push_back(list); }
  void on_probe_answered() override { ++probes; }

  std::vector<router::ToolEffects> tools;
  std::vector<std::pair<SessionId, std::string>> lists;
  std::vector<router::ChangedList> changed;
  int questions = 0;
  int probes = 0;
};

/// The server's end of `Ask`. Ids are 1, 2, …
struct AskedServer {
  struct Request {
    CallId id;
    std::string method;
    std::string params;
    router::Call call;
  };

  router::Ask ask() {
    return [this](std::string_view method, std::string_view params, router::Call call) {
      const CallId id(++last);
      requests.push_back({id, std::string(method), std::string(params), std::move(call)});
      return id;
    };
  }
  /// The methods that were asked since the last call, with their parameters.
  std::vector<std::string> asked() {
    std::vector<std::string> texts;
    for (; seen < requests.size(); ++seen)
      texts.push_back(requests[seen].method + " " + requests[seen].params);
    return texts;
  }

  std::deque<Request> requests;  // an answer that is being handled may cause the next one
  std::size_t seen = 0;
  std::uint64_t last = 0;
};

}  // namespace corral::tests
