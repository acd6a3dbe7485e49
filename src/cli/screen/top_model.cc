#include "cli/screen/top_model.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace corral::cli {
namespace {

using KeyKind = TopKey::Kind;

struct Sequence {
  std::string_view bytes;
  KeyKind kind;
};

/// The sequences of xterm and similar terminals, in both cursor modes.
constexpr Sequence kSequences[] = {
    {"\x1b[A", KeyKind::Up},   {"\x1bOA", KeyKind::Up},      {"\x1b[B", KeyKind::Down},
    {"\x1bOB", KeyKind::Down}, {"\x1b[5~", KeyKind::PageUp}, {"\x1b[6~", KeyKind::PageDown},
    {"\x1b[H", KeyKind::Home}, {"\x1bOH", KeyKind::Home},    {"\x1b[1~", KeyKind::Home},
    {"\x1b[F", KeyKind::End},  {"\x1bOF", KeyKind::End},     {"\x1b[4~", KeyKind::End},
};

/// The length of an unknown escape sequence, up to its final letter.
std::size_t length_of_other(std::string_view bytes) {
  std::size_t at = 1;
  if (at < bytes.size() && (bytes[at] == '[' || bytes[at] == 'O')) ++at;
  while (at < bytes.size() && (bytes[at] < '@' || bytes[at] > '~')) ++at;
  return std::min(at + 1, bytes.size());
}

TopKey pop_key(std::string_view& bytes) {
  for (const Sequence& sequence : kSequences) {
    if (!bytes.starts_with(sequence.bytes)) continue;
    bytes.remove_prefix(sequence.bytes.size());
    return {sequence.kind, 0};
  }
  const char first = bytes.front();
  if (first == '\x1b' && bytes.size() > 1) {
    bytes.remove_prefix(length_of_other(bytes));
    return {KeyKind::Other, 0};
  }
  bytes.remove_prefix(1);
  if (first == '\x1b') return {KeyKind::Escape, 0};
  return {KeyKind::Character, first};
}

/// Identifies the selected row, so that it can be found again after an update.
std::tuple<std::string, std::string, std::string> identity(const InstanceRow& row) {
  return {row.id, row.server, row.id.empty() ? row.state : ""};
}

/// Sessions without an instance, as rows: parked, lazy, opening; and servers that refuse calls.
std::vector<InstanceRow> waiting_rows(const Overview& overview) {
  std::map<std::pair<std::string, std::string>, InstanceRow> rows;
  const auto row_of = [&](const std::string& server, const std::string& state) -> InstanceRow& {
    InstanceRow& row = rows[{server, state}];
    row.server = server;
    row.state = state;
    row.reason = waiting_reason(overview, server, state);
    return row;
  };
  for (const observe::ServerView& server : overview.halted) {
    row_of(server.name, std::string(observe::refusing_state(server)));
  }
  for (const observe::SessionView& session : overview.waiting) {
    row_of(session.server, session.state).served.push_back(session);
  }
  std::vector<InstanceRow> list;
  list.reserve(rows.size());
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

}  // namespace

std::vector<TopKey> read_keys(std::string_view bytes) {
  std::vector<TopKey> keys;
  while (!bytes.empty()) keys.push_back(pop_key(bytes));
  return keys;
}

const char* name_of(TopOrder order) {
  switch (order) {
    case TopOrder::Memory: return "memory";
    case TopOrder::Cpu: return "cpu";
    case TopOrder::Uptime: return "uptime";
    case TopOrder::Sessions: return "sessions";
    case TopOrder::Name: break;
  }
  return "name";
}

void TopModel::take(Overview overview) {
  overview_ = std::move(overview);
  const bool had_rows = selected_ < rows_.size();
  const auto before = had_rows ? identity(rows_[selected_]) : identity({});
  rows_ = overview_.instances;
  for (InstanceRow& row : waiting_rows(overview_)) rows_.push_back(std::move(row));
  sort();
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [&before](const InstanceRow& row) { return identity(row) == before; });
  if (had_rows && found != rows_.end()) selected_ = static_cast<std::size_t>(found - rows_.begin());
  move(0);
}

