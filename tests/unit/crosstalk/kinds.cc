#include "crosstalk/kinds.h"

#include <algorithm>

#include "transport/http_request.h"
#include "transport/streamable_fixture.h"

namespace corral::crosstalk {

// ---- pipes

void PipeClient::transmit(const std::string& message, const std::string&, const std::string&) {
  if (!closing_ && !lost()) fake_.say(message);
}

void PipeClient::hurry() {
  slow_for_ = 0;
  fake_.slow = false;
  if (!fake_.session.ended()) fake_.session.output_drained();
}

void PipeClient::read() {
  if (slow_for_ > 0 && --slow_for_ == 0) hurry();
  for (const std::string& line : fake_.heard()) {
    if (dead_) {
      ledger_.fault(name() + " is gone and was told: " + line);
    } else {
      take(line);
    }
  }
  for (const std::string& note : fake_.notes) check_words(note, "a note");
  fake_.notes.clear();
  check_words(fake_.errors + fake_.exit_reason, "what its program says on stderr");
  if (dead_ || !lost()) return;
  // The daemon has ended it: not before everything was answered.
  if (!unanswered().empty()) ledger_.fault(name() + " ended without answers to" + unanswered());
  dead_ = true;
}

void PipeClient::die() {
  constexpr session::EndReason kReasons[] = {session::EndReason::ClientGone, session::EndReason::OutputClosed,
                                             session::EndReason::ShimGone};
  dead_ = true;
  fake_.session.end(random_.one_of(kReasons));
  fake_.heard();
}

void PipeClient::do_something_special() {
  if (random_.chance(70)) {
    constexpr int kSteps = 30;  // what a server may say meanwhile fits into its pipe
    ledger_.note(name() + " reads slowly");
    fake_.slow = true;
    slow_for_ = kSteps;
    return;
  }
  ledger_.note(name() + " closes its end and waits for its answers");
  if (slow_for_ > 0) hurry();
  closing_ = true;
  fake_.session.input_ended();
}

// ---- by URL

http::Request UrlClient::post(const std::string& message) { return transport::json_post(message); }

UrlClient::HttpReply UrlClient::send(http::Request request, const std::string& path) {
  auto reply = std::make_shared<transport::FakeExchange>();
  request.path = path;
  if (!definition_.root.empty()) {
    request.query += std::string(request.query.empty() ? "" : "&") + "root=" + definition_.root;
  }
  if (!request.body) request.body = std::make_shared<const std::string>();
  request.peer = std::make_shared<const http::Peer>();
  endpoint_.handle(request, reply, {definition_.principal, {}});
  return reply;
}

std::vector<std::string> UrlClient::news_of(Open& open) {
  std::vector<std::string> news;
  transport::FakeExchange& reply = *open.reply;
  if (reply.replied) {
    const bool empty = reply.status == 202 || reply.status == 204 || open.read > 0;
    open.read = reply.body.size() + 1;
    if (!empty) news.push_back(reply.body);
    return news;
  }
  const std::size_t end = reply.body.rfind("\n\n");
  if (end == std::string::npos || end + 2 <= open.read) return news;
  for (const transport::Seen& event :
       transport::events_of(reply.body.substr(open.read, end + 2 - open.read))) {
    if (!event.id.empty()) open.last_event = event.id;
    if (!event.data.empty()) news.push_back(event.data);
  }
  open.read = end + 2;
  return news;
}

void UrlClient::hang_up_all() {
  for (const Open& open : std::exchange(open_, {})) {
    if (!open.reply->over) open.reply->hang_up();
  }
}

// ---- Streamable HTTP

http::Request StreamableClient::with_session(http::Request request) const {
  if (session_.empty()) return request;
  request.headers.push_back({"Mcp-Session-Id", session_});
  request.headers.push_back({"MCP-Protocol-Version", version_});
  return request;
}

void StreamableClient::transmit(const std::string& message, const std::string&, const std::string& id) {
  open_.push_back({send(with_session(post(message)), "/mcp/" + definition_.server), id, 0, ""});
}

void StreamableClient::read() {
  std::vector<std::string> news;
  for (auto open = open_.begin(); open != open_.end();) {
    const std::string session = open->reply->header("Mcp-Session-Id");
    if (session_.empty() && !session.empty()) session_ = session;
    if (open->reply->status == 404) lost_ = true;
    for (std::string& message : news_of(*open)) {
      if (message.find(R"("id":null)") == std::string::npos) news.push_back(std::move(message));
    }
    const bool done = open->reply->over;
    if (done && open->id.empty() && !open->last_event.empty()) last_event_ = open->last_event;
    open = done ? open_.erase(open) : std::next(open);
  }
  for (const std::string& message : news) take(message);
  if (requests_.contains("0") && requests_.at("0").answers > 0 && !greeted_) lost_ = true;  // refused
}

/// Goes with a word, or without one.
void StreamableClient::die() {
  dead_ = true;
  hang_up_all();
  if (session_.empty() || random_.chance(15)) return;
  http::Request request;
  request.method = "DELETE";
  send(with_session(std::move(request)), "/mcp/" + definition_.server);
}

/// The stream for what belongs to no request; a lost one is found again.
void StreamableClient::do_something_special() {
  const auto listens = std::find_if(open_.begin(), open_.end(), [](const Open& open) {
    return open.id.empty() && open.reply->streaming && !open.reply->over;
  });
  if (listens != open_.end()) {
    last_event_ = listens->last_event;
    const HttpReply reply = listens->reply;
    open_.erase(listens);
    return reply->hang_up();
  }
  http::Request request;
  request.method = "GET";
  request.headers.push_back({"Accept", "text/event-stream"});
  if (!last_event_.empty()) request.headers.push_back({"Last-Event-ID", std::exchange(last_event_, {})});
  open_.push_back({send(with_session(std::move(request)), "/mcp/" + definition_.server), "", 0, ""});
}

// ---- HTTP+SSE

void SseClient::transmit(const std::string& message, const std::string&, const std::string&) {
  if (!stream_) {
    http::Request request;
    request.method = "GET";
    request.headers.push_back({"Accept", "text/event-stream"});
    stream_ = send(std::move(request), "/sse/" + definition_.server);
    const auto events = transport::events_of(stream_->body);
    if (events.empty()) {
      lost_ = true;
      return;
    }
    read_ = stream_->body.size();
    const std::string& where = events.front().data;
    endpoint_path_ = where.substr(0, where.find('?'));
    endpoint_query_ = where.substr(where.find('?') + 1);
  }
  http::Request request = post(message);
  request.query = endpoint_query_;
  open_.push_back({send(std::move(request), endpoint_path_), "", 0, ""});
}

void SseClient::read() {
  for (auto open = open_.begin(); open != open_.end();) {
    if (open->reply->status >= 400) lost_ = true;
    check_words(open->reply->body, "an answer to a POST");
    open = open->reply->over ? open_.erase(open) : std::next(open);
  }
  if (!stream_ || dead_) return;
  Open open{stream_, "", read_, ""};
  const auto news = news_of(open);
  read_ = open.read;
  for (const std::string& message : news) take(message);
  if (stream_->over) lost_ = true;
}

void SseClient::die() {
  dead_ = true;
  hang_up_all();
  if (stream_ && !stream_->over) stream_->hang_up();
}

// ---- 2026-07-28 by URL

void ModernUrlClient::transmit(const std::string& message, const std::string& method, const std::string& id) {
  http::Request request = post(message);
  request.headers.push_back({"MCP-Protocol-Version", version_});
  request.headers.push_back({"Mcp-Method", method});
  const Canary canary = id.empty() ? Canary{} : requests_.at(id).canary;
  if (method == "tools/call") request.headers.push_back({"Mcp-Name", "work"});
  if (method == "prompts/get") request.headers.push_back({"Mcp-Name", "p"});
  if (method == "resources/read") request.headers.push_back({"Mcp-Name", "u:" + canary.text()});
  open_.push_back({send(std::move(request), "/mcp/" + definition_.server), id, 0, ""});
}

void ModernUrlClient::take_back(const std::string& id) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.id == id; });
  if (found == open_.end()) return;
  const HttpReply reply = found->reply;
  open_.erase(found);
  if (!reply->over) reply->hang_up();
}

/// A question is for the program: which of its calls it belongs to nobody can tell. All else is for one call.
void ModernUrlClient::check_message(const std::string& message, const Canary& canary) {
  if (message.find(R"("inputRequests")") != std::string::npos || quotes_stderr(message)) return;
  for (const Canary& other : canaries_in(message)) {
    if (other == canary) continue;
    ledger_.fault(name() + " got " + other.text() + " on the connection of " + canary.text() + ": " +
                  message);
  }
}

void ModernUrlClient::read() {
  std::vector<std::pair<std::string, Canary>> news;
  for (auto open = open_.begin(); open != open_.end();) {
    const Canary canary = open->id.empty() ? Canary{} : requests_.at(open->id).canary;
    for (const std::string& message : news_of(*open)) news.emplace_back(message, canary);
    open = open->reply->over ? open_.erase(open) : std::next(open);
  }
  for (const auto& [message, canary] : news) {
    check_message(message, canary);
    take(message);
  }
}

void ModernUrlClient::die() {
  dead_ = true;
  hang_up_all();
}

}  // namespace corral::crosstalk
