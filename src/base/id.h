// Ids of what may be gone by the time it is remembered: sessions, calls, questions, instances. None is ever
// given twice while the daemon runs, so an id that is found again means the same thing as before. An address
// does not: the next object of the same size gets it. Each kind is a type of its own, so that one cannot be
// taken for another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace corral {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;  // nobody's
  constexpr explicit Id(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const { return value_; }
  constexpr explicit operator bool() const { return value_ != 0; }
  friend constexpr bool operator==(Id one, Id other) { return one.value_ == other.value_; }
  friend constexpr bool operator<(Id one, Id other) { return one.value_ < other.value_; }

 private:
  std::uint64_t value_ = 0;
};

/// Gives every id once.
template <class AnId>
class IdSource {
 public:
  AnId next() { return AnId(++last_); }

 private:
  std::uint64_t last_ = 0;
};

using SessionId = Id<struct SessionTag>;
using CallId = Id<struct CallTag>;          // a request that we sent to one instance
using QuestionId = Id<struct QuestionTag>;  // a request of a server, as its client hears it

/// Random text: it is also unique among the instances of earlier daemons.
class InstanceId {
 public:
  InstanceId() = default;  // nobody's
  explicit InstanceId(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  explicit operator bool() const { return !text_.empty(); }
  friend bool operator==(const InstanceId& one, const InstanceId& other) { return one.text_ == other.text_; }
  friend bool operator<(const InstanceId& one, const InstanceId& other) { return one.text_ < other.text_; }

 private:
  std::string text_;
};

template <class Tag>
std::string to_string(Id<Tag> id) {
  return std::to_string(id.value());
}

/// For the messages of failed tests, and for logs.
template <class Stream, class Tag>
auto operator<<(Stream& out, Id<Tag> id) -> decltype(out << id.value()) {
  return out << id.value();
}

}  // namespace corral

template <class Tag>
struct std::hash<corral::Id<Tag>> {
  std::size_t operator()(corral::Id<Tag> id) const noexcept { return std::hash<std::uint64_t>()(id.value()); }
};
