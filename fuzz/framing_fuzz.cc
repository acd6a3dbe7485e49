// The line reader against a splitter that has everything at once: whatever the cap and wherever the reads
// end, the same lines come out, and the same ids of lines that were too long.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "wire/envelope.h"
#include "wire/line_reader.h"

namespace {

using namespace corral::wire;

constexpr std::size_t kHead = 3;

struct Outcome {
  std::vector<std::string> lines;
  std::vector<Oversized> oversized;
  bool partial = false;
};

/// Each 0xFF is a long run of letters, so that a short input reaches the sizes where buffers change hands.
std::string expanded(std::string_view input, std::size_t run) {
  std::string stream;
  int runs = 0;
  for (const char byte : input) {
    if (byte == '\xFF' && ++runs <= 4) {
      stream.append(run, 'a');
    } else {
      stream.push_back(byte);
    }
  }
  return stream;
}

/// The id of a line that is valid JSON. What a broken line gives is not defined, except that it is an id.
std::string expected_id(std::string_view line) {
  const Envelope envelope = scan(line);
  return std::string(envelope.id.in(line));
}

Outcome split_at_once(std::string_view stream, std::size_t cap) {
  Outcome outcome;
  for (std::size_t end = stream.find('\n'); end != std::string_view::npos; end = stream.find('\n')) {
    std::string_view line = stream.substr(0, end);
    stream.remove_prefix(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() > cap) {
      outcome.oversized.push_back({std::string(line), line.size(), false});
    } else if (!line.empty()) {
      outcome.lines.emplace_back(line);
    }
  }
  outcome.partial = !stream.empty();
  return outcome;
}

/// As if the loop had turned meanwhile: the scratch belongs to others then.
void hold_sometimes(LineReader& reader, std::vector<char>& scratch, std::uint32_t& seed) {
  seed = seed * 1664525 + 1013904223;
  if (seed >> 29 != 0) return;
  reader.hold();
  std::fill(scratch.begin(), scratch.end(), '#');
}

Outcome read_in_pieces(std::string_view stream, std::size_t cap, std::size_t scratch_size,
                       std::uint32_t seed) {
  Outcome outcome;
  LineReader reader(cap);
  std::vector<char> scratch(scratch_size);
  while (!stream.empty()) {
    const std::span<char> room = reader.room(scratch);
    if (room.empty() || room.size() > std::max(scratch_size, cap + 64 * 1024)) abort();
    seed = seed * 1664525 + 1013904223;
    const std::size_t most = std::min(room.size(), stream.size());
    const std::size_t usual = stream.size() > 10000 ? 9000 : 97;  // else long streams would take long
    const std::size_t piece = seed >> 30 == 0 ? most : std::min(most, std::size_t{1} + (seed >> 8) % usual);
    memcpy(room.data(), stream.data(), piece);
    stream.remove_prefix(piece);
    reader.took(piece);
    while (const std::optional<Line> line = reader.next()) {
      outcome.lines.emplace_back(line->text);
      if (line->owner == nullptr) {
        hold_sometimes(reader, scratch, seed);
        continue;
      }
      const char* const buffer = line->owner->data();
      if (line->text.data() < buffer) abort();
      if (line->text.data() + line->text.size() > buffer + line->owner->size()) abort();
      hold_sometimes(reader, scratch, seed);
    }
    while (auto oversized = reader.take_oversized()) outcome.oversized.push_back(*oversized);
    if (reader.next() || reader.take_oversized()) abort();
  }
  outcome.partial = reader.has_partial();
  return outcome;
}

/// `line` is the whole text, `found` what the reader told of it.
void check_oversized(const Oversized& line, const Oversized& found) {
  if (line.bytes != found.bytes) abort();
  const std::string expected = expected_id(line.id);
  const Kind kind = scan(line.id).kind;
  if ((kind == Kind::Request || kind == Kind::Notification) && !found.asks) abort();
  if (kind == Kind::Response && found.asks) abort();
  if (kind == Kind::NotJson) {
    if (found.id.empty()) return;
    const std::string message = R"({"jsonrpc":"2.0","method":"m","id":)" + found.id + "}";
    if (scan(message).kind != Kind::Request) abort();
  } else if (found.id != expected) {
    // Ids beyond a bound are given up, with the white space around them.
    if (!found.id.empty() || line.bytes <= OversizedLine::kMaxId) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHead) return 0;
  constexpr std::array<std::size_t, 8> kCaps = {0, 1, 7, 20, 64, 300, 30000, 100000};
  constexpr std::array<std::size_t, 8> kScratch = {1, 2, 7, 16, 64, 512, 4096, 150000};
  const std::size_t cap = kCaps[data[0] % kCaps.size()];
  const std::size_t scratch = kScratch[data[1] % kScratch.size()];
  const std::string_view input(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  const std::string stream = expanded(input, scratch < 512 ? 400 : 40000);

  const Outcome expected = split_at_once(stream, cap);
  const Outcome found = read_in_pieces(stream, cap, scratch, data[2]);

  if (found.lines != expected.lines || found.partial != expected.partial) abort();
  if (found.oversized.size() != expected.oversized.size()) abort();
  for (std::size_t i = 0; i < found.oversized.size(); ++i) {
    check_oversized(expected.oversized[i], found.oversized[i]);
  }
  return 0;
}
