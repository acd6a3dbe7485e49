// Changes to a text that is otherwise passed on as it is.
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

/// `changes` are in order of place and do not overlap; so everywhere here.
std::string changed(std::string_view text, const std::vector<Change>& changes);

/// Sends the line to the client with these changes; copies it only if there are many.
void send_changed(Outlet& outlet, const wire::Line& line, const std::vector<Change>& changes);

/// Adds those of a piece of a text, which begins at `offset`, to those of the text; they may come in any
/// order.
void add_changes(std::vector<Change>& changes, std::vector<Change> of_piece, std::size_t offset);

void sort_by_place(std::vector<Change>& changes);

}  // namespace corral::bridge
