#include "support/report.h"

#include <boost/json/src.hpp>

namespace corral::os_tests {
namespace {

using boost::json::object;
using boost::json::value;

std::string text(const object& from, const char* key) { return from.at(key).as_string().c_str(); }

long number(const object& from, const char* key) { return from.at(key).to_number<long>(); }

std::optional<std::string> text_or_null(const object& from, const char* key) {
  return from.at(key).is_null() ? std::nullopt : std::optional(text(from, key));
}

std::optional<long> number_or_null(const object& from, const char* key) {
  return from.at(key).is_null() ? std::nullopt : std::optional(number(from, key));
}

}  // namespace

Report parse_report(const std::string& line) {
  const value parsed = boost::json::parse(line);
  const object& top = parsed.as_object();
  Report report;
  report.instance = text(top, "instance");
  report.reason = text(top, "reason");
  report.exit_code = number_or_null(top.at("exit").as_object(), "code");
  report.exit_signal = text_or_null(top.at("exit").as_object(), "signal");
  report.leaked = top.at("leaked").as_bool();
  report.ended_total = number(top, "ended_total");
  report.level = text(top, "level");
  report.proof = text(top, "proof");
  for (const value& each : top.at("survivors").as_array()) {
    const object& from = each.as_object();
    report.survivors.push_back(
        {number(from, "pid"), text(from, "comm"), number(from, "uid"), text(from, "cause")});
  }
  for (const value& each : top.at("ended").as_array()) {
    const object& from = each.as_object();
    report.ended.push_back({number(from, "pid"), text(from, "comm"), text_or_null(from, "signal")});
  }
  for (const auto& each : top.at("signals").as_object()) {
    report.signals[std::string(each.key())] = each.value().to_number<long>();
  }
  for (const value& each : top.at("limits").as_array()) {
    const object& from = each.as_object();
    report.limits.push_back({text(from, "name"), from.at("limit").to_number<double>(), text(from, "by"),
                             from.at("exceeded").as_bool()});
  }
  for (const value& each : top.at("terminators").as_array()) {
    const object& from = each.as_object();
    report.terminators.push_back({text(from, "kind"), number_or_null(from, "exit")});
  }
  return report;
}

}  // namespace corral::os_tests
