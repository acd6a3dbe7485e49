#include "load_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>
#include <utility>

#include "child.h"

namespace corral::bench {
namespace {

constexpr std::string_view kVersion = "2025-06-18";

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

HttpClient::HttpClient(std::string name, int port, std::string tool)
    : name_(std::move(name)), port_(port), tool_(std::move(tool)), fd_(connected(port)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), name_ + ": connect");
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{10, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

HttpClient::~HttpClient() { close(fd_); }

void HttpClient::read_more() {
  char text[65536];
  const ssize_t got = recv(fd_, text, sizeof text, 0);
  if (got <= 0) throw std::runtime_error(name_ + ": the connection ended, or no answer within 10 s");
  received_.append(text, static_cast<std::size_t>(got));
}

void HttpClient::read_chunks(Answer& answer) {
  for (;;) {
    std::size_t end = 0;
    while ((end = received_.find("\r\n")) == std::string::npos) read_more();
    const std::size_t size = strtoul(received_.c_str(), nullptr, 16);
    while (received_.size() < end + 2 + size + 2) read_more();
    answer.body.append(received_, end + 2, size);
    received_.erase(0, end + 2 + size + 2);
    if (size == 0) return;
  }
}

void HttpClient::read_body(std::string_view headers, Answer& answer) {
  if (header(headers, "transfer-encoding") == "chunked") return read_chunks(answer);
  const std::size_t size = strtoul(header(headers, "content-length").c_str(), nullptr, 10);
  while (received_.size() < size) read_more();
  answer.body.assign(received_, 0, size);
  received_.erase(0, size);
}

HttpClient::Answer HttpClient::post(const std::string& message) {
  std::string request =
      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
      "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
  if (!session_.empty()) request += "Mcp-Session-Id: " + session_ + "\r\n";
  if (next_id_ > 1) request += "MCP-Protocol-Version: " + std::string(kVersion) + "\r\n";
  request += "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
  if (send(fd_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    throw std::runtime_error(name_ + ": the connection takes no question");
  }
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) read_more();
  const std::string headers = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  Answer answer;
  answer.status = atoi(headers.c_str() + headers.find(' '));
  answer.session = header(headers, "mcp-session-id");
  read_body(headers, answer);
  if (answer.status >= 300) throw std::runtime_error(name_ + ": " + answer.body.substr(0, 200));
  return answer;
}

void HttpClient::open() {
  const Answer first =
      post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
           std::string(kVersion) + R"(","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})");
  if (first.body.find("protocolVersion") == std::string::npos) {
    throw std::runtime_error(name_ + ": initialize was not answered");
  }
  session_ = first.session;
  ++next_id_;
  post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  const Answer list = post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}})");
  if (list.body.find("\"" + tool_ + "\"") == std::string::npos) {
    throw std::runtime_error(name_ + ": no tool " + tool_ + " in " + list.body.substr(0, 200));
  }
}

double HttpClient::echo(std::size_t bytes) {
  const unsigned id = next_id_++;
  std::string text = name_ + "-" + std::to_string(id) + "-";
  if (text.size() < bytes) text.append(bytes - text.size(), 'e');
  const Clock::time_point start = Clock::now();
  const Answer answer =
      post(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
           tool_ + R"(","arguments":{"text":")" + text + "\"}}}");
  const double us = ms_since(start) * 1000;
  if (answer.body.find("\"id\":" + std::to_string(id)) == std::string::npos ||
      answer.body.find(text) == std::string::npos) {
    throw std::runtime_error(name_ + ": wrong answer: " + answer.body.substr(0, 200));
  }
  return us;
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
