#include "knowledge/name_digest.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace corral::knowledge {

std::string name_digest(std::string_view text) {
  // A name space of our own, so that nobody else's names of this kind are ours.
  constexpr boost::uuids::uuid kCorral = {
      {0x0e, 0x5c, 0x86, 0x4d, 0x3c, 0x3a, 0x4f, 0x0b, 0x9d, 0x5e, 0x66, 0x1f, 0x2b, 0x7a, 0xc1, 0x90}};
  return to_string(boost::uuids::name_generator_sha1(kCorral)(text.data(), text.size()));
}

}  // namespace corral::knowledge
