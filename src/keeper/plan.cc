#include "keeper/plan.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

namespace corral::keeper {
namespace {

constexpr std::uint32_t kMaxArguments = 1U << 20;

/// Reads one string after another; stays at the end once something is missing.
class Strings {
 public:
  Strings(const char* begin, const char* end) : at_(begin), end_(end) {}

  const char* next() {
    const void* nul = at_ < end_ ? memchr(at_, '\0', static_cast<std::size_t>(end_ - at_)) : nullptr;
    if (nul == nullptr) {
      at_ = end_;
      complete_ = false;
      return "";
    }
    const char* found = at_;
    at_ = static_cast<const char*>(nul) + 1;
    return found;
  }

  /// Fills a null-terminated array and returns the slot after it.
  char** list(char** slots, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) *slots++ = const_cast<char*>(next());
    *slots++ = nullptr;
    return slots;
  }

  bool used_up() const { return complete_ && at_ == end_; }

 private:
  const char* at_;
  const char* end_;
  bool complete_ = true;
};

bool sensible(const PlanHeader& header, std::size_t size) {
  if (header.magic != PlanHeader::kMagic || header.size != size) return false;
  if (header.instance[kInstanceIdLength] != '\0') return false;
  if (header.arguments == 0 || header.arguments > kMaxArguments) return false;
  if (header.terminators > kTerminators) return false;
  for (std::uint32_t i = 0; i < header.terminators; ++i) {
    if (header.terminator_arguments[i] == 0 || header.terminator_arguments[i] > kMaxArguments) return false;
  }
  return true;
}

}  // namespace

Micros longest_end(const PlanHeader& header) {
  constexpr Micros kReport{1'000'000};  // a reader of the report or of stderr that does not read
  const Graces& graces = header.graces;
  const Micros terminator = header.terminator_time + graces.kill;
  return graces.hasty + graces.term + graces.nested + graces.kill + terminator * header.terminators + kReport;
}

std::size_t plan_pointers(const char* bytes, std::size_t size) {
  PlanHeader header;
  if (size < sizeof header) return 0;
  memcpy(static_cast<void*>(&header), bytes, sizeof header);
  if (!sensible(header, size)) return 0;
  std::size_t pointers = header.arguments + 2;  // the free slot and the null
  for (std::uint32_t i = 0; i < header.terminators; ++i) pointers += header.terminator_arguments[i] + 1;
  return pointers;
}

bool parse_plan(const char* bytes, std::size_t size, char** pointers, Plan& plan) {
  if (plan_pointers(bytes, size) == 0) return false;
  memcpy(static_cast<void*>(&plan.header), bytes, sizeof plan.header);
  Strings strings(bytes + sizeof plan.header, bytes + size);
  plan.executable = strings.next();
  plan.directory = strings.next();
  plan.cgroup = strings.next();
  *pointers++ = nullptr;
  plan.arguments = pointers;
  pointers = strings.list(pointers, plan.header.arguments);
  for (std::uint32_t i = 0; i < plan.header.terminators; ++i) {
    plan.terminator[i] = pointers;
    pointers = strings.list(pointers, plan.header.terminator_arguments[i]);
  }
  return strings.used_up();
}

bool load_plan(int fd, Plan& plan) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || status.st_size <= 0) return false;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED) return false;
  const std::size_t pointers = plan_pointers(static_cast<char*>(bytes), size);
  if (pointers == 0) return false;
  void* slots =
      mmap(nullptr, pointers * sizeof(char*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (slots == MAP_FAILED) return false;
  return parse_plan(static_cast<char*>(bytes), size, static_cast<char**>(slots), plan);
}

}  // namespace corral::keeper
