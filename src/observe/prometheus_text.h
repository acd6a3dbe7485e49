// Writes metrics in the text format 0.0.4 of Prometheus: one family after the other, each with its help and
// type.
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

/// Any bytes as the value of a label. One byte that is no UTF-8 would make a reader refuse the whole text.
std::string label_value(std::string_view bytes);

/// How often something took how long. The bounds are for processes that start and end.
class DurationHistogram {
 public:
  static constexpr std::array kBounds = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0};

  void add(double seconds);
  /// Of those up to and with this bound; the last one is of all.
  std::uint64_t up_to(std::size_t bound) const;
  double sum() const { return sum_; }

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0;
};

class PrometheusText {
 public:
  /// What follows belongs to it, until the next one. `type`: "counter", "gauge", "histogram".
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(const MetricLabels& labels, double value) { line(name_, labels, value); }
  void histogram(const MetricLabels& labels, const DurationHistogram& durations);

  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view name, const MetricLabels& labels, double value);

  std::string name_;
  std::string text_;
};

}  // namespace corral::observe
