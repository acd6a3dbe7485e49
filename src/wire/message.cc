#include "wire/message.h"

#include <string>

namespace corral::wire {

Message Message::owned() const {
  if (line_.owner) return *this;
  auto copy = std::make_shared<const std::string>(line_.text);
  const std::string_view text = *copy;
  return {Line{text, std::move(copy)}, where_};
}

}  // namespace corral::wire
