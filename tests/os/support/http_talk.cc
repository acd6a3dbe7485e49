#include "support/http_talk.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "base/unique_fd.h"

namespace corral::os_tests {

std::string HttpTalk::ask(const std::string& method, const std::string& path, const std::string& body) const {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  inet_pton(AF_INET, address.c_str(), &where.sin_addr);
  const timeval patience{15, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) return "";
  std::string text = method + " " + path + " HTTP/1.1\r\nHost: " + address + ":" + std::to_string(port) +
                     "\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n";
  if (!token.empty()) text += "Authorization: Bearer " + token + "\r\n";
  if (!session.empty()) text += "Mcp-Session-Id: " + session + "\r\n";
  if (!body.empty()) {
    text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  text += "\r\n" + body;
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t size = send(socket.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) break;
    sent += static_cast<std::size_t>(size);
  }
  std::string answer;
  char bytes[4096];
  for (ssize_t size = 0; (size = recv(socket.get(), bytes, sizeof bytes, 0)) > 0;) {
    answer.append(bytes, static_cast<std::size_t>(size));
  }
  return answer;
}

std::string HttpTalk::initialize(const std::string& path) {
  session.clear();
  const std::string answer =
      ask("POST", path,
          R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
          R"("capabilities":{},"clientInfo":{"name":"talk","version":"1"}}})");
  constexpr std::string_view kHeader = "Mcp-Session-Id: ";
  const std::size_t at = answer.find(kHeader);
  if (at != std::string::npos) {
    const std::size_t begin = at + kHeader.size();
    session = answer.substr(begin, answer.find("\r\n", begin) - begin);
  }
  return answer;
}

std::string HttpTalk::call(const std::string& path, const std::string& tool, const std::string& arg) const {
  return ask("POST", path,
             R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool +
                 R"(","arguments":{"arg":")" + arg + R"("}}})");
}

int status_of(const std::string& answer) {
  const std::size_t blank = answer.find(' ');
  return blank == std::string::npos ? 0 : atoi(answer.c_str() + blank);
}

}  // namespace corral::os_tests
