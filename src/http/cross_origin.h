// The headers that let a browser show an answer to a web page of another origin. Only pages that have access
// get them.
#pragma once

#include <memory>
#include <string>

#include "http/exchange.h"

namespace corral::http {

/// Whether a browser asks for permission before the request of a page.
bool is_preflight(const Request& request);
/// Gives the permission to pages of this origin.
Response preflight_reply(const std::string& origin);

/// An exchange that forwards to this one, and adds the headers that let this origin read the answer.
std::shared_ptr<Exchange> for_origin(std::shared_ptr<Exchange> exchange, std::string origin);

}  // namespace corral::http
