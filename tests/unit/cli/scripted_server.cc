#include "cli/scripted_server.h"

#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iostream>

#include "cli/frame/command.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

class Server {
 public:
  explicit Server(const std::string& file) : asked_(file + ".asked", std::ios::app) {
    std::ifstream stream(file);
    for (std::string method, messages;
         std::getline(stream, method, '\t') && std::getline(stream, messages, '\x1e');)
      script_.push_back({method, messages});
  }

  void note(const std::string& line) { asked_ << line << '\n' << std::flush; }

  void take(const std::string& line) {
    note(line);
    const json::value message = json::parse(line);
    const json::object& members = message.get_object();
    if (!members.contains("method")) return;
    const std::string method(members.at("method").get_string());
    const std::string id = members.contains("id") ? json::serialize(members.at("id")) : "";
    say(next(method), id);
  }

 private:
  std::string next(const std::string& method) {
    for (std::size_t i = 0; i < script_.size(); ++i) {
      if (script_[i].method != method) continue;
      std::string messages = script_[i].messages;
      const bool more = std::any_of(script_.begin() + static_cast<std::ptrdiff_t>(i) + 1, script_.end(),
                                    [&](const Scripted& other) { return other.method == method; });
      if (more) script_.erase(script_.begin() + static_cast<std::ptrdiff_t>(i));
      return messages;
    }
    return "";
  }
  static void say(std::string messages, const std::string& id) {
    if (messages.starts_with("exit ")) _exit(std::stoi(messages.substr(5)));
    for (std::size_t at = 0; (at = messages.find("$ID", at)) != std::string::npos;)
      messages.replace(at, 3, id);
    if (!messages.empty()) std::cout << messages << '\n' << std::flush;
  }

  std::ofstream asked_;
  std::vector<Scripted> script_;
};

/// Before main(), which would run all tests once more. Only our commands start this program with words that
/// are not options.
const bool kRunsTests = [] {
  std::ifstream line("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(line, word, '\0');) words.push_back(word);
  if (words.size() < 2 || words[1].starts_with('-')) return true;
  const char* const script = getenv(kScript);
  if (script == nullptr || words[1] != "connect") _exit(kOwnFailure);
  Server server(script);
  std::string all;
  for (std::size_t i = 2; i < words.size(); ++i) all += (i == 2 ? "" : " ") + words[i];
  server.note(all);
  for (std::string message; std::getline(std::cin, message);) server.take(message);
  _exit(0);
}();

}  // namespace

void write_script(const std::string& file, const std::vector<Scripted>& script) {
  std::ofstream stream(file);
  for (const Scripted& one : script) stream << one.method << '\t' << one.messages << '\x1e';
}

std::vector<std::string> asked_by(const std::string& file) {
  std::ifstream stream(file + ".asked");
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace corral::cli
