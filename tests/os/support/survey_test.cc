#include "support/survey_test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "support/eventually.h"

namespace corral::os_tests {
namespace {

namespace json = boost::json;

// What this test program was started with may come from a real client.
void forget_environment() {
  constexpr std::array<std::string_view, 6> kNeeded = {
      "PATH=", "TMPDIR=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS=", "LD_LIBRARY_PATH="};
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (std::any_of(kNeeded.begin(), kNeeded.end(), [&](auto name) { return text.starts_with(name); })) {
      kept.emplace_back(text);
    }
  }
  clearenv();
  for (const std::string& entry : kept) {
    const std::size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
  }
}

}  // namespace

bool lives(pid_t pid) {
  const auto process = process_by_pid(pid);
  return process && process->state != 'Z' && process->state != 'X';
}

std::vector<pid_t> living(const std::vector<pid_t>& pids) {
  std::vector<pid_t> found;
  std::copy_if(pids.begin(), pids.end(), std::back_inserter(found), lives);
  return found;
}

Holder::Holder(const Launch& launch, std::size_t servers) : session_(launch) {
  while (servers_.size() < servers) {
    const auto pid = session_.notice("server");
    if (!pid) throw std::runtime_error("the client did not start its servers");
    servers_.push_back(*pid);
  }
}

void Holder::let_go() {
  const std::string line = "let-go\n";
  if (::write(session_.stdin_fd(), line.data(), line.size()) < 0 || !session_.notice("closed")) {
    throw std::runtime_error("the client did not let go");
  }
}

void Holder::die() {
  kill_now(session_.pid());
  if (!session_.wait()) throw std::runtime_error("the client did not die");
}

void SurveyTest::SetUp() {
  std::filesystem::create_directories(home());
  std::filesystem::permissions(home(), std::filesystem::perms(0777));
  server_ = install(programs().adversary, "servers/files-server");
}

void SurveyTest::TearDown() { end_tagged(tag()); }

std::string SurveyTest::install(const std::string& program, const std::string& as) const {
  const std::filesystem::path target = path(as);
  std::filesystem::create_directories(target.parent_path());
  std::filesystem::copy_file(program, target, std::filesystem::copy_options::overwrite_existing);
  return target;
}

void SurveyTest::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path target = path(name);
  std::filesystem::create_directories(target.parent_path());
  std::ofstream(target, std::ios::binary) << text;
}

void SurveyTest::configure_codex(const std::string& command) const {
  write("home/.codex/config.toml", "[mcp_servers.files]\ncommand = \"" + command + "\"\n");
}

std::vector<std::string> SurveyTest::server_line(const std::vector<std::string>& options) const {
  std::vector<std::string> line = {server_, "--tag=" + tag(), "--life=60"};
  line.insert(line.end(), options.begin(), options.end());
  return line;
}

std::vector<std::string> SurveyTest::wrapped_line(const std::string& options) const {
  return {"sh", "-c", server_ + " --tag=" + tag() + " --life=60 " + options + "; :"};
}

Launch SurveyTest::in_this_world(Launch launch) const {
  launch.env.insert(launch.env.begin(), {"CORRAL_TEST_TAG=" + tag(), "HOME=" + home()});
  launch.stderr_path = path("stderr");
  launch.uid = uid_of(user());
  launch.before_exec = [inner = launch.before_exec, home = home()] {
    forget_environment();
    if (chdir(home.c_str()) != 0) _exit(97);
    if (inner) inner();
  };
  return launch;
}

Launch SurveyTest::client(const std::string& name, std::size_t count,
                          const std::vector<std::string>& command) const {
  Launch launch;
  const std::string program = path("clients/" + name);
  if (!std::filesystem::exists(program)) install(programs().leaky_client, "clients/" + name);
  launch.argv = {program, "--count=" + std::to_string(count), "--"};
  launch.argv.insert(launch.argv.end(), command.begin(), command.end());
  // A job of its own, as in a shell: clients of other tests would share the process group otherwise.
  launch.before_exec = [] { setpgid(0, 0); };
  return in_this_world(launch);
}

Launch SurveyTest::corral_launch(const std::vector<std::string>& words,
                                 const std::vector<std::string>& env) const {
  Launch launch;
  launch.argv = {programs().corral};
  launch.argv.insert(launch.argv.end(), words.begin(), words.end());
  launch.env = env;
  launch.in = Stdio::Null;
  return in_this_world(launch);
}

Said SurveyTest::run_corral(const std::vector<std::string>& words,
                            const std::vector<std::string>& env) const {
  Launch launch = corral_launch(words, env);
  launch.stderr_path = path("corral-stderr");
  std::filesystem::remove(launch.stderr_path);
  Session session(launch);
  Said said;
  said.out = session.output_to_end();
  said.code = session.wait().value_or(-1);
  said.err = file("corral-stderr");
  return said;
}

json::value SurveyTest::doctor(const std::vector<std::string>& words) const {
  std::vector<std::string> line = {"doctor", "--json"};
  line.insert(line.end(), words.begin(), words.end());
  const Said said = run_corral(line);
  if (said.code != 0) throw std::runtime_error("doctor failed: " + said.err);
  return json::parse(said.out);
}

bool has_entry(const json::value& doctor, pid_t server) {
  const json::array& servers = doctor.at("servers").as_array();
  return std::any_of(servers.begin(), servers.end(),
                     [server](const json::value& entry) { return entry.at("pid").as_int64() == server; });
}

const json::object& entry_of(const json::value& doctor, pid_t server) {
  for (const json::value& entry : doctor.at("servers").as_array()) {
    if (entry.at("pid").as_int64() == server) return entry.as_object();
  }
  throw std::runtime_error("doctor does not know server " + std::to_string(server));
}

const json::object* finding(const json::value& doctor, const std::string& kind, pid_t server) {
  for (const json::value& found : doctor.at("findings").as_array()) {
    if (found.at("kind").as_string() != kind) continue;
    const json::array& servers = found.at("servers").as_array();
    if (std::find(servers.begin(), servers.end(), json::value(server)) != servers.end())
      return &found.as_object();
  }
  return nullptr;
}

std::string text_of(const json::object& object, const std::string& key) {
  const json::value& value = object.at(key);
  if (value.is_null()) return "null";
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

std::string evidence(const json::object& server, const std::string& kind) {
  std::string text;
  for (const json::value& piece : server.at("evidence").as_array()) {
    if (piece.at("kind").as_string() == kind) text += std::string(piece.at("text").as_string()) + '\n';
  }
  return text;
}

std::string word(pid_t pid) { return std::to_string(pid); }

int listen_at_any_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return -1;
  return listen(fd, 5) == 0 ? fd : -1;
}

int listen_at(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return -1;
  return listen(fd, 5) == 0 ? fd : -1;
}

int port_of(int listening) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  return getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? ntohs(address.sin_port)
                                                                                   : -1;
}

int connect_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

}  // namespace corral::os_tests
