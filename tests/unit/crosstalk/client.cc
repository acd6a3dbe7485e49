#include "crosstalk/client.h"

#include <algorithm>

namespace corral::crosstalk {
namespace {

using boost::json::object;
using boost::json::serialize;

constexpr std::size_t kMostOpen = 6;
constexpr const char* kLegacyVersions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
constexpr const char* kCan = R"({"roots":{},"sampling":{},"elicitation":{}})";

std::string answer_to(const std::string& method, const std::string& word) {
  if (method == "elicitation/create") return R"({"action":"accept","content":{"word":")" + word + R"("}})";
  if (method == "roots/list") return R"({"roots":[{"uri":"file:///)" + word + R"("}]})";
  return R"({"model":"m","role":"assistant","content":{"type":"text","text":")" + word + R"("}})";
}

/// In its arguments, so that the server would see it.
bool carries_canary(const std::string& method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}
bool awaits(const std::string& method) { return method != "subscriptions/listen"; }

}  // namespace

Client::Client(Definition definition, knowledge::Era era, Ledger& ledger, Random& random)
    : definition_(std::move(definition)),
      era_(era),
      ledger_(ledger),
      random_(random),
      number_(ledger.next_session()) {
  version_ = modern() ? "2026-07-28" : random.one_of(kLegacyVersions);
  ledger_.enter(number_, definition_.scope());
  ++ledger_.deeds.sessions;
}

// ---- what it does

void Client::act() {
  if (dead_) return;
  if (!opened_) return open();
  if (!may_speak()) return;
  switch (random_.below(16)) {
    case 0:
    case 1:
    case 2: return cancel();
    case 3:
    case 4:
    case 5: return answer_question();
    case 6: return do_something_special();
    case 7:
      if (random_.below(3) != 0) return;
      ledger_.note(name() + " dies");
      return die();
    default: return call();
  }
}

void Client::open() {
  opened_ = true;
  ledger_.note(name() + " opens, for " + definition_.scope());
  if (modern()) {
    greeted_ = true;
    if (random_.chance(50)) return call();
    return request("server/discover", "", mint());
  }
  const Canary canary{number_, 0};
  const std::string id = "0";
  requests_[id] = {canary, "initialize", "", false, 0};
  transmit(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" + version_ +
               R"(","capabilities":)" + kCan + R"(,"clientInfo":{"name":")" + canary.text() +
               R"(","version":"1"}}})",
           "initialize", id);
}

std::string Client::next_id(const Canary& canary) {
  ++last_id_;
  switch (random_.below(4)) {
    case 0: return "\"" + std::to_string(last_id_) + "\"";
    case 1: return "\"" + canary.text() + std::to_string(last_id_) + "\"";  // nobody else has to know it
    default: return std::to_string(last_id_);
  }
}

std::string Client::modern_meta(const std::string& more) const {
  return R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":)" +
         std::string(kCan) + more + "}";
}

void Client::request(const std::string& method, const std::string& params, const Canary& canary) {
  const std::string id = next_id(canary);
  std::string meta;
  std::string token;
  if (random_.chance(60) && awaits(method)) {
    token = random_.chance(50) ? std::to_string(canary.call) : "\"" + canary.text() + "\"";
    meta = R"("progressToken":)" + token;
  }
  if (modern()) {
    if (random_.chance(60))
      meta += std::string(meta.empty() ? "" : ",") + R"("io.modelcontextprotocol/logLevel":"info")";
    meta = modern_meta(meta.empty() ? "" : "," + meta);
  } else {
    meta = R"("_meta":{)" + meta + "}";
  }
  requests_[id] = {canary, method, token, false, 0};
  ++ledger_.deeds.calls;
  const std::string message = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method +
                              R"(","params":{)" + params + (params.empty() ? "" : ",") + meta + "}}";
  ledger_.note(name() + " says " + message);
  transmit(message, method, id);
}

void Client::call() {
  const auto open = std::count_if(requests_.begin(), requests_.end(), [](const auto& one) {
    return one.second.answers == 0 && !one.second.cancelled;
  });
  if (static_cast<std::size_t>(open) >= kMostOpen) return;
  const Canary canary = mint();
  const std::string word = canary.text();
  switch (random_.below(12)) {
    case 0: return request("tools/list", "", canary);
    case 1: return request("prompts/get", R"("name":"p","arguments":{"c":")" + word + R"("})", canary);
    case 2: return request("resources/read", R"("uri":"u:)" + word + R"(")", canary);
    case 3:
      if (modern()) {
        return request(
            "subscriptions/listen",
            R"("notifications":{"toolsListChanged":true,"resourceSubscriptions":["u:)" + word + R"("]})",
            canary);
      }
      return request(random_.chance(70) ? "resources/subscribe" : "resources/unsubscribe",
                     R"("uri":"u:)" + word + R"(")", canary);
    case 4:
      if (modern()) return request("tools/list", "", canary);
      return request("logging/setLevel", R"("level":"info")", canary);
    case 5:
      if (modern()) return;
      return request("ping", "", canary);
    default: return request("tools/call", R"("name":"work","arguments":{"c":")" + word + R"("})", canary);
  }
}

