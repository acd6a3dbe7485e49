#include "transport/http_session.h"

#include "base/log.h"

namespace corral::transport {

void HttpSession::note(const std::string& sentence) {
  if (sentence == last_note_) return;
  last_note_ = sentence;
  Account* const account = session().account();
  const auto line = account == nullptr ? std::optional(sentence) : account->loggable(sentence);
  if (line) log_line(*line);
}

}  // namespace corral::transport
