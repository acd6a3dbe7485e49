// What the fixture server offers, the same in both eras. A tool, prompt or resource that needs its client
// says so by questions and is run again with the answers; how these travel is the server's business
// (fixture_server.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fixture_json.h"

namespace corral::fakes {

/// A PNG.
inline constexpr std::string_view kPixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

enum class Era { Legacy, Modern };

/// What one process of it remembers, beyond its calls.
struct World {
  Era era = Era::Legacy;
  bool read_only = false;       // annotate every tool so
  bool random_tools = false;    // another tool in every list
  std::string tools_file;       // names of more tools, one per line, read at every list
  std::string trace_file;       // where test_trace writes; empty = there is no such tool
  bool dynamic_tool = false;    // switched by test_trigger_tool_change
  bool dynamic_prompt = false;  // by test_trigger_prompt_change
  unsigned cancelled = 0;       // calls that were
};

/// One run of a tool, prompt or resource: the first, or one with answers. All texts are JSON or parts of it.
struct Round {
  World& world;
  std::string_view name;          // of the tool or prompt, or the URI
  std::string_view arguments;     // an object, or empty
  std::string_view capabilities;  // of the client
  std::string_view state;         // what the round before said; empty in the first
  std::string_view answers;       // by key: what the client answered to the questions of the round before
};

struct Question {
  std::string key;
  std::string method;
  std::string params;
  bool anyway = false;  // also if the client never said that it can answer
};

/// What happens before the result, `at` milliseconds after the call.
struct Event {
  enum class Kind { Progress, Log, ToolsChanged, PromptsChanged, ResourceUpdated };
  Kind kind;
  std::string params;  // members, without what the server adds
  long at = 0;
};

/// What comes of a round: questions, or an error, or a result after its events.
struct Outcome {
  std::vector<Question> questions;
  std::string state;
  std::string error;  // an object
  std::string result;
  std::vector<Event> events;
  long result_at = 0;
};

Outcome text(std::string_view said);
Outcome error(int code, std::string_view message, std::string_view data = {});

/// `json` as it stands inside a string.
std::string escaped(std::string_view json);

/// The capability that a client needs for a question.
std::string_view capability_for(std::string_view method);

using Run = Outcome (*)(const Round& round);

struct Tool {
  std::string_view name;
  std::string_view description;
  Run run;
  std::string_view schema = R"({"type":"object","properties":{}})";
  std::string_view more = {};  // members of its entry
};

const std::vector<Tool>& plain_tools();   // fixture_tools.cc
const std::vector<Tool>& asking_tools();  // fixture_questions.cc

/// Arrays.
std::string list_tools(const World& world);
std::string list_prompts(const World& world);
std::string list_resources();
std::string list_templates();

Outcome call_tool(const Round& round);
Outcome get_prompt(const Round& round);
Outcome read_resource(const Round& round);

/// Those that ask: fixture_questions.cc.
Outcome asking_prompt(const Round& round);
Outcome asking_resource(const Round& round);

}  // namespace corral::fakes
