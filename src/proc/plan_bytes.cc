#include "proc/plan_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace corral::proc {
namespace {

void append(std::vector<char>& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.push_back('\0');
}

}  // namespace

std::vector<char> plan_bytes(keeper::PlanHeader header, const PlanStrings& strings) {
  std::vector<char> bytes(sizeof header);
  append(bytes, strings.executable);
  append(bytes, strings.directory);
  append(bytes, strings.cgroup);
  for (const std::string& argument : strings.argv) append(bytes, argument);
  header.arguments = static_cast<std::uint32_t>(strings.argv.size());
  header.terminators = 0;
  for (const Terminator& terminator : strings.terminators) {
    header.terminator_kind[header.terminators] = terminator.kind;
    header.terminator_arguments[header.terminators] = static_cast<std::uint32_t>(terminator.argv.size());
    ++header.terminators;
    for (const std::string& argument : terminator.argv) append(bytes, argument);
  }
  header.size = static_cast<std::uint32_t>(bytes.size());
  memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Result<UniqueFd> seal(const std::vector<char>& bytes) {
  UniqueFd file(memfd_create("corral-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto size = static_cast<ssize_t>(bytes.size());
  if (!file.valid() || write(file.get(), bytes.data(), bytes.size()) != size) {
    return Error{std::string("cannot write the plan for the keeper: ") + strerror(errno) +
                 (errno == EMFILE || errno == ENFILE ? "; raise the open-file limit (`ulimit -n`)"
                                                     : "; free some memory")};
  }
  fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  return file;
}

keeper::Plan read_plan(const std::vector<char>& bytes, std::vector<char*>& pointers) {
  keeper::Plan plan;
  pointers.resize(keeper::plan_pointers(bytes.data(), bytes.size()));
  keeper::parse_plan(bytes.data(), bytes.size(), pointers.data(), plan);
  return plan;
}

}  // namespace corral::proc
