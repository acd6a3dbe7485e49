// What a browser is told when a page of another origin asks: only pages that are allowed hear anything.
#pragma once

#include <memory>
#include <string>

#include "http/exchange.h"

namespace corral::http {

bool is_preflight(const Request& request);
Response preflight_reply(const std::string& origin);

/// The same exchange; its answer may be read by this origin.
std::shared_ptr<Exchange> for_origin(std::shared_ptr<Exchange> exchange, std::string origin);

}  // namespace corral::http
