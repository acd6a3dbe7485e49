#include "crosstalk/player.h"

#include <algorithm>

#include "wire/json_text.h"
#include "wire/rpc.h"

namespace corral::crosstalk {
namespace {

using boost::json::object;
using boost::json::serialize;

std::string text_in(const object& message, const char* key) {
  const auto* const value = message.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}
std::string json_in(const object& message, const char* key) {
  const auto* const value = message.if_contains(key);
  return value == nullptr ? "" : serialize(*value);
}
const object& object_in(const object& message, const char* key) {
  static const object kNone;
  const auto* const value = message.if_contains(key);
  return value != nullptr && value->is_object() ? value->as_object() : kNone;
}
std::string notification(const std::string& method, const std::string& params) {
  return tests::notification("notifications/" + method, "{" + params + "}");
}
std::string listen_mark(const std::string& id) {
  return R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}";
}
std::string question_params(const std::string& method, const std::string& word) {
  if (method == "elicitation/create") {
    return R"({"message":")" + word + R"(","requestedSchema":{"type":"object","properties":{}}})";
  }
  if (method == "sampling/createMessage") {
    return R"({"messages":[{"role":"user","content":{"type":"text","text":")" + word +
           R"("}}],"maxTokens":9})";
  }
  return R"({"_meta":{"why":")" + word + R"("}})";
}

constexpr const char* kQuestions[] = {"elicitation/create", "sampling/createMessage", "roots/list"};
constexpr const char* kLists[] = {"tools", "prompts", "resources"};
constexpr const char* kCapabilities =
    R"("capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"logging":{},)"
    R"("resources":{"subscribe":true,"listChanged":true}})";

}  // namespace

void Player::say(const std::string& line) {
  ledger_.note("  " + name() + " says " + line);
  fake_.say(line);
}

// ---- what it hears

void Player::hear() {
  if (gone_) return;
  for (const std::string& line : fake_.heard()) hear_line(line);
}

void Player::check(const std::vector<Canary>& canaries) {
  for (const Canary& canary : canaries) {
    ledger_.reached_server(canary, name());
    if (ledger_.scope_of(canary.session) != role_.scope) {
      ledger_.fault(canary.text() + " of " + ledger_.scope_of(canary.session) + " reached " + name());
    }
    if (!role_.own) continue;
    if (only_session_ == 0) only_session_ = canary.session;
    if (only_session_ != canary.session) {
      ledger_.fault(canary.text() + " reached " + name() + ", which session " +
                    std::to_string(only_session_) + " has for itself");
    }
  }
}

void Player::hear_line(const std::string& line) {
  ledger_.note("  " + name() + " hears " + line);
  check(canaries_in(line));
  const object message = tests::json(line).as_object();
  const std::string method = text_in(message, "method");
  if (method.empty()) return hear_response(message, line);
  if (message.contains("id")) return hear_request(message, line);
  if (method != "notifications/cancelled") return;
  const std::string named = json_in(object_in(message, "params"), "requestId");
  for (Job& job : jobs_) job.given_up = job.given_up || job.id == named;
}

void Player::hear_request(const object& message, const std::string& line) {
  const object& params = object_in(message, "params");
  const object& meta = object_in(params, "_meta");
  Job job;
  job.id = json_in(message, "id");
  job.method = text_in(message, "method");
  job.token = json_in(meta, "progressToken");
  for (const Canary& canary : canaries_in(line)) {
    if (canary.call > 0) job.canary = canary;  // else it is the name of the client
  }
  job.logs = !modern() || meta.contains("io.modelcontextprotocol/logLevel");
  job.asked_once = params.contains("inputResponses");
  job.uris = json_in(object_in(params, "notifications"), "resourceSubscriptions");
  const bool handshake = job.method == "initialize" || job.method == "server/discover";
  (handshake ? handshakes_ : jobs_).push_back(std::move(job));
}

void Player::hear_response(const object& message, const std::string& line) {
  const std::string id = json_in(message, "id");
  const auto asked = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& question) { return question.id == id; });
  if (asked == questions_.end()) return ledger_.fault(name() + " got an answer to no question: " + line);
  for (const Canary& canary : canaries_in(line)) {
    if (canary.session == asked->canary.session) continue;
    ledger_.fault(name() + " asked for " + asked->canary.text() + " and was answered by " + canary.text());
  }
  if (message.contains("error")) ++ledger_.deeds.refused_questions;
  questions_.erase(asked);
}

