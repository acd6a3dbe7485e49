// Reads the text format 0.0.4 of Prometheus, and objects to whatever a strict reader or `promtool check
// metrics` would object to.
#pragma once

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace corral::observe {

class PrometheusReader {
 public:
  explicit PrometheusReader(std::string_view text) {
    if (!text.ends_with('\n')) object("the last line has no end");
    while (!text.empty() && problem_.empty()) {
      const std::size_t end = text.find('\n');
      line_ = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      line_.starts_with('#') ? read_comment() : read_sample();
    }
    if (problem_.empty()) finish_family();
  }

  /// Empty if there is nothing to object to.
  const std::string& problem() const { return problem_; }
  /// By name and labels, as they are written: `corral_spawns_total{server="files"}`.
  const std::map<std::string, double, std::less<>>& samples() const { return samples_; }
  bool has_family(const std::string& name) const { return families_.contains(name); }

 private:
  using Labels = std::map<std::string, std::string>;

  void object(const std::string& what) {
    if (problem_.empty()) problem_ = what + ": " + std::string(line_);
  }

  static bool is_name(std::string_view name) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
    return !name.empty() && kLetters.find(name.front()) != std::string_view::npos &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
  }

  void read_comment() {
    const bool help = line_.starts_with("# HELP ");
    if (!help && !line_.starts_with("# TYPE ")) return object("a comment that is neither help nor type");
    std::string_view rest = line_.substr(7);
    const std::string name(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!is_name(name)) return object("a bad name");
    if (rest.empty()) return object("no help or type");
    if (help) {
      finish_family();
      if (!families_.insert(name).second) return object("a family twice");
      family_ = name;
      type_.clear();
      return;
    }
    if (name != family_ || !type_.empty()) return object("a type without its help before it");
    type_ = rest;
    if (type_ != "counter" && type_ != "gauge" && type_ != "histogram") return object("an unknown type");
    if ((type_ == "counter") != name.ends_with("_total")) return object("counters and only they are totals");
    for (const char* unit : {"_ms", "_milliseconds", "_minutes", "_kb", "_percent"}) {
      if (name.find(unit) != std::string::npos) return object("not a base unit");
    }
  }

  /// Returns what follows the labels.
  std::string_view read_labels(std::string_view rest, Labels& labels) {
    while (!rest.starts_with('}')) {
      const std::size_t equals = rest.find("=\"");
      const std::string name(rest.substr(0, equals));
      if (equals == std::string_view::npos || !is_name(name)) return object("a bad label"), rest;
      rest.remove_prefix(equals + 2);
      std::string value;
      while (!rest.empty() && rest.front() != '"') {
        if (rest.front() == '\\' &&
            (rest.size() < 2 || std::string_view("\\\"n").find(rest[1]) == std::string_view::npos))
          return object("a bad escape"), rest;
        const std::size_t taken = rest.front() == '\\' ? 2 : 1;
        value += rest.substr(0, taken);
        rest.remove_prefix(taken);
      }
      if (rest.empty()) return object("a label without an end"), rest;
      rest.remove_prefix(1);
      if (!labels.emplace(name, value).second) return object("a label twice"), rest;
      if (rest.starts_with(',')) {
        rest.remove_prefix(1);
      } else if (!rest.starts_with('}')) {
        return object("something after a label"), rest;
      }
    }
    return rest.substr(1);
  }

  void read_sample() {
    const std::size_t end = line_.find_first_of("{ ");
    const std::string name(line_.substr(0, end));
    if (end == std::string_view::npos || !is_name(name)) return object("a bad name");
    Labels labels;
    std::string_view rest = line_.substr(end);
    if (rest.starts_with('{')) rest = read_labels(rest.substr(1), labels);
    if (!problem_.empty()) return;
    const std::string key(line_.substr(0, line_.size() - rest.size()));
    if (!rest.starts_with(' ')) return object("no space before the value");
    rest.remove_prefix(1);
    double value = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (read.ec != std::errc() || read.ptr != rest.data() + rest.size()) return object("a bad value");
    if (type_.empty()) return object("a sample without a type");
    const bool part = name == family_ + "_bucket" || name == family_ + "_sum" || name == family_ + "_count";
    if (type_ == "histogram" ? !part : name != family_) return object("a sample outside of its family");
    if (type_ != "gauge" && value < 0) return object("a counter below 0");
    if (!samples_.emplace(key, value).second) return object("a sample twice");
    if (type_ == "histogram") read_part(name.substr(family_.size()), std::move(labels), value);
  }

  struct Histogram {
    double last_bound = -1;
    double last_count = 0;
    double count = -1;
    bool has_sum = false;
  };

  void read_part(const std::string& part, Labels labels, double value) {
    const auto bound = labels.find("le");
    if ((part == "_bucket") != (bound != labels.end())) return object("`le` belongs to buckets");
    const std::string le = bound == labels.end() ? std::string() : bound->second;
    labels.erase("le");
    Histogram& histogram = histograms_[labels];
    if (part == "_sum") histogram.has_sum = true;
    if (part == "_count") histogram.count = value;
    if (part != "_bucket") return;
    const double number = le == "+Inf" ? INFINITY : std::stod(le);
    if (number <= histogram.last_bound) return object("a bound that does not grow");
    if (value < histogram.last_count) return object("a bucket with less than the one before");
    histogram.last_bound = number;
    histogram.last_count = value;
  }

  void finish_family() {
    if (!family_.empty() && type_.empty()) object("a family without a type before");
    for (const auto& [labels, histogram] : histograms_) {
      if (!std::isinf(histogram.last_bound) || !histogram.has_sum ||
          histogram.count != histogram.last_count) {
        object("the histogram before is not complete");
      }
    }
    histograms_.clear();
  }

  std::string problem_;
  std::string_view line_;
  std::string family_;
  std::string type_;
  std::set<std::string> families_;
  std::map<std::string, double, std::less<>> samples_;
  std::map<Labels, Histogram> histograms_;  // of the family
};

}  // namespace corral::observe
