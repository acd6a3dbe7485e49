// An exchange that remembers what it was told.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"

namespace corral::transport {

class FakeExchange final : public http::Exchange {
 public:
  const http::Peer& peer() const override { return who; }

  void reply(http::Response response) override {
    status = response.status;
    headers = std::move(response.headers);
    body += response.large_body ? *response.large_body : response.body;
    replied = true;
    over = true;
  }
  void begin(int given, http::Headers with) override {
    status = given;
    headers = std::move(with);
    streaming = true;
  }
  void write(const wire::Line& piece) override {
    body += piece.text;
    if (slow) waiting += piece.text.size();
  }
  void finish() override { over = true; }
  std::size_t queued() const override { return waiting; }
  void when_drained(Task task) override { drained = std::move(task); }
  void when_gone(Task task) override { gone = std::move(task); }

  /// The client hangs up.
  void hang_up() {
    if (const Task task = std::exchange(gone, nullptr)) task();
  }
  /// The client reads everything.
  void drain() {
    waiting = 0;
    if (drained) drained();
  }
  /// Of a header that is there twice both, so that a test of one sees it.
  std::string header(std::string_view name) const {
    std::string values;
    for (const http::Header& one : headers) {
      if (one.name == name) values += (values.empty() ? "" : ", ") + one.value;
    }
    return values;
  }

  http::Peer who;
  int status = 0;
  http::Headers headers;
  std::string body;
  bool replied = false;
  bool streaming = false;
  bool over = false;
  bool slow = false;  // takes nothing
  std::size_t waiting = 0;
  Task drained;
  Task gone;
};

}  // namespace corral::transport