// ---- what it does

void Player::act() {
  if (gone_) return;
  hear();
  if (fake_.input_closed() && random_.chance(40)) return leave();
  if (random_.below(70) == 0) return crash();
  if (!handshakes_.empty()) {
    if (random_.chance(35)) answer_handshake();
    return;
  }
  if (random_.below(25) == 0) return change_list();
  if (role_.hostile && random_.below(6) == 0) return forge();
  if (random_.below(6) == 0 && speak_late()) return;
  if (jobs_.empty()) return;
  Job& job = random_.one_of(jobs_);
  if (job.given_up) ++ledger_.deeds.late_words;
  if (job.method == "subscriptions/listen") return answer_listen(job);
  switch (random_.below(8)) {
    case 0: return log(job);
    case 1: return complain(job);
    case 2: return report_progress(job);
    case 3: return modern() ? ask_back(job) : ask(job);
    default: return random_.chance(60) ? answer(job) : log(job);
  }
}

void Player::finish() {
  if (gone_) return;
  hear();
  if (fake_.input_closed()) return leave();
  while (answer_handshake()) {
  }
  for (std::size_t i = 0; i < jobs_.size();) {
    if (jobs_[i].method == "subscriptions/listen") {
      if (!jobs_[i].listening) answer_listen(jobs_[i]);
      ++i;
    } else {
      answer(jobs_[i]);
    }
  }
}

bool Player::answer_handshake() {
  if (handshakes_.empty()) return false;
  const Job job = handshakes_.front();
  handshakes_.erase(handshakes_.begin());
  const bool right = (job.method == "initialize") == !modern();
  const std::string head = R"({"jsonrpc":"2.0","id":)" + job.id;
  if (!right) {
    say(head + R"(,"error":{"code":)" + (modern() ? "-32022" : "-32601") + R"(,"message":"unknown"}})");
  } else if (modern()) {
    say(head + R"(,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,)" +
        kCapabilities + "}}");
  } else {
    say(head + R"(,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"p","version":"1"},)" +
        kCapabilities + "}}");
  }
  return true;
}

/// Lists carry no canary: every session may see them.
std::string Player::word_of(const Job& job) { return job.canary.session == 0 ? "done" : job.canary.text(); }

std::string Player::result_of(const Job& job) {
  const std::string word = word_of(job);
  const std::string text = R"({"type":"text","text":")" + word + R"("})";
  std::string body;
  if (job.method == "tools/call") body = R"("content":[)" + text + "]";
  if (job.method == "prompts/get") body = R"("messages":[{"role":"user","content":)" + text + "}]";
  if (job.method == "resources/read") body = R"("contents":[{"uri":"a:b","text":")" + word + R"("}])";
  if (job.method == "tools/list") {
    body = R"("tools":[{"name":"work","description":"v)" + std::to_string(version_) +
           R"(","inputSchema":{"type":"object"}}])";
  }
  if (!modern()) return "{" + body + "}";
  return R"({"resultType":"complete")" + (body.empty() ? "" : "," + body) + "}";
}

void Player::answer(Job& job) {
  const std::string head = R"({"jsonrpc":"2.0","id":)" + job.id;
  const std::string line = random_.below(6) == 0
                               ? head + R"(,"error":{"code":-32000,"message":"no )" + word_of(job) + R"("}})"
                               : head + R"(,"result":)" + result_of(job) + "}";
  // One in twenty cannot be read, one is said twice: nobody must hear the second one.
  say(random_.below(20) == 0 ? "{" + line.substr(line.find(R"("id")")) : line);
  if (random_.below(20) == 0) say(line);
  done(job);
}

/// A server may speak about a call that it has answered, for a while: in its log, unless it is a modern one,
/// and on stderr.
bool Player::speak_late() {
  constexpr auto kForAWhile = std::chrono::milliseconds(500);  // less than what the daemon reckons with
  while (!answered_.empty() && Clock::now() - answered_.front().when > kForAWhile) answered_.pop_front();
  if (answered_.empty()) return false;
  const Job job = random_.one_of(answered_).job;
  ++ledger_.deeds.words_after_answers;
  modern() || random_.chance(40) ? complain(job) : log(job);
  return true;
}

