#include "http/exchange.h"

namespace corral::http {

void Exchange::reply_json(const wire::Line& line, const wire::Edit& edit) {
  reply({200, {{"Content-Type", "application/json"}}, wire::edited(line.text, {&edit, 1}), nullptr});
}

}  // namespace corral::http
