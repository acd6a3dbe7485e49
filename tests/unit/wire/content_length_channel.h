// A channel with a framing other than lines: each message follows a header with its length. It shows what a
// third kind of channel takes, and carries instances and sessions in channel_test.cc.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "wire/channel.h"

namespace corral::tests {

/// Not careful: the peer is a test. Reads a small piece per turn, so that frames are split.
class ContentLengthChannel final : public wire::Channel {
 public:
  ContentLengthChannel(Loop& loop, UniqueFd in, UniqueFd out, std::size_t cap, Handler& handler)
      : Channel(loop, std::move(out), handler, Framing::Own), in_(std::move(in)), cap_(cap) {
    fcntl(in_.get(), F_SETFL, fcntl(in_.get(), F_GETFL) | O_NONBLOCK);
    watch_ = std::make_unique<Watch>(loop, in_.get());
  }

  static std::unique_ptr<Channel> make(Loop& loop, UniqueFd in, UniqueFd out, std::size_t cap,
                                       Handler& handler, const char* /*what*/) {
    return std::make_unique<ContentLengthChannel>(loop, std::move(in), std::move(out), cap, handler);
  }
  static std::string header(std::size_t bytes) {
    return "Content-Length: " + std::to_string(bytes) + "\r\n\r\n";
  }
  static std::string framed(const std::string& message) { return header(message.size()) + message; }

  void read_rest(Task done) override {
    while (read_piece() > 0) {
    }
    hand_over_held(std::move(done));
  }
  void hand_over_held(Task done) override {
    reading_ = false;
    ended_ = true;
    if (deliver(When::Always)) done();
  }

 private:
  enum class When : std::uint8_t { Reading, Always };

  void frame(const wire::Line& message, std::initializer_list<wire::Edit> edits,
             wire::OutQueue& out) override {
    std::size_t bytes = message.text.size();
    for (const wire::Edit& edit : edits) {
      if (edit.where.present()) bytes += edit.text.size() - (edit.where.end - edit.where.begin);
    }
    out.push_bytes({header(bytes), nullptr});
    out.push_bytes(message, edits);
  }
  void start_reading() override {
    if (ended_ || !in_.valid()) return;
    reading_ = true;
    loop_.post(lifetime_.guard([this] { go_on(); }));
  }
  void close_input() override {
    ended_ = true;
    watch_.reset();
    in_.reset();
  }

  void go_on() {
    if (!reading_ || !deliver(When::Reading) || !reading_) return;
    watch_->when_readable([this] {
      if (!reading_) return;
      if (read_piece() != 0) return go_on();
      reading_ = false;
      ended_ = true;
      handler_.on_input_end();
    });
  }
  ssize_t read_piece() {
    char piece[50];
    const ssize_t got = read(in_.get(), piece, sizeof piece);
    if (got > 0) held_.append(piece, static_cast<std::size_t>(got));
    return got;
  }
  /// False if a handler has destroyed or closed the channel.
  bool deliver(When when) {
    const Lifetime::Watch life = lifetime_.watch();
    while (when == When::Always || reading_) {
      const std::size_t blank = held_.find("\r\n\r\n");
      if (blank == std::string::npos) break;
      std::size_t bytes = 0;
      std::from_chars(held_.data() + held_.find(' ') + 1, held_.data() + blank, bytes);
      const std::size_t end = blank + 4 + bytes;
      if (held_.size() < end) break;
      const std::string text = held_.substr(blank + 4, bytes);
      held_.erase(0, end);
      if (bytes > cap_) {
        handler_.on_oversized({.id = "", .bytes = bytes});
      } else {
        handler_.on_message(wire::Message(text));
      }
      if (life.over() || !in_.valid()) return false;
    }
    return true;
  }

  UniqueFd in_;
  std::unique_ptr<Watch> watch_;
  std::size_t cap_;
  std::string held_;
  bool ended_ = false;
};

}  // namespace corral::tests
