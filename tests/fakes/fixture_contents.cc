// Prompts and resources, and the small words that all outcomes are made of.
#include "fixture_offer.h"

namespace corral::fakes {
namespace {

constexpr std::string_view kTemplate = "test://template/";

std::string user(const std::string& content) { return R"({"role":"user","content":)" + content + '}'; }

std::string user_text(std::string_view said) {
  return user(R"({"type":"text","text":)" + quoted(said) + '}');
}

Outcome messages(const std::string& list) {
  Outcome outcome;
  outcome.result = R"({"messages":[)" + list + "]}";
  return outcome;
}

Outcome contents(std::string_view uri, std::string_view type, const std::string& body) {
  Outcome outcome;
  outcome.result =
      R"({"contents":[{"uri":)" + quoted(uri) + R"(,"mimeType":)" + quoted(type) + ',' + body + "}]}";
  return outcome;
}

Outcome resource_not_found(const Round& round) {
  const int code = round.world.era == Era::Modern ? -32602 : -32002;
  return error(code, "Resource not found", R"({"uri":)" + quoted(round.name) + '}');
}

Outcome from_template(const Round& round) {
  const std::string_view rest = round.name.substr(kTemplate.size());
  const std::string id(rest.substr(0, rest.find('/')));
  if (rest.substr(id.size()) != "/data") return resource_not_found(round);
  return contents(
      round.name, "application/json",
      R"("text":"{\"id\":\")" + id + R"(\",\"templateTest\":true,\"data\":\"Data for ID: )" + id + R"(\"}")");
}

}  // namespace

Outcome text(std::string_view said) {
  Outcome outcome;
  outcome.result = R"({"content":[{"type":"text","text":)" + quoted(said) + "}]}";
  return outcome;
}

Outcome error(int code, std::string_view message, std::string_view data) {
  Outcome outcome;
  outcome.error = R"({"code":)" + std::to_string(code) + R"(,"message":)" + quoted(message);
  if (!data.empty()) outcome.error += R"(,"data":)" + std::string(data);
  outcome.error += '}';
  return outcome;
}

std::string escaped(std::string_view json) {
  std::string all;
  for (const char c : json) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

std::string list_prompts(const World& world) {
  std::string list =
      R"([{"name":"test_simple_prompt","description":"A prompt without arguments"},)"
      R"({"name":"test_prompt_with_arguments","description":"A prompt with two arguments","arguments":[)"
      R"({"name":"arg1","description":"First test argument","required":true},)"
      R"({"name":"arg2","description":"Second test argument","required":true}]},)"
      R"({"name":"test_prompt_with_embedded_resource","description":"A prompt with a resource","arguments":[)"
      R"({"name":"resourceUri","description":"URI of the resource to embed","required":true}]},)"
      R"({"name":"test_prompt_with_image","description":"A prompt with an image"},)"
      R"({"name":"test_input_required_result_prompt","description":"A prompt that asks its user first"})";
  if (world.dynamic_prompt) list += R"(,{"name":"test_dynamic_prompt","description":"One more"})";
  return list + ']';
}

Outcome get_prompt(const Round& round) {
  const auto argument = [&](std::string_view name) { return std::string(text_at(round.arguments, {name})); };
  if (round.name == "test_simple_prompt") return messages(user_text("This is a simple prompt for testing."));
  if (round.name == "test_prompt_with_arguments") {
    return messages(user_text("Prompt with arguments: arg1='" + argument("arg1") + "', arg2='" +
                              argument("arg2") + '\''));
  }
  if (round.name == "test_prompt_with_embedded_resource") {
    return messages(user(R"({"type":"resource","resource":{"uri":)" + quoted(argument("resourceUri")) +
                         R"(,"mimeType":"text/plain","text":"Embedded resource content for testing."}})") +
                    ',' + user_text("Please process the embedded resource above."));
  }
  if (round.name == "test_prompt_with_image") {
    return messages(user(R"({"type":"image","data":)" + quoted(kPixel) + R"(,"mimeType":"image/png"})") +
                    ',' + user_text("Please analyze the image above."));
  }
  if (round.name == "test_input_required_result_prompt") return asking_prompt(round);
  if (round.name == "test_dynamic_prompt" && round.world.dynamic_prompt)
    return messages(user_text("One more."));
  return error(-32602, "Unknown prompt: " + std::string(round.name));
}

std::string list_resources() {
  return R"([{"uri":"test://static-text","name":"Static text","description":"A text","mimeType":"text/plain"},)"
         R"({"uri":"test://static-binary","name":"Static binary","description":"An image","mimeType":"image/png"},)"
         R"({"uri":"test://watched-resource","name":"Watched","description":"For subscriptions",)"
         R"("mimeType":"text/plain"},)"
         R"({"uri":"test://asking-resource","name":"Asking","description":"Asks its user first",)"
         R"("mimeType":"text/plain"}])";
}

std::string list_templates() {
  return R"([{"uriTemplate":"test://template/{id}/data","name":"Template","description":"Data by id",)"
         R"("mimeType":"application/json"}])";
}

Outcome read_resource(const Round& round) {
  if (round.name == "test://static-text") {
    return contents(round.name, "text/plain", R"("text":"This is the content of the static text resource.")");
  }
  if (round.name == "test://static-binary") {
    return contents(round.name, "image/png", R"("blob":)" + quoted(kPixel));
  }
  if (round.name == "test://watched-resource") {
    return contents(round.name, "text/plain", R"("text":"Somebody watches this.")");
  }
  if (round.name == "test://asking-resource") return asking_resource(round);
  if (round.name.starts_with(kTemplate)) return from_template(round);
  return resource_not_found(round);
}

}  // namespace corral::fakes
