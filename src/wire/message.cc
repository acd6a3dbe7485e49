#include "wire/message.h"

#include <string>

namespace corral::wire {

Message Message::owned() const {
  // A message of a batch must not keep all of the batch.
  const bool mostly_ours = line_.owner && line_.owner->size() <= 2 * line_.text.size();
  if (mostly_ours) return *this;
  auto copy = std::make_shared<const std::string>(line_.text);
  const std::string_view text = *copy;
  return {Line{text, std::move(copy)}, where_};
}

}  // namespace corral::wire
