// What /proc shows of a process: its stat line and its command line, both of which it can write itself, and
// the links of its descriptors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "proc/proc_texts.h"
#include "survey/process_table.h"

namespace {

using namespace corral::survey;

void check(bool claim) {
  if (!claim) abort();
}

void check_stat_line(const std::string& input) {
  if (const auto stat = corral::proc::parse_process_stat(input)) {
    check(stat->pid >= 0 && stat->parent >= 0 && stat->group >= 0 && stat->session >= 0);
    check(stat->comm.size() < input.size());
  }
  // Whatever a process is called, all that follows its name is read right.
  const std::string whole = "12 (" + input + ") S 34 5 6 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 1 0 4711 1000";
  const auto named = corral::proc::parse_process_stat(whole);
  check(named.has_value());
  check(named->pid == 12 && named->parent == 34 && named->state == 'S' && named->start_ticks == 4711);
  check(named->comm == input);
}

void check_strings(const std::string& input) {
  std::string again;
  for (const std::string& one : corral::proc::parse_strings(input)) again += one + '\0';
  // The same bytes, but for NULs at the end.
  const std::size_t end = input.find_last_not_of('\0') + 1;
  check(again == (end == 0 ? std::string() : input.substr(0, end) + '\0'));
}

void check_stream(const std::string& input) {
  const Stream stream = parse_stream(input);
  check(stream.kind != Stream::Kind::Unknown && stream.kind != Stream::Kind::Closed);
  check(stream.connects() || stream.inode == 0);
  check(!stream.connects() || input.find("[") != std::string::npos);
  check(!input.starts_with('/') || !stream.connects());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  check_stat_line(input);
  check_strings(input);
  check_stream(input);
  return 0;
}
