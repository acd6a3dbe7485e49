// The tools that need their client: it is asked for words, for a model's answer or for its roots.
#include <functional>

#include "fixture_offer.h"

namespace corral::fakes {
namespace {

constexpr std::string_view kElicit = "elicitation/create";
constexpr std::string_view kSample = "sampling/createMessage";
constexpr std::string_view kRoots = "roots/list";

Outcome ask(std::vector<Question> questions, std::string state = {}) {
  Outcome outcome;
  outcome.questions = std::move(questions);
  outcome.state = std::move(state);
  return outcome;
}

Question form(std::string_view key, std::string_view message, std::string_view properties,
              std::string_view required) {
  return {std::string(key), std::string(kElicit),
          R"("message":)" + quoted(message) + R"(,"requestedSchema":{"type":"object","properties":{)" +
              std::string(properties) + R"(},"required":[)" + std::string(required) + "]}"};
}

Question sample(std::string_view key, std::string_view prompt) {
  return {std::string(key), std::string(kSample),
          R"("messages":[{"role":"user","content":{"type":"text","text":)" + quoted(prompt) +
              R"(}}],"maxTokens":100)"};
}

Question roots() { return {"client_roots", std::string(kRoots), ""}; }

Question name_question(std::string_view key, std::string_view message) {
  return form(key, message, R"("name":{"type":"string"})", R"("name")");
}

bool answered(const Round& round, std::string_view key) { return !value_at(round.answers, {key}).empty(); }

bool accepted(const Round& round, std::string_view key) {
  return text_at(round.answers, {key, "action"}) == "accept";
}

/// How an elicitation ended, with its words.
std::string ending(const Round& round, std::string_view key) {
  const std::string_view words = value_at(round.answers, {key, "content"});
  return "action=" + std::string(text_at(round.answers, {key, "action"})) +
         ", content=" + escaped(words.empty() ? "{}" : words);
}

std::string sampled(const Round& round, std::string_view key) {
  return std::string(text_at(round.answers, {key, "content", "text"}));
}

std::string listed_roots(const Round& round) {
  std::string all;
  for (const std::string_view root : elements(value_at(round.answers, {"client_roots", "roots"}))) {
    all += (all.empty() ? "" : " ") + std::string(text_at(root, {"uri"}));
  }
  return all;
}

/// Only we can have made it: a state that was changed or belongs to another call does not match. The sum
/// stands for a signature; nobody attacks this server.
std::string sealed(const Round& round, int number) {
  const std::string plain = std::string(round.name) + '/' + std::to_string(number);
  return plain + '/' + std::to_string(std::hash<std::string>{}("fixture " + plain));
}

Outcome wrong_state() { return error(-32602, "requestState does not come from this server"); }

Outcome sampling(const Round& round) {
  if (answered(round, "sample")) return text("LLM response: " + sampled(round, "sample"));
  return ask({sample("sample", text_at(round.arguments, {"prompt"}))});
}

Outcome elicitation(const Round& round) {
  if (answered(round, "elicitation")) return text("User response: " + ending(round, "elicitation"));
  return ask({form("elicitation", text_at(round.arguments, {"message"}),
                   R"("username":{"type":"string","description":"User's response"},)"
                   R"("email":{"type":"string","description":"User's email address"})",
                   R"("username","email")")});
}

Outcome form_with(const Round& round, std::string_view properties) {
  if (answered(round, "form")) return text("Elicitation completed: " + ending(round, "form"));
  return ask({form("form", "Please fill in the form", properties, "")});
}

Outcome elicitation_defaults(const Round& round) {
  return form_with(round,
                   R"("name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},)"
                   R"("score":{"type":"number","default":95.5},"status":{"type":"string",)"
                   R"("enum":["active","inactive","pending"],"default":"active"},)"
                   R"("verified":{"type":"boolean","default":true})");
}

Outcome elicitation_enums(const Round& round) {
  return form_with(
      round,
      R"("untitledSingle":{"type":"string","enum":["option1","option2","option3"]},)"
      R"("titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},)"
      R"({"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},)"
      R"("legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],)"
      R"("enumNames":["Option One","Option Two","Option Three"]},)"
      R"("untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},)"
      R"("titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},)"
      R"({"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}})");
}

/// Needs sampling whatever the client says; a legacy server finds out by asking.
Outcome missing_capability(const Round& round) {
  if (answered(round, "sample")) return text("LLM response: " + sampled(round, "sample"));
  Question question = sample("sample", "Can you hear me?");
  question.anyway = round.world.era == Era::Legacy;
  return ask({question});
}

Outcome ask_name(const Round& round) {
  if (accepted(round, "user_name")) {
    return text("Hello, " + std::string(text_at(round.answers, {"user_name", "content", "name"})) + '!');
  }
  if (answered(round, "user_name")) return text("Hello, stranger: " + ending(round, "user_name"));
  return ask({name_question("user_name", "What is your name?")});
}

