// The two checks for every byte of a string: where it stops being plain, and whether the rest is UTF-8. Pure;
// inline, because they are the inner loop of all JSON processing.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace corral::wire {

/// A byte that may appear unescaped in a JSON string and needs no further check.
inline bool is_plain(char byte) {
  // Signed, as in odd_bytes() below: `char` alone is unsigned on other machines, and bytes beyond ASCII would
  // pass.
  return static_cast<signed char>(byte) >= 0x20 && byte != '"' && byte != '\\';
}

#if defined(__SSE2__)
inline __m128i load_block(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

/// Marks the bytes of the 16 that are not plain. The comparison is signed, so one of them finds both control
/// characters and bytes beyond ASCII.
inline __m128i odd_bytes(__m128i block) {
  const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
  const __m128i other = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20));
  return _mm_or_si128(_mm_or_si128(quote, backslash), other);
}

/// Skips 64 bytes at a time while all of them are plain, as in a long base64 string.
inline const char* skip_plain_blocks(const char* at, const char* end) {
  while (end - at >= 64) {
    const __m128i first = _mm_or_si128(odd_bytes(load_block(at)), odd_bytes(load_block(at + 16)));
    const __m128i second = _mm_or_si128(odd_bytes(load_block(at + 32)), odd_bytes(load_block(at + 48)));
    if (_mm_movemask_epi8(_mm_or_si128(first, second)) != 0) break;
    at += 64;
  }
  return at;
}
#endif

/// The first byte from `at` on that is not plain, or `end`.
inline const char* plain_end(const char* at, const char* end) {
#if defined(__SSE2__)
  for (bool first = true; end - at >= 16; first = false) {
    const int odd = _mm_movemask_epi8(odd_bytes(load_block(at)));
    if (odd != 0) return at + __builtin_ctz(static_cast<unsigned>(odd));
    at += 16;
    if (first) at = skip_plain_blocks(at, end);
  }
#endif
  while (at != end && is_plain(*at)) ++at;
  return at;
}

/// The length (2 to 4) of the UTF-8 sequence at `at`, whose first byte is beyond ASCII; 0 if it is malformed:
/// cut short, overlong, a surrogate, or beyond U+10FFFF.
inline std::size_t utf8_length(const char* at, const char* end) {
  const auto byte = [at](std::size_t i) { return static_cast<std::uint8_t>(at[i]); };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const auto left = static_cast<std::size_t>(end - at);
  const std::uint8_t lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return left >= 2 && follows(1) ? 2 : 0;
  if (left < 3 || !follows(1) || !follows(2)) return 0;
  if (lead < 0xF0) {
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (left < 4 || !follows(3)) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return 4;
}

}  // namespace corral::wire
