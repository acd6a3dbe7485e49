#include "cli/direct/elicitation.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <iostream>
#include <vector>

#include "base/text.h"
#include "cli/screen/json_layout.h"
#include "cli/screen/json_view.h"
#include "wire/json_text.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestTyped = 65536;
constexpr const char* kDecline = R"({"action":"decline"})";
constexpr const char* kCancel = R"({"action":"cancel"})";

/// A line that the user typed, or the reason why there is none.
struct Typed {
  enum class Kind { Line, End, Interrupted };
  Kind kind = Kind::End;
  std::string line = "";
};

Typed read_line(Interrupts& interrupts) {
  Typed typed{Typed::Kind::Line};
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{interrupts.fd(), POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return {};
    if (interrupts.signal() != 0) return {Typed::Kind::Interrupted};
    if (ready[1].revents == 0) continue;
    char byte = 0;  // byte by byte: what follows the line belongs to the next question
    const ssize_t got = read(STDIN_FILENO, &byte, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0 || typed.line.size() > kLongestTyped) return {};
    if (byte == '\n') return typed;
    typed.line += byte;
  }
}

Typed prompt(const std::string& text, Interrupts& interrupts) {
  std::cerr << text << std::flush;
  Typed typed = read_line(interrupts);
  if (typed.kind != Typed::Kind::Line) {
    std::cerr << '\n';
    return typed;
  }
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!typed.line.empty() && blank(typed.line.back())) typed.line.pop_back();
  return typed;
}

// ---- one field

struct Choice {
  std::string value;
  std::string title;
};

std::string string_in(const json::value& value, std::string_view name) {
  const json::value* const found = member(value, name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

/// The choices of an enum with enumNames, or of oneOf/anyOf with const and title.
std::vector<Choice> choices_of(const json::value& schema) {
  std::vector<Choice> choices;
  const json::array& names = list(schema, "enumNames");
  for (const json::value& each : list(schema, "enum")) {
    if (!each.is_string()) continue;
    const json::value* const title = choices.size() < names.size() ? &names[choices.size()] : nullptr;
    const std::string value(each.get_string());
    choices.push_back(
        {value, title != nullptr && title->is_string() ? std::string(title->get_string()) : value});
  }
  for (const char* const key : {"oneOf", "anyOf"}) {
    for (const json::value& each : list(schema, key)) {
      const std::string value = string_in(each, "const");
      const std::string title = string_in(each, "title");
      if (!value.empty()) choices.push_back({value, title.empty() ? value : title});
    }
  }
  return choices;
}

std::string shown_choices(const std::vector<Choice>& choices) {
  std::string text;
  for (const Choice& choice : choices) {
    text += (text.empty() ? "" : ", ") + printable_line(choice.value);
    if (choice.title != choice.value) text += " (" + printable_line(choice.title) + ")";
  }
  return text;
}

/// The value as JSON, or nothing if it does not match the schema.
std::optional<std::string> chosen(const std::vector<Choice>& choices, const std::string& line) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&line](const Choice& choice) {
    return choice.value == line || choice.title == line;
  });
  if (found == choices.end()) return std::nullopt;
  return wire::quoted(found->value);
}

std::optional<std::string> several(const std::vector<Choice>& choices, const std::string& line) {
  std::string array = "[";
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    const std::string word = printable_line(line.substr(at, end - at));
    const std::optional<std::string> value = choices.empty() ? wire::quoted(word) : chosen(choices, word);
    const std::size_t begin = word.find_first_not_of(' ');
    if (begin != std::string::npos && !value) return std::nullopt;
    if (begin != std::string::npos) array += (array.size() == 1 ? "" : ",") + *value;
    at = end + 1;
  }
  return array + "]";
}

bool within(const json::value& schema, double number) {
  for (const auto& [key, sign] : {std::pair("minimum", 1.0), {"maximum", -1.0}}) {
    const json::value* const limit = member(schema, key);
    if (limit != nullptr && limit->is_number() && sign * number < sign * limit->to_number<double>())
      return false;
  }
  return true;
}

std::optional<std::string> number(const json::value& schema, const std::string& line) {
  boost::system::error_code error;
  const json::value value = json::parse(line, error);
  if (error || !value.is_number() || !within(schema, value.to_number<double>())) return std::nullopt;
  const bool whole = line.find_first_not_of("-0123456789") == std::string::npos;
  if (string_in(schema, "type") == "integer" && !whole) return std::nullopt;
  return line;  // as typed, so that no digit is lost
}

std::optional<std::string> value_of(const json::value& schema, const std::string& line) {
  const std::string type = string_in(schema, "type");
  if (type == "integer" || type == "number") return number(schema, line);
  if (type == "boolean") {
    if (line == "y" || line == "yes" || line == "true") return "true";
    if (line == "n" || line == "no" || line == "false") return "false";
    return std::nullopt;
  }
  const json::value* const items = member(schema, "items");
  if (type == "array") return several(items == nullptr ? std::vector<Choice>() : choices_of(*items), line);
  const std::vector<Choice> choices = choices_of(schema);
  return choices.empty() ? wire::quoted(line) : chosen(choices, line);
}

}  // namespace

