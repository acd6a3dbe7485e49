// Writes metrics in the Prometheus text format 0.0.4: one family after another, each with its help and type.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corral::observe {

struct MetricLabel {
  std::string_view name;
  std::string_view value;  // UTF-8
};
using MetricLabels = std::vector<MetricLabel>;

/// Makes any bytes usable as a label value. A single byte that is not valid UTF-8 would make a reader reject
/// the whole text.
std::string label_value(std::string_view bytes);

/// Counts durations in buckets. The bounds suit the start and end of processes.
class DurationHistogram {
 public:
  static constexpr std::array kBounds = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0};

  void add(double seconds);
  /// The count up to and including this bound; the last one counts everything.
  std::uint64_t up_to(std::size_t bound) const;
  double sum() const { return sum_; }

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0;
};

class PrometheusText {
 public:
  /// Starts a family; the samples that follow belong to it. `type`: "counter", "gauge", "histogram".
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(const MetricLabels& labels, double value) { line(name_, labels, value); }
  void histogram(const MetricLabels& labels, const DurationHistogram& durations);

  /// Moves the text out.
  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view name, const MetricLabels& labels, double value);

  std::string name_;
  std::string text_;
};

}  // namespace corral::observe
