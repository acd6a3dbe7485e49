#include "cli/direct/tool_result.h"

#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <iostream>

#include "base/text.h"
#include "base/units.h"
#include "cli/screen/json_layout.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"
#include "wire/json_text.h"

namespace corral::cli {
namespace {

std::string text_of(std::string_view object, std::string_view key) {
  return wire::string_value(wire::member(object, key).in(object)).value_or("");
}

/// A number as the server wrote it; empty if it is not one.
std::string number_of(std::string_view object, std::string_view key) {
  const std::string_view value = wire::member(object, key).in(object);
  return value.find_first_not_of("-+.0123456789eE") == std::string_view::npos ? std::string(value) : "";
}

std::uint64_t decoded_size(std::string_view base64) {
  while (base64.ends_with('=')) base64.remove_suffix(1);
  return base64.size() * 3 / 4;
}

std::string type_and_size(std::string_view object, std::uint64_t bytes) {
  const std::string type = text_of(object, "mimeType");
  return (type.empty() ? "" : type + ", ") + show_size(bytes);
}

std::string describe_resource(std::string_view block) {
  const std::string_view resource = wire::member(block, "resource").in(block);
  const bool binary = wire::member(resource, "blob").present();
  const std::uint64_t bytes =
      binary ? decoded_size(text_of(resource, "blob")) : text_of(resource, "text").size();
  return "[resource " + text_of(resource, "uri") + ": " + type_and_size(resource, bytes) + "]";
}

std::string describe_link(std::string_view block) {
  const std::string type = text_of(block, "mimeType");
  const std::string size = number_of(block, "size");
  return "[resource link " + text_of(block, "name") + ": " + text_of(block, "uri") +
         (type.empty() ? "" : ", " + type) + (size.empty() ? "" : ", " + size + " bytes") + "]";
}

std::string describe(std::string_view block, const std::string& type) {
  if (type == "image" || type == "audio") {
    return "[" + type + " " + type_and_size(block, decoded_size(text_of(block, "data"))) + "]";
  }
  if (type == "resource") return describe_resource(block);
  if (type == "resource_link") return describe_link(block);
  return "[" + (type.empty() ? std::string("content without a type") : type) + ", " +
         show_size(block.size()) + " of JSON]";
}

std::string ended(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

bool is_error(std::string_view result) { return wire::member(result, "isError").in(result) == "true"; }

std::string shown_result(std::string_view result) {
  const std::string_view content = wire::member(result, "content").in(result);
  std::string shown;
  if (const auto blocks = wire::array_elements(content, wire::kMostElements)) {
    for (const wire::Span span : *blocks) {
      const std::string_view block = span.in(content);
      const std::string type = text_of(block, "type");
      shown += ended(type == "text" ? text_of(block, "text") : printable_line(describe(block, type)));
    }
  }
  const std::string_view structured = wire::member(result, "structuredContent").in(result);
  return shown.empty() && !structured.empty() ? laid_out(structured) + '\n' : shown;
}

std::string shown_progress(std::string_view params) {
  const std::string total = number_of(params, "total");
  const std::string message = printable_line(text_of(params, "message"));
  return number_of(params, "progress") + (total.empty() ? "" : "/" + total) +
         (message.empty() ? "" : " " + message);
}

std::string shown_log(std::string_view params) {
  const std::string_view data = wire::member(params, "data").in(params);
  const std::string logger = text_of(params, "logger");
  const std::string text = wire::string_value(data).value_or(on_one_line(data));
  return printable_line(text_of(params, "level") + (logger.empty() ? "" : " " + logger) + ": " + text);
}

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

void StatusLine::show(const std::string& text) {
  if (!terminal_) return;
  const TerminalStyle style = terminal_style(STDERR_FILENO);
  std::cerr << "\r\x1b[K" << fit(text, style.width - 1, style) << std::flush;
  shown_ = true;
}

void StatusLine::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace corral::cli
