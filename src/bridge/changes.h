// Changes to a text that is otherwise passed on unchanged: any number of them as a list, or a few on the
// stack.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridge/bridge.h"
#include "wire/span.h"

namespace corral::bridge {

struct Change {
  wire::Span where;  // never empty
  std::string text;
};

/// Applies the changes. Here and below, `changes` must be in order of position and must not overlap.
std::string changed(std::string_view text, const std::vector<Change>& changes);

/// Sends the line to the client with these changes; copies it only if there are many.
void send_changed(Outlet& outlet, const wire::Line& line, const std::vector<Change>& changes);

/// Adds the changes of a part of a text, which begins at `offset`, to those of the text. They may be in any
/// order.
void add_changes(std::vector<Change>& changes, std::vector<Change> of_piece, std::size_t offset);

void sort_by_place(std::vector<Change>& changes);

/// A few edits of one message, together with their replacement texts. Lives on the stack while a message is
/// sent. Holds at most eight edits; further ones are ignored.
class Edits {
 public:
  Edits() = default;
  Edits(const Edits&) = delete;  // the edits point to the texts

  void replace(wire::Span where, std::string text) {
    if (!where.present() || count_ == list_.size()) return;
    texts_[count_] = std::move(text);
    list_[count_] = {where, texts_[count_]};
    ++count_;
  }
  /// Inserts `members` at the beginning of the object at `object`, a span of `line`.
  void add_members(std::string_view line, wire::Span object, const std::string& members) {
    const std::size_t next = line.find_first_not_of(" \t\r\n", object.begin + 1);
    const bool empty = next != std::string_view::npos && line[next] == '}';
    replace({object.begin, object.begin + 1}, "{" + members + (empty ? "" : ","));
  }

  /// Sends the line with the edits to the client.
  void send(Outlet& outlet, const wire::Line& line) {
    sort();
    outlet.to_client(line, {list_[0], list_[1], list_[2], list_[3], list_[4], list_[5], list_[6], list_[7]});
  }
  /// The text with the edits.
  std::string applied(std::string_view text) {
    sort();
    return wire::edited(text, list_);
  }

 private:
  void sort() {
    std::sort(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const wire::Edit& a, const wire::Edit& b) { return a.where.begin < b.where.begin; });
  }

  std::array<std::string, 8> texts_;
  std::array<wire::Edit, 8> list_;  // the unused ones have no span and are ignored
  std::size_t count_ = 0;
};

}  // namespace corral::bridge
