#include "cli/screen/last_page.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "base/units.h"
#include "base/utc_time.h"
#include "cli/screen/failure_lines.h"
#include "cli/screen/overview.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

std::string time_ago(std::int64_t then_ms, std::int64_t now_ms) {
  return show_age(std::chrono::milliseconds(std::max<std::int64_t>(now_ms - then_ms, 0)));
}

/// For how long it ran.
std::string shown_length(const LastRun& run, std::int64_t now_ms) {
  if (run.instance.empty()) return "-";
  if (run.how == "running") return time_ago(run.started_ms, now_ms);
  return run.ended_ms == 0 ? "-" : time_ago(run.started_ms, run.ended_ms);
}

std::string shown_end(const LastRun& run, std::int64_t now_ms) {
  return run.ended_ms == 0 ? "-" : time_ago(run.ended_ms, now_ms) + " ago";
}

Tone tone_of(const LastRun& run) {
  const bool bad = run.how == "died" || run.how == "hung" || run.how == "failed";
  if (bad) return Tone::Bad;
  return run.how == "refused" || run.how == "lost" ? Tone::Warning : Tone::Plain;
}

json::value number_or_null(std::int64_t number) {
  return number == 0 ? json::value(nullptr) : json::value(number);
}

}  // namespace

void show_last_runs(Page& page, const LastRuns& last, std::int64_t now_ms) {
  if (last.runs.empty())
    page.paragraph("", "no server has run: " + shorten_home(last.registry) + " has none");
  std::vector<std::vector<std::string>> rows;
  Page::Column how{"HOW"};
  for (const LastRun& run : last.runs) {
    rows.push_back({printable(run.server), shown_pid(run.pid), time_ago(run.started_ms, now_ms) + " ago",
                    shown_length(run, now_ms), shown_end(run, now_ms), printable(run.how)});
    how.tones.push_back(tone_of(run));
  }
  if (!rows.empty()) {
    page.table(
        "", {{"SERVER", false, true}, {"PID", true}, {"STARTED", true}, {"RAN", true}, {"ENDED", true}, how},
        rows);
  }
  for (const LastFailure& failure : last.failures) {
    page.paragraph(failed_ago(failure.server, failure.kind, time_ago(failure.time_ms, now_ms)),
                   printable(failure.text));
    for (const std::string& line : failure.error_lines) page.paragraph(kErrorLineLabel, printable(line));
  }
}

std::string last_runs_json(const LastRuns& last) {
  json::array runs;
  for (const LastRun& run : last.runs) {
    runs.push_back({{"server", run.server},
                    {"instance", run.instance.empty() ? json::value(nullptr) : json::value(run.instance)},
                    {"pid", number_or_null(run.pid)},
                    {"started_ms", run.started_ms},
                    {"ended_ms", number_or_null(run.ended_ms)},
                    {"how", run.how}});
  }
  json::array failures;
  for (const LastFailure& failure : last.failures) {
    failures.push_back({{"server", failure.server},
                        {"time_ms", failure.time_ms},
                        {"kind", failure.kind},
                        {"text", failure.text},
                        {"stderr", as_json(failure.error_lines)}});
  }
  return json::serialize(json::object{
      {"registry", last.registry}, {"runs", std::move(runs)}, {"failures", std::move(failures)}});
}

std::string failure_line(const LastFailure& failure) {
  return show_utc(failure.time_ms) + " " + printable(failure.kind) + ": " + printable(failure.text);
}

}  // namespace corral::cli
