#include "session.h"

#include <algorithm>
#include <exception>

#include "proc_scan.h"

namespace corral::bench {

std::vector<const Variant*> Bench::in_turn(int round) const {
  std::vector<const Variant*> all{&raw, &control, &raw_session};
  for (const Variant& level : levels) all.push_back(&level);
  std::rotate(all.begin(), all.begin() + round % static_cast<int>(all.size()), all.end());
  return all;
}

Child start_session(const Bench& bench, const Variant& variant, const SessionSettings& settings) {
  std::vector<std::string> argv;
  if (variant.is_corral()) {
    argv = {bench.options.corral, "run", "--containment", variant.level};
    argv.insert(argv.end(), settings.corral_args.begin(), settings.corral_args.end());
    argv.push_back("--");
  }
  argv.push_back(bench.options.echo_server);
  argv.push_back("--tag=" + bench.tag);
  argv.insert(argv.end(), settings.server_args.begin(), settings.server_args.end());
  return Child(argv, {variant.own_session, settings.stderr_file});
}

void probe_levels(Bench& bench) {
  for (const char* level : {"basic", "auto", "strict"}) {
    const Variant variant{std::string("run, ") + level, level};
    SessionSettings settings;
    settings.stderr_file = bench.scratch + "/probe.err";
    Child child = start_session(bench, variant, settings);
    try {
      child.ask();
      bench.levels.push_back(variant);
      child.close_stdin();
      child.wait();
    } catch (const std::exception& error) {
      std::string said = read_file(settings.stderr_file);
      said = said.substr(0, said.find('\n'));
      bench.missing.push_back(std::string(level) + ": " + (said.empty() ? error.what() : said));
    }
  }
}

std::string report_field(const std::string& report, const std::string& key) {
  const std::string quoted = "\"" + key + "\":";
  std::size_t begin = report.find(quoted);
  if (begin == std::string::npos) return "";
  begin += quoted.size();
  int depth = 0;
  for (std::size_t i = begin; i < report.size(); ++i) {
    const char c = report[i];
    if (depth == 0 && (c == ',' || c == '}')) return report.substr(begin, i - begin);
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
  }
  return "";
}

}  // namespace corral::bench
