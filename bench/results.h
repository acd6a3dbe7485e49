// Collects what was measured, prints it as aligned markdown tables, and writes it as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace corral::bench {

enum class Verdict {
  None,   // nothing to judge
  Ok,     // within the budget
  Noise,  // over the budget, but by less than this machine can tell apart right now
  Over,
};

const char* to_string(Verdict verdict);

/// JSON text of a value.
std::string json(double value);
std::string json(const std::string& text);

/// Text with a fixed number of decimals, and perhaps a unit after a space.
std::string fixed(double value, int decimals, const std::string& unit = "");

using Fields = std::vector<std::pair<std::string, std::string>>;  // key, JSON text

struct Row {
  std::vector<std::string> cells;  // for the table, without the verdict, which is added
  Fields fields;                   // for the JSON
  Verdict verdict = Verdict::None;
};

struct Section {
  std::string name;   // as in --only
  std::string title;  // above the table
  std::string note;   // how to read it, below the table
  std::vector<std::string> headers;
  std::vector<Row> rows;
};

/// One variant against the raw pipe (or another yardstick) that was measured beside it.
struct Comparison {
  double value = 0;  // median of the variant
  double over = 0;   // median of variant minus yardstick, pair by pair
  double ratio = 1;  // median of variant / yardstick, pair by pair
  double low = 1;    // the middle half of these ratios
  double high = 1;
  std::size_t samples = 0;
};

Comparison compare(const std::vector<double>& samples, const std::vector<double>& base);

/// Judges the ratio: over the target by no more than the noise floor is not a finding.
Verdict judge_ratio(const Comparison& comparison, double target, double floor);

/// The cells "median, over raw, x raw, middle half" and the JSON fields of a comparison.
void add_comparison(Row& row, const Comparison& comparison, const std::string& unit);

/// The median alone, for the yardstick itself.
void add_yardstick(Row& row, const std::vector<double>& samples, const std::string& unit);

/// The headers that go with the two above, between the name of the variant and the target.
std::vector<std::string> comparison_headers(const std::string& first);

class Results {
 public:
  /// Prints the section at once: a person watches.
  void add(Section section);

  int count(Verdict verdict) const;

  /// Facts about the run, in order, for the JSON only.
  void fact(const std::string& key, const std::string& json_text) { facts_.emplace_back(key, json_text); }

  /// Creates the directory of `path` if needed. Throws std::runtime_error if it can't be written.
  void write_json(const std::string& path) const;

 private:
  Fields facts_;
  std::vector<Section> sections_;
};

}  // namespace corral::bench