Outcome ask_capital(const Round& round) {
  if (answered(round, "capital_question"))
    return text("The model says: " + sampled(round, "capital_question"));
  return ask({sample("capital_question", "What is the capital of France?")});
}

Outcome ask_roots(const Round& round) {
  if (answered(round, "client_roots")) return text("Roots: " + listed_roots(round));
  return ask({roots()});
}

Question confirmation() { return form("confirm", "Please confirm", R"("ok":{"type":"boolean"})", R"("ok")"); }

Outcome request_state(const Round& round) {
  const std::string first = sealed(round, 1);
  if (!round.state.empty() && round.state != first) return wrong_state();
  if (round.state.empty() || !answered(round, "confirm")) return ask({confirmation()}, first);
  return text("state-ok: " + ending(round, "confirm"));
}

Outcome multiple_inputs(const Round& round) {
  const std::string first = sealed(round, 1);
  if (!round.state.empty() && round.state != first) return wrong_state();
  std::vector<Question> missing;
  if (!answered(round, "user_name")) missing.push_back(name_question("user_name", "What is your name?"));
  if (!answered(round, "greeting")) missing.push_back(sample("greeting", "Generate a greeting"));
  if (!answered(round, "client_roots")) missing.push_back(roots());
  if (!missing.empty()) return ask(std::move(missing), first);
  return text(std::string(text_at(round.answers, {"user_name", "content", "name"})) + ": " +
              sampled(round, "greeting") + " (" + listed_roots(round) + ')');
}

Outcome multi_round(const Round& round) {
  const std::string first = sealed(round, 1);
  const std::string second = sealed(round, 2);
  if (round.state == second && answered(round, "step2")) {
    return text("Favorite color: " + std::string(text_at(round.answers, {"step2", "content", "color"})));
  }
  if (round.state == second || (round.state == first && answered(round, "step1"))) {
    const Question color =
        form("step2", "Step 2: What is your favorite color?", R"("color":{"type":"string"})", R"("color")");
    return ask({color}, second);
  }
  if (!round.state.empty() && round.state != first) return wrong_state();
  return ask({name_question("step1", "Step 1: What is your name?")}, first);
}

/// Asks for what the client said it has, and for nothing else.
Outcome by_capabilities(const Round& round) {
  if (!round.answers.empty()) return text("Answered.");
  std::vector<Question> questions;
  for (Question question : {name_question("user_name", "What is your name?"),
                            sample("capital_question", "What is the capital of France?"), roots()}) {
    const std::string_view needed = capability_for(question.method);
    if (!value_at(round.capabilities, {needed}).empty()) questions.push_back(std::move(question));
  }
  if (questions.empty()) return text("There is nobody to ask.");
  return ask(std::move(questions));
}

constexpr std::string_view kPrompt =
    R"({"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]})";
constexpr std::string_view kMessage =
    R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]})";

}  // namespace

std::string_view capability_for(std::string_view method) { return method.substr(0, method.find('/')); }

const std::vector<Tool>& asking_tools() {
  static const std::vector<Tool> tools = {
      {"test_sampling", "Asks the client's model", sampling, kPrompt},
      {"test_elicitation", "Asks the user for two words", elicitation, kMessage},
      {"test_elicitation_sep1034_defaults", "Asks with default values", elicitation_defaults},
      {"test_elicitation_sep1330_enums", "Asks with choices of every kind", elicitation_enums},
      {"test_missing_capability", "Needs a client that samples", missing_capability},
      {"test_streaming_elicitation", "Asks the user to confirm", request_state},
      {"test_input_required_result_elicitation", "Asks for a name", ask_name},
      {"test_input_required_result_sampling", "Asks for a capital", ask_capital},
      {"test_input_required_result_list_roots", "Asks for roots", ask_roots},
      {"test_input_required_result_request_state", "Asks, and checks its state", request_state},
      {"test_input_required_result_multiple_inputs", "Asks three things at once", multiple_inputs},
      {"test_input_required_result_multi_round", "Asks twice", multi_round},
      {"test_input_required_result_tampered_state", "Asks, and checks its state", request_state},
      {"test_input_required_result_capabilities", "Asks what the client can answer", by_capabilities},
  };
  return tools;
}

Outcome asking_prompt(const Round& round) {
  if (!answered(round, "user_context")) {
    return ask({form("user_context", "What context should the prompt use?", R"("context":{"type":"string"})",
                     R"("context")")});
  }
  Outcome outcome;
  outcome.result = R"({"messages":[{"role":"user","content":{"type":"text","text":"Use this context: )" +
                   std::string(text_at(round.answers, {"user_context", "content", "context"})) + "\"}}]}";
  return outcome;
}

Outcome asking_resource(const Round& round) {
  if (!answered(round, "confirm")) return ask({confirmation()});
  Outcome outcome;
  outcome.result = R"({"contents":[{"uri":)" + quoted(round.name) +
                   R"(,"mimeType":"text/plain","text":"Confirmed: )" + ending(round, "confirm") + "\"}]}";
  return outcome;
}

}  // namespace corral::fakes
