#include "knowledge/launch_key.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace corral::knowledge {
namespace {

/// Builds a text without ambiguity: every part is preceded by its length, every list by its number of parts.
class KeyText {
 public:
  void add(std::string_view part) { text_.append(std::to_string(part.size())).append(":").append(part); }
  template <class Text>
  void add(const std::vector<Text>& parts) {
    add_number(parts.size());
    for (const std::string_view part : parts) add(part);
  }
  void add_number(std::uint64_t number) { text_.append(std::to_string(number)).append(";"); }
  void add(std::chrono::milliseconds time) { text_.append(std::to_string(time.count())).append(";"); }
  template <class Number>
  void add(const std::optional<Number>& number) {
    if (number) return add_number(*number);
    text_.append("-;");
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string launch_key(const proc::LaunchSpec& spec, const Noticed& noticed) {
  KeyText key;
  key.add(spec.argv);
  key.add(spec.directory);
  key.add(variables_that_count(spec, noticed));
  key.add_number(static_cast<std::uint64_t>(spec.containment));
  key.add(spec.limits.memory_bytes);
  key.add(spec.limits.processes);
  key.add(spec.limits.cpu_thousandths);
  for (const std::chrono::milliseconds grace : {spec.stdin_grace, spec.term_grace, spec.kill_grace})
    key.add(grace);
  key.add(spec.on_stop);
  key.add(noticed.path ? std::vector<std::string>{} : noticed.programs);
  key.add(noticed.declared);
  return key.take();
}

std::string name_digest(std::string_view text) {
  // A name space for corral, so that the names differ from those of other programs.
  constexpr boost::uuids::uuid kCorral = {
      {0x0e, 0x5c, 0x86, 0x4d, 0x3c, 0x3a, 0x4f, 0x0b, 0x9d, 0x5e, 0x66, 0x1f, 0x2b, 0x7a, 0xc1, 0x90}};
  return to_string(boost::uuids::name_generator_sha1(kCorral)(text.data(), text.size()));
}

}  // namespace corral::knowledge
