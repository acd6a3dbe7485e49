#include "load_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "child.h"

namespace corral::bench {
namespace {

constexpr std::string_view kVersion = "2025-06-18";

// What a modern client says of itself in every request; a member follows.
constexpr const char* kMeta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                              R"("io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},)"
                              R"("io.modelcontextprotocol/clientCapabilities":{}},)";

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connected(int port) {
  const sockaddr_in address = loopback(port);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// The value of a header; names are compared without regard to case.
std::string header(std::string_view headers, std::string_view name) {
  for (std::size_t at = 0; (at = headers.find("\r\n", at)) != std::string_view::npos;) {
    at += 2;
    const std::string_view line = headers.substr(at, headers.find("\r\n", at) - at);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (strncasecmp(line.data(), name.data(), name.size()) != 0) continue;
    const std::size_t begin = line.find_first_not_of(' ', name.size() + 1);
    return begin == std::string_view::npos ? "" : std::string(line.substr(begin));
  }
  return "";
}

}  // namespace

HttpClient::HttpClient(std::string name, const HttpPlace& place)
    : name_(std::move(name)), place_(place), fd_(connected(place.port)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), name_ + ": connect");
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{10, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : name_(std::move(other.name_)),
      place_(std::move(other.place_)),
      fd_(std::exchange(other.fd_, -1)),
      session_(std::move(other.session_)),
      received_(std::move(other.received_)),
      answer_(std::move(other.answer_)),
      next_id_(other.next_id_),
      wanted_id_(std::move(other.wanted_id_)),
      wanted_text_(std::move(other.wanted_text_)) {}

HttpClient::~HttpClient() {
  if (fd_ >= 0) close(fd_);
}

// ---- asking

std::string HttpClient::framed(const std::string& message, std::string_view method,
                               std::string_view tool) const {
  std::string request = "POST " + place_.path +
                        " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(place_.port) +
                        "\r\nContent-Type: application/json\r\n"
                        "Accept: application/json, text/event-stream\r\n";
  if (!session_.empty()) request += "Mcp-Session-Id: " + session_ + "\r\n";
  if (place_.modern) {
    request += "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method) + "\r\n";
    if (!tool.empty()) request += "Mcp-Name: " + std::string(tool) + "\r\n";
  } else if (method != "initialize") {
    request += "MCP-Protocol-Version: " + std::string(kVersion) + "\r\n";
  }
  return request + "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

std::string HttpClient::next_call(std::string_view tool, const std::string& arguments) {
  const unsigned id = next_id_++;
  wanted_id_ = "\"id\":" + std::to_string(id);
  const std::string message = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                              R"(,"method":"tools/call","params":{)" + (place_.modern ? kMeta : "") +
                              R"("name":")" + std::string(tool) + R"(","arguments":)" + arguments + "}}";
  return framed(message, "tools/call", tool);
}

std::string HttpClient::next_echo(std::size_t bytes) {
  std::string text = name_ + "-" + std::to_string(next_id_) + "-";
  if (text.size() < bytes) text.append(bytes - text.size(), 'e');
  wanted_text_ = "\"" + text + "\"";
  return next_call(place_.tool, "{\"text\":" + wanted_text_ + "}");
}

void HttpClient::write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) throw std::runtime_error(name_ + ": the connection takes no question");
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  received_.clear();
  answer_ = {};
}

// ---- reading

void HttpClient::read_some() {
  char text[65536];
  const ssize_t got = recv(fd_, text, sizeof text, 0);
  if (got <= 0) throw std::runtime_error(name_ + ": the connection ended, or no answer within 10 s");
  received_.append(text, static_cast<std::size_t>(got));
}

void HttpClient::read_head() {
  const std::size_t end = received_.find("\r\n\r\n");
  if (end == std::string::npos) return;
  const std::string_view head(received_.data(), end + 2);
  answer_.head = end + 4;
  answer_.status = atoi(received_.c_str() + received_.find(' '));
  answer_.chunked = header(head, "transfer-encoding") == "chunked";
  answer_.length = strtoul(header(head, "content-length").c_str(), nullptr, 10);
  if (session_.empty()) answer_.session = header(head, "mcp-session-id");
  if (!answer_.chunked) received_.reserve(answer_.head + answer_.length);
}