std::string expectation(const json::value& schema) {
  const std::string type = string_in(schema, "type");
  const json::value* const items = member(schema, "items");
  const std::vector<Choice> choices = choices_of(type == "array" && items != nullptr ? *items : schema);
  std::string text = type == "boolean" ? "y or n"
                     : type == "array" ? "separated by commas"
                                       : printable_line(type);
  if (!choices.empty()) text = (type == "array" ? "some of: " : "one of: ") + shown_choices(choices);
  for (const auto& [key, word] : {std::pair("minimum", ", from "), {"maximum", ", to "}}) {
    const json::value* const limit = member(schema, key);
    if (limit != nullptr && limit->is_number()) text += word + json::serialize(*limit);
  }
  return text;
}

namespace {

struct Field {
  std::string name;
  const json::value& schema;
  std::string given;  // the default as JSON text; empty = none
  bool required;
};

std::string label_of(const Field& field) {
  const std::string title = string_in(field.schema, "title");
  const std::string description = string_in(field.schema, "description");
  return "  " + printable_line(title.empty() ? field.name : title) +
         (description.empty() ? "" : ", " + printable_line(description)) + " (" + expectation(field.schema) +
         (field.required || !field.given.empty() ? "" : "; optional") + ")" +
         (field.given.empty() ? "" : " [" + printable_line(field.given) + "]") + ": ";
}

/// Asks until the answer is valid. An empty line selects the default, or omits the field.
Typed ask_field(const Field& field, std::string& content, Interrupts& interrupts) {
  for (;;) {
    Typed typed = prompt(label_of(field), interrupts);
    if (typed.kind != Typed::Kind::Line) return typed;
    std::optional<std::string> value;
    if (!typed.line.empty()) {
      value = value_of(field.schema, typed.line);
    } else if (!field.given.empty()) {
      value = field.given;
    } else if (!field.required) {
      return typed;
    }
    if (value) {
      content += (content.size() == 1 ? "" : ",") + wire::quoted(field.name) + ":" + *value;
      return typed;
    }
    std::cerr << "  Invalid value, expected: " << expectation(field.schema) << '\n';
  }
}

// ---- the question

std::optional<std::string> ask_fields(std::string_view params, const json::value& question,
                                      Interrupts& interrupts) {
  const json::value* const schema = member(question, "requestedSchema");
  const json::value* const properties = schema == nullptr ? nullptr : member(*schema, "properties");
  std::string content = "{";
  if (properties == nullptr || !properties->is_object()) return R"({"action":"accept","content":{}})";
  const std::string_view schema_text = wire::member(params, "requestedSchema").in(params);
  const std::string_view fields_text = wire::member(schema_text, "properties").in(schema_text);
  const json::array& required = list(*schema, "required");
  for (const auto& each : properties->get_object()) {
    const std::string name(each.key());
    const std::string_view text = wire::member(fields_text, name).in(fields_text);
    const bool must = std::find(required.begin(), required.end(), json::value(name)) != required.end();
    const Field field{name, each.value(), on_one_line(wire::member(text, "default").in(text)), must};
    const Typed typed = ask_field(field, content, interrupts);
    if (typed.kind == Typed::Kind::Interrupted) return std::nullopt;
    if (typed.kind == Typed::Kind::End) return kCancel;
  }
  return R"({"action":"accept","content":)" + content + "}}";
}

}  // namespace

bool has_person() { return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1; }

std::optional<std::string> ask_person(std::string_view params, Interrupts& interrupts) {
  boost::system::error_code error;
  const json::value question = json::parse({params.data(), params.size()}, error);
  if (error) return kCancel;
  const bool visit = string_in(question, "mode") == "url";
  std::cerr << "The server asks: " << printable_text(string_in(question, "message")) << '\n';
  if (visit) {
    std::cerr << "It asks you to visit this address, which corral does not open for you:\n  "
              << printable_line(string_in(question, "url")) << '\n';
  }
  const char* const choices =
      visit ? "Will you visit it? [y]es, [n]o, [c]ancel: " : "Answer? [y]es, [n]o, [c]ancel: ";
  for (;;) {
    const Typed typed = prompt(choices, interrupts);
    if (typed.kind == Typed::Kind::Interrupted) return std::nullopt;
    if (typed.kind == Typed::Kind::End || typed.line == "c" || typed.line == "cancel") return kCancel;
    if (typed.line == "n" || typed.line == "no") return kDecline;
    if (typed.line != "y" && typed.line != "yes") continue;
    if (visit) return R"({"action":"accept"})";
    return ask_fields(params, question, interrupts);
  }
}

}  // namespace corral::cli
