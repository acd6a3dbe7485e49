// Changes to a text that is otherwise passed on unchanged.
#pragma once

#include <string>
#include <string_view>
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

}  // namespace corral::bridge