bool HttpClient::whole() {
  if (answer_.head == 0) read_head();
  if (answer_.head == 0) return false;
  if (answer_.chunked) return received_.ends_with("\r\n0\r\n\r\n");
  return received_.size() >= answer_.head + answer_.length;
}

// A piece may end within the id, but one of them has what was asked for. Nothing is put together: that
// would be time that only chunks cost.
bool HttpClient::is_right() const {
  constexpr std::size_t kEdge = 256;
  if (answer_.status != 200) return false;
  std::string edges;
  bool found = false;
  const std::string_view all = std::string_view(received_).substr(answer_.head);
  const auto look = [&](std::string_view piece) {
    edges.append(piece.substr(0, kEdge));
    if (piece.size() > kEdge) edges.append(piece.substr(std::max(kEdge, piece.size() - kEdge)));
    found = found || piece.find(wanted_text_) != std::string_view::npos;
  };
  if (!answer_.chunked) look(all);
  for (std::size_t at = 0; answer_.chunked && at < all.size();) {
    const std::size_t line = all.find("\r\n", at);
    const std::size_t size = strtoul(all.data() + at, nullptr, 16);
    if (size == 0) break;
    look(all.substr(line + 2, size));
    at = line + 2 + size + 2;
  }
  const std::size_t id = edges.find(wanted_id_);
  if (!found || id == std::string::npos) return false;
  const char behind = edges[id + wanted_id_.size()];
  return behind == ',' || behind == '}';
}

HttpClient::Answer HttpClient::exchange(const std::string& request) {
  write_all(request);
  while (!whole()) read_some();
  if (answer_.status >= 300) throw std::runtime_error(name_ + ": " + received_.substr(0, 400));
  return answer_;
}

double HttpClient::timed(const std::string& request) {
  const Clock::time_point start = Clock::now();
  exchange(request);
  const double us = ms_since(start) * 1000;
  if (!is_right()) throw std::runtime_error(name_ + ": wrong answer: " + received_.substr(0, 400));
  return us;
}

// ---- what a client does

void HttpClient::open() {
  if (!place_.modern) {
    const Answer first = exchange(framed(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
            std::string(kVersion) + R"(","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})",
        "initialize", {}));
    if (received_.find("protocolVersion") == std::string::npos) {
      throw std::runtime_error(name_ + ": initialize was not answered");
    }
    session_ = first.session;
    exchange(framed(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "", {}));
  }
  const std::string meta = place_.modern ? std::string(kMeta).substr(0, strlen(kMeta) - 1) : "";
  exchange(framed(R"({"jsonrpc":"2.0","id":"list","method":"tools/list","params":{)" + meta + "}}",
                  "tools/list", {}));
  if (received_.find("\"" + place_.tool + "\"") == std::string::npos) {
    throw std::runtime_error(name_ + ": no tool " + place_.tool + " in " + received_.substr(0, 400));
  }
}

double HttpClient::echo(std::size_t bytes) { return timed(next_echo(bytes)); }

double HttpClient::blob(std::size_t bytes) {
  const char fill = static_cast<char>('a' + next_id_ % 26);
  wanted_text_ = "\"" + std::string(bytes, fill) + "\"";
  return timed(next_call("blob", R"({"bytes":)" + std::to_string(bytes) + R"(,"fill":")" + fill + "\"}"));
}

void HttpClient::ask_echo(std::size_t bytes) { write_all(next_echo(bytes)); }

Link::Taken HttpClient::take() {
  read_some();
  if (!whole()) return Link::Taken::Partly;
  return is_right() ? Link::Taken::Right : Link::Taken::Wrong;
}

void HttpClient::listen() {
  std::string request = "GET " + place_.path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(place_.port) +
                        "\r\nAccept: text/event-stream\r\n";
  if (!session_.empty()) {
    request += "Mcp-Session-Id: " + session_ + "\r\nMCP-Protocol-Version: " + std::string(kVersion) + "\r\n";
  }
  write_all(request + "\r\n");
  while (answer_.head == 0) {
    read_some();
    read_head();
  }
  if (answer_.status != 200) throw std::runtime_error(name_ + ": no stream: " + received_.substr(0, 400));
  received_ = {};
  received_.shrink_to_fit();
}

int free_port() {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a free port");
  }
  close(fd);
  return ntohs(address.sin_port);
}

bool listens(int port) {
  const int fd = connected(port);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

}  // namespace corral::bench