void Player::done(const Job& job) {
  constexpr std::size_t kKept = 6;
  if (job.canary.session != 0) answered_.push_back({job, Clock::now()});
  if (answered_.size() > kKept) answered_.pop_front();
  forget(job);
}

/// Says yes, then what is new, and at last that it is over.
void Player::answer_listen(Job& job) {
  if (!job.listening) {
    job.listening = true;
    return say(notification("subscriptions/acknowledged",
                            listen_mark(job.id) + R"(,"notifications":{)" + R"("toolsListChanged":true,)" +
                                R"("resourceSubscriptions":)" + (job.uris.empty() ? "[]" : job.uris) + "}"));
  }
  if (random_.below(5) == 0) {
    say(R"({"jsonrpc":"2.0","id":)" + job.id + R"(,"result":{"resultType":"complete",)" +
        listen_mark(job.id) + "}}");
    return forget(job);
  }
  if (job.canary.session == 0) {
    return say(notification("tools/list_changed", listen_mark(job.id)));
  }
  say(notification("resources/updated", listen_mark(job.id) + R"(,"uri":"u:)" + job.canary.text() + R"(")"));
}

void Player::log(const Job& job) {
  if (!job.logs || job.canary.session == 0) return;
  constexpr const char* kLevels[] = {"info", "warning", "error"};
  say(notification("message", R"("level":")" + std::string(random_.one_of(kLevels)) + R"(","data":")" +
                                  job.canary.text() + R"(")"));
}

/// On stderr, which names no call either.
void Player::complain(const Job& job) {
  ledger_.note("  " + name() + " complains about " + word_of(job));
  fake_.complain("trouble with " + word_of(job) + "\n");
}

void Player::report_progress(const Job& job) {
  if (job.token.empty()) return;
  say(notification("progress", R"("progressToken":)" + job.token + R"(,"progress":1,"message":")" +
                                   word_of(job) + R"(")"));
}

void Player::ask(const Job& job) {
  if (job.method != "tools/call" || job.given_up) return;
  const std::string method = random_.one_of(kQuestions);
  const std::string id =
      random_.chance(50) ? std::to_string(++last_question_) : "\"q" + std::to_string(++last_question_) + "\"";
  questions_.push_back({id, job.canary});
  say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" +
      question_params(method, job.canary.text()) + "}");
  if (random_.below(6) != 0) return;
  say(notification("cancelled", R"("requestId":)" + id));  // and takes it back
}

void Player::ask_back(const Job& job) {
  if (job.method != "tools/call" || job.asked_once || random_.chance(50)) return;
  const std::string method = random_.one_of(kQuestions);
  say(R"({"jsonrpc":"2.0","id":)" + job.id +
      R"(,"result":{"resultType":"input_required","inputRequests":{"k":{"method":")" + method +
      R"(","params":)" + question_params(method, job.canary.text()) + R"(}},"requestState":"s)" +
      job.canary.text() + R"("}})");
  done(job);
}

void Player::change_list() {
  ++version_;
  if (modern()) return;  // says so to listens alone
  say(R"({"jsonrpc":"2.0","method":"notifications/)" + std::string(random_.one_of(kLists)) +
      R"(/list_changed"})");
}

/// A method name that would become messages of its own if somebody wrote it down as it is.
void Player::forge() {
  const std::string method = R"(notifications/x\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n)"
                             R"({\"jsonrpc\":\"2.0\",\"method\":\"notifications/y/list_changed)";
  std::string mark;
  for (const Job& job : jobs_) {
    if (job.method == "subscriptions/listen" && job.listening) mark = listen_mark(job.id);
  }
  say(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":{)" + mark + "}}");
}

void Player::forget(const Job& job) {
  const std::string id = job.id;
  std::erase_if(jobs_, [&](const Job& one) { return one.id == id; });
}

void Player::leave() {
  ledger_.note("  " + name() + " leaves");
  gone_ = true;
  fake_.exit(0);
}

void Player::crash() {
  ledger_.note("  " + name() + " crashes");
  ++ledger_.deeds.crashes;
  gone_ = true;
  fake_.exit(256);
}

}  // namespace corral::crosstalk
