#include "bridge/changes.h"

#include <algorithm>
#include <iterator>

namespace corral::bridge {

std::string changed(std::string_view text, const std::vector<Change>& changes) {
  std::vector<wire::Edit> edits;
  edits.reserve(changes.size());
  for (const Change& change : changes) edits.push_back({change.where, change.text});
  return wire::edited(text, edits);
}

void send_changed(Outlet& outlet, const wire::Line& line, const std::vector<Change>& changes) {
  const auto edit = [&changes](std::size_t i) {
    return i < changes.size() ? wire::Edit{changes[i].where, changes[i].text} : wire::Edit{};
  };
  if (changes.empty()) {
    outlet.to_client(line);
  } else if (changes.size() <= 4) {
    outlet.to_client(line, {edit(0), edit(1), edit(2), edit(3)});
  } else {
    const auto text = std::make_shared<const std::string>(changed(line.text, changes));
    outlet.to_client({*text, text});
  }
}

void add_changes(std::vector<Change>& changes, std::vector<Change> of_piece, std::size_t offset) {
  for (Change& change : of_piece) {
    change.where.begin += offset;
    change.where.end += offset;
  }
  std::move(of_piece.begin(), of_piece.end(), std::back_inserter(changes));
}

void sort_by_place(std::vector<Change>& changes) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.where.begin < b.where.begin; });
}

}  // namespace corral::bridge
