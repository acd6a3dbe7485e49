// Ids for objects that may be gone by the time they are looked up: sessions, calls, questions,
// instances. No id is issued twice while the daemon runs, so an id that is found still means the same object.
// A pointer does not: the next object of that size may get the same address. Each kind of id has its own
// type, so one kind cannot be passed for another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace corral {

/// A number with a type. Zero refers to no object.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;  // no object
  constexpr explicit Id(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const { return value_; }
  constexpr explicit operator bool() const { return value_ != 0; }
  friend constexpr bool operator==(Id one, Id other) { return one.value_ == other.value_; }
  friend constexpr bool operator<(Id one, Id other) { return one.value_ < other.value_; }

 private:
  std::uint64_t value_ = 0;
};

/// Issues each id once, starting at 1. Not thread-safe.
template <class AnId>
class IdSource {
 public:
  AnId next() { return AnId(++last_); }

 private:
  std::uint64_t last_ = 0;
};

using SessionId = Id<struct SessionTag>;
using CallId = Id<struct CallTag>;          // a request that corral sent to one instance
using QuestionId = Id<struct QuestionTag>;  // a request from a server, as its client sees it

/// Random text, so it is also unique among the instances of earlier daemons.
class InstanceId {
 public:
  InstanceId() = default;  // no instance
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

/// For the messages of failed tests and for logs.
template <class Stream, class Tag>
auto operator<<(Stream& out, Id<Tag> id) -> decltype(out << id.value()) {
  return out << id.value();
}

}  // namespace corral

template <class Tag>
struct std::hash<corral::Id<Tag>> {
  std::size_t operator()(corral::Id<Tag> id) const noexcept { return std::hash<std::uint64_t>()(id.value()); }
};
