#include "observe/prometheus_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "wire/text_blocks.h"

namespace corral::observe {
namespace {

std::string metric_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), written.ptr};
}

/// The format has three escapes.
void append_escaped(std::string& text, std::string_view value) {
  for (const char letter : value) {
    switch (letter) {
      case '\\': text += "\\\\"; break;
      case '"': text += "\\\""; break;
      case '\n': text += "\\n"; break;
      default: text += letter;
    }
  }
}

}  // namespace

std::string label_value(std::string_view bytes) {
  constexpr std::size_t kLongest = 200;
  std::string value;
  const char* at = bytes.data();
  const char* const end = at + std::min(bytes.size(), kLongest);
  while (at != end) {
    const std::size_t length = static_cast<unsigned char>(*at) < 0x80 ? 1 : wire::utf8_length(at, end);
    value += length == 0 ? "\xEF\xBF\xBD" : std::string_view(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return value;
}

void DurationHistogram::add(double seconds) {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++counts_.at(static_cast<std::size_t>(bound - kBounds.begin()));
  sum_ += seconds;
}

std::uint64_t DurationHistogram::up_to(std::size_t bound) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i <= bound && i < counts_.size(); ++i) sum += counts_.at(i);
  return sum;
}

void PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
  text_.append(name).append(" ").append(type).append("\n");
}

void PrometheusText::histogram(const MetricLabels& labels, const DurationHistogram& durations) {
  MetricLabels with_bound = labels;
  with_bound.push_back({"le", {}});
  constexpr std::size_t kLast = DurationHistogram::kBounds.size();
  for (std::size_t i = 0; i <= kLast; ++i) {
    const std::string bound = i == kLast ? "+Inf" : metric_number(DurationHistogram::kBounds.at(i));
    with_bound.back().value = bound;
    line(name_ + "_bucket", with_bound, static_cast<double>(durations.up_to(i)));
  }
  line(name_ + "_sum", labels, durations.sum());
  line(name_ + "_count", labels, static_cast<double>(durations.up_to(kLast)));
}

void PrometheusText::line(std::string_view name, const MetricLabels& labels, double value) {
  text_ += name;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text_ += i == 0 ? '{' : ',';
    text_.append(labels[i].name).append("=\"");
    append_escaped(text_, labels[i].value);
    text_ += '"';
  }
  if (!labels.empty()) text_ += '}';
  text_.append(" ").append(metric_number(value)).append("\n");
}

}  // namespace corral::observe