/// If no server has seen the call although the daemon has nothing left to do, none may see it later.
void Client::cancel() {
  std::vector<std::string> open;
  for (const auto& [id, one] : requests_) {
    if (one.answers == 0 && !one.cancelled && one.method != "initialize") open.push_back(id);
  }
  if (open.empty()) return;
  const std::string id = random_.one_of(open);
  const bool settled = random_.chance(60);
  if (settled) {
    settle_();
    read();
  }
  Request& one = requests_.at(id);
  if (one.answers > 0 || dead_) return;
  one.cancelled = true;
  ++ledger_.deeds.cancelled;
  ledger_.note(name() + " takes " + id + " back");
  if (settled && carries_canary(one.method) && !ledger_.seen_by_a_server(one.canary))
    ledger_.never(one.canary);
  take_back(id);
}

void Client::take_back(const std::string& id) {
  transmit(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}",
           "notifications/cancelled", "");
}

void Client::answer_question() {
  if (questions_.empty()) return;
  const std::size_t which = random_.below(questions_.size());
  const Asked asked = questions_[which];
  questions_.erase(questions_.begin() + static_cast<std::ptrdiff_t>(which));
  ledger_.note(name() + " answers question " + asked.id);
  transmit(
      R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"result":)" + answer_to(asked.method, mint().text()) + "}",
      "", "");
}

void Client::finish() {
  if (dead_ || !opened_) return;
  while (!questions_.empty() && may_speak()) answer_question();
}

// ---- what it hears

/// Nothing that names another session may get here, in whatever form.
void Client::check_words(const std::string& text, const std::string& what) {
  for (const Canary& canary : canaries_in(text)) {
    if (canary.session == number_) continue;
    ledger_.fault(name() + " got " + canary.text() + " of another session in " + what + ": " + text);
  }
}

void Client::take(const std::string& text) {
  ledger_.note(name() + " hears " + text);
  check_words(text, "a message");
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text, error);
  if (error || !value.is_object() || text.find('\n') != std::string::npos) {
    return ledger_.fault(name() + " got what is not one message: " + text);
  }
  const object& message = value.as_object();
  if (!message.contains("method")) return take_response(message, text);
  if (message.contains("id")) return take_question(message, text);
  take_notification(message, text);
}

void Client::take_response(const object& message, const std::string& text) {
  const std::string id = serialize(message.at("id"));
  const auto found = requests_.find(id);
  if (found == requests_.end()) return ledger_.fault(name() + " got an answer to nothing: " + text);
  Request& request = found->second;
  if (++request.answers > 1) return ledger_.fault(name() + " got a second answer: " + text);
  ++ledger_.deeds.answers;
  const auto* const result = message.if_contains("result");
  if (request.method == "initialize" && result != nullptr) {
    greeted_ = true;
    transmit(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "notifications/initialized", "");
    return;
  }
  const object* const inside = result == nullptr ? nullptr : result->if_object();
  if (inside != nullptr && inside->contains("inputRequests")) return input_required(*inside, request.canary);
  if (quotes_stderr(text)) return;
  for (const Canary& canary : canaries_in(text)) {
    if (canary == request.canary) continue;
    ledger_.fault(name() + " got the answer of " + canary.text() + " to " + request.canary.text() + ": " +
                  text);
  }
}

void Client::take_question(const object& message, const std::string& text) {
  const bool may = definition_.own() || definition_.era == knowledge::Era::Modern;
  if (!may) return ledger_.fault(name() + " was asked by a shared server: " + text);
  if (modern()) return ledger_.fault(name() + " is modern and was asked: " + text);
  ++ledger_.deeds.questions;
  questions_.push_back({serialize(message.at("id")), std::string(message.at("method").as_string())});
}

void Client::take_notification(const object& message, const std::string& text) {
  const std::string method(message.at("method").as_string());
  if (method == "notifications/message") ++ledger_.deeds.log_lines;
  if (method.ends_with("/list_changed")) ++ledger_.deeds.list_changes;
  if (method == "notifications/cancelled") {
    const std::string id = serialize(message.at("params").at("requestId"));
    std::erase_if(questions_, [&](const Asked& asked) { return asked.id == id; });
  }
  if (method != "notifications/progress") return;
  ++ledger_.deeds.progress;
  const std::string token = serialize(message.at("params").at("progressToken"));
  const bool ours = std::any_of(requests_.begin(), requests_.end(), [&](const auto& one) {
    const auto canaries = canaries_in(text);
    return one.second.token == token && (canaries.empty() || canaries.back() == one.second.canary);
  });
  if (!ours) ledger_.fault(name() + " heard of progress of another call: " + text);
}

/// A call of a modern client wants an answer first: it is made again with it, most of the time.
void Client::input_required(const object& result, const Canary& canary) {
  ++ledger_.deeds.questions;
  if (dead_ || !may_speak() || random_.below(4) == 0) return;
  std::string answers;
  for (const auto& one : result.at("inputRequests").as_object()) {
    answers += std::string(answers.empty() ? "" : ",") + serialize(boost::json::string(one.key())) + ":" +
               answer_to(std::string(one.value().at("method").as_string()), canary.text());
  }
  std::string params =
      R"("name":"work","arguments":{"c":")" + canary.text() + R"("},"inputResponses":{)" + answers + "}";
  if (const auto* const state = result.if_contains("requestState"))
    params += R"(,"requestState":)" + serialize(*state);
  request("tools/call", params, canary);
}

// ---- how it ends

bool Client::settled() const { return dead_ || lost() || unanswered().empty(); }

std::string Client::unanswered() const {
  std::string list;
  for (const auto& [id, one] : requests_) {
    if (one.answers == 0 && !one.cancelled && awaits(one.method)) list += " " + id + ":" + one.method;
  }
  return list;
}

}  // namespace corral::crosstalk
