#include "session/batch.h"

#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::session {

std::variant<std::vector<wire::Message>, Objection> split_batch(const wire::Line& line,
                                                                const wire::Revision* revision) {
  const bool allowed = revision != nullptr && revision->batches;
  const auto elements = allowed ? wire::array_elements(line.text, wire::kMostInBatch) : std::nullopt;
  if (elements && elements->size() > wire::kMostInBatch) {
    return Objection{wire::kInvalidRequest, "Invalid Request: a batch of more than 256 messages"};
  }
  if (!elements || elements->empty()) {
    return Objection{wire::kInvalidRequest,
                     "Invalid Request: this revision has no batches; send one message per line"};
  }
  std::vector<wire::Message> messages;
  messages.reserve(elements->size());
  for (const wire::Span& element : *elements) {
    messages.emplace_back(wire::Line{element.in(line.text), line.owner});
  }
  return messages;
}

}  // namespace corral::session