/// Largest first; unknown values last; equal values by name.
void TopModel::sort() {
  const auto more = [this](const InstanceRow& a, const InstanceRow& b) {
    const auto rest_of = [](const InstanceRow& row) { return std::tie(row.server, row.id, row.state); };
    const auto by = [&](const auto& left, const auto& right) {
      return left != right ? right < left : rest_of(a) < rest_of(b);
    };
    switch (order_) {
      case TopOrder::Memory: return by(memory_of(a), memory_of(b));
      case TopOrder::Cpu: return by(cpu_of(a), cpu_of(b));
      case TopOrder::Uptime: return by(a.uptime, b.uptime);
      case TopOrder::Sessions: return by(a.served.size(), b.served.size());
      case TopOrder::Name: break;
    }
    return rest_of(a) < rest_of(b);
  };
  std::sort(rows_.begin(), rows_.end(), more);
}

void TopModel::move(std::ptrdiff_t by) {
  const auto last = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
  const auto wanted = static_cast<std::ptrdiff_t>(selected_) + by;
  selected_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, std::min(wanted, last)));
}

TopAction TopModel::press(const TopKey& key) {
  message_.clear();
  if (key.kind == KeyKind::Other) return {};
  if (asked_.kind != TopAction::Kind::None) {
    return answer(key.kind == KeyKind::Character ? key.character : 'n');
  }
  if (help_) {
    help_ = false;  // any key closes the help, and does nothing else
    return key.kind == KeyKind::Character && key.character == 'q' ? TopAction{TopAction::Kind::Quit}
                                                                  : TopAction{};
  }
  const auto page = static_cast<std::ptrdiff_t>(page_);
  switch (key.kind) {
    case KeyKind::Character: return press_character(key.character);
    case KeyKind::Up: move(-1); break;
    case KeyKind::Down: move(1); break;
    case KeyKind::PageUp: move(-page); break;
    case KeyKind::PageDown: move(page); break;
    case KeyKind::Home: selected_ = 0; break;
    case KeyKind::End: move(static_cast<std::ptrdiff_t>(rows_.size())); break;
    default: break;
  }
  return {};
}

TopAction TopModel::press_character(char character) {
  const auto order_by = [this](TopOrder order) {
    order_ = order;
    take(std::move(overview_));
  };
  switch (character) {
    case 'q':
    case '\x03':  // Ctrl+C, if the terminal does not send a signal for it
    case '\x04': return {TopAction::Kind::Quit};
    case 'k': move(-1); break;
    case 'j': move(1); break;
    case 'm': order_by(TopOrder::Memory); break;
    case 'c': order_by(TopOrder::Cpu); break;
    case 'u': order_by(TopOrder::Uptime); break;
    case 's': order_by(TopOrder::Sessions); break;
    case 'n': order_by(TopOrder::Name); break;
    case 't': trees_ = !trees_; break;
    case '?':
    case 'h': help_ = true; break;
    case 'r': ask(TopAction::Kind::Restart); break;
    case 'x': ask(TopAction::Kind::Stop); break;
    default: break;
  }
  return {};
}

void TopModel::ask(TopAction::Kind kind) {
  if (selected_ >= rows_.size()) {
    message_ = "there is no server to select";
    return;
  }
  asked_ = {kind, rows_[selected_].server};
}

TopAction TopModel::answer(char character) {
  TopAction asked = std::exchange(asked_, {});
  if (character == 'y' || character == 'Y') return asked;
  message_ = "cancelled";
  return {};
}

std::string TopModel::question() const {
  switch (asked_.kind) {
    case TopAction::Kind::Restart: return "restart " + asked_.server + " with all its instances? y/n";
    case TopAction::Kind::Stop: return "stop " + asked_.server + " until it is started again? y/n";
    default: return {};
  }
}

}  // namespace corral::cli
