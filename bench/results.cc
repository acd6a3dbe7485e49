#include "results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "stats.h"

namespace corral::bench {
namespace {

void print_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line = "|";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string cell = i < cells.size() ? cells[i] : "";
    const std::string pad(widths[i] - cell.size(), ' ');
    // The first column is a name, the rest are numbers.
    line += ' ';
    line += i == 0 ? cell + pad : pad + cell;
    line += " |";
  }
  std::puts(line.c_str());
}

void print(const Section& section) {
  std::vector<std::string> headers = section.headers;
  headers.push_back("verdict");
  std::vector<std::vector<std::string>> lines;
  for (const Row& row : section.rows) {
    lines.push_back(row.cells);
    lines.back().push_back(to_string(row.verdict));
  }
  std::vector<std::size_t> widths;
  std::vector<std::string> rule;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    std::size_t width = headers[i].size();
    for (const auto& line : lines) width = std::max(width, i < line.size() ? line[i].size() : 0);
    widths.push_back(width);
    rule.push_back(i == 0 ? std::string(width, '-') : std::string(width - 1, '-') + ":");
  }
  std::printf("\n### %s\n\n", section.title.c_str());
  print_line(headers, widths);
  print_line(rule, widths);
  for (const auto& line : lines) print_line(line, widths);
  std::printf("\n%s\n", section.note.c_str());
  std::fflush(stdout);
}

std::string object(const Fields& fields) {
  std::string text;
  for (const auto& [key, value] : fields) text += (text.empty() ? "" : ",") + json(key) + ":" + value;
  return "{" + text + "}";
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::None: return "-";
    case Verdict::Ok: return "ok";
    case Verdict::Noise: return "noise";
    case Verdict::Over: return "OVER";
  }
  return "?";
}

std::string json(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string json(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) quoted += c;
  }
  return quoted + "\"";
}

std::string fixed(double value, int decimals, const std::string& unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return unit.empty() ? text : text + (" " + unit);
}

Comparison compare(const std::vector<double>& samples, const std::vector<double>& base) {
  const std::vector<double> quotients = ratios(samples, base);
  return {median(samples),           median(differences(samples, base)), median(quotients),
          quantile(quotients, 0.25), quantile(quotients, 0.75),          samples.size()};
}

Verdict judge_ratio(const Comparison& comparison, double target, double floor) {
  if (comparison.ratio <= target) return Verdict::Ok;
  return comparison.ratio <= target + floor ? Verdict::Noise : Verdict::Over;
}

void add_comparison(Row& row, const Comparison& comparison, const std::string& unit) {
  const std::string over = (comparison.over < 0 ? "" : "+") + fixed(comparison.over, 2, unit);
  row.cells.insert(row.cells.end(),
                   {fixed(comparison.value, 2, unit), over, fixed(comparison.ratio, 2) + " x",
                    fixed(comparison.low, 2) + "-" + fixed(comparison.high, 2)});
  row.fields.insert(row.fields.end(), {{"value", json(comparison.value)},
                                       {"unit", json(unit)},
                                       {"over", json(comparison.over)},
                                       {"ratio", json(comparison.ratio)},
                                       {"ratio_p25", json(comparison.low)},
                                       {"ratio_p75", json(comparison.high)},
                                       {"samples", json(static_cast<double>(comparison.samples))}});
}

void add_yardstick(Row& row, const std::vector<double>& samples, const std::string& unit) {
  row.cells.insert(row.cells.end(), {fixed(median(samples), 2, unit), "", "1.00 x", ""});
  row.fields.insert(row.fields.end(), {{"value", json(median(samples))},
                                       {"unit", json(unit)},
                                       {"ratio", json(1)},
                                       {"samples", json(static_cast<double>(samples.size()))}});
}

std::vector<std::string> comparison_headers(const std::string& first) {
  return {first, "median", "over raw", "x raw", "middle half", "target"};
}

void Results::add(Section section) {
  print(section);
  sections_.push_back(std::move(section));
}

int Results::count(Verdict verdict) const {
  int total = 0;
  for (const Section& section : sections_) {
    total += static_cast<int>(std::count_if(section.rows.begin(), section.rows.end(),
                                            [&](const Row& row) { return row.verdict == verdict; }));
  }
  return total;
}

void Results::write_json(const std::string& path) const {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  std::ofstream file(path, std::ios::trunc);
  file << "{\n  \"schema\": 1";
  for (const auto& [key, value] : facts_) file << ",\n  " << json(key) << ": " << value;
  file << ",\n  \"rows\": [";
  const char* separator = "\n    ";
  for (const Section& section : sections_) {
    for (const Row& row : section.rows) {
      Fields fields{{"measurement", json(section.name)}};
      fields.insert(fields.end(), row.fields.begin(), row.fields.end());
      fields.emplace_back("verdict", json(to_string(row.verdict)));
      file << separator << object(fields);
      separator = ",\n    ";
    }
  }
  file << "\n  ]\n}\n";
  file.flush();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace corral::bench
