// The state of `corral top` and the effect of its keys: rows, order, selection, a question, a message. Pure:
// it neither asks the daemon nor draws.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/screen/overview.h"

namespace corral::cli {

struct TopKey {
  enum class Kind { Character, Up, Down, PageUp, PageDown, Home, End, Escape, Other };
  Kind kind = Kind::Other;
  char character = 0;
};

/// Splits the bytes from a terminal into keys. A single escape character is the escape key.
std::vector<TopKey> read_keys(std::string_view bytes);

enum class TopOrder { Memory, Cpu, Uptime, Sessions, Name };
const char* name_of(TopOrder order);

/// What the caller must do after a key.
struct TopAction {
  enum class Kind { None, Quit, Restart, Stop };
  Kind kind = Kind::None;
  std::string server = {};
};

class TopModel {
 public:
  explicit TopModel(TopOrder order = TopOrder::Memory) : order_(order) {}

  /// Replaces the data. The selection stays on the same row, or near it if that row is gone.
  void take(Overview overview);
  TopAction press(const TopKey& key);

  /// Shows a message until the next key.
  void tell(std::string message) { message_ = std::move(message); }
  /// Why the data is out of date; empty = it is current.
  void set_trouble(std::string trouble) { trouble_ = std::move(trouble); }
  /// The number of rows on a page, for the page keys.
  void set_page(std::size_t rows) { page_ = rows == 0 ? 1 : rows; }

  const Overview& overview() const { return overview_; }
  /// Instances, and sessions without one grouped by server and state, in the chosen order.
  const std::vector<InstanceRow>& rows() const { return rows_; }
  std::size_t selected() const { return selected_; }
  TopOrder order() const { return order_; }
  bool shows_trees() const { return trees_; }
  bool shows_help() const { return help_; }
  const std::string& message() const { return message_; }
  const std::string& trouble() const { return trouble_; }
  /// The question that waits for y or n; empty = none.
  std::string question() const;

 private:
  TopAction press_character(char character);
  TopAction answer(char character);
  void ask(TopAction::Kind kind);
  void sort();
  void move(std::ptrdiff_t by);

  Overview overview_;
  std::vector<InstanceRow> rows_;
  std::size_t selected_ = 0;
  std::size_t page_ = 10;
  TopOrder order_;
  bool trees_ = false;
  bool help_ = false;
  TopAction asked_;
  std::string message_;
  std::string trouble_;
};

}  // namespace corral::cli
