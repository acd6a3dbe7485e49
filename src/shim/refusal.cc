#include "shim/refusal.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <iterator>
#include <optional>

#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/message.h"

namespace corral::shim {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Enough for any first request; what is longer is not answered.
constexpr std::size_t kLongestRequest = std::size_t{4} << 20;

class Refusal {
 public:
  explicit Refusal(const RefusedClient& client)
      : client_(client), until_(steady_clock::now() + client.patience), reader_(kLongestRequest) {}

  /// The id of the first request, as JSON.
  std::optional<std::string> first_request() {
    while (ready(client_.input, POLLIN)) {
      static std::array<char, 65536> scratch;
      const std::span<char> room = reader_.room(scratch);
      const ssize_t size = read(client_.input, room.data(), room.size());
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (size <= 0) return std::nullopt;
      reader_.took(static_cast<std::size_t>(size));
      while (const std::optional<wire::Line> line = reader_.next()) {
        const wire::Message message(*line);
        if (message.kind() == wire::Kind::Request) return std::string(message.id());
      }
    }
    return std::nullopt;
  }

  bool send(std::string_view text) {
    while (!text.empty()) {
      if (!ready(client_.output, POLLOUT)) return false;
      // A pipe that polls writable takes this much without blocking.
      const ssize_t size = write(client_.output, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
      if (size < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
  }

 private:
  /// Waits for it. False if the time is over or it is not worth waiting.
  bool ready(int fd, short what) const {
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(until_ - steady_clock::now()).count();
      if (left <= 0) return false;
      pollfd wake[] = {{fd, what, 0}, {client_.stop, POLLIN, 0}};
      const int count = poll(wake, std::size(wake), static_cast<int>(left));
      if (count < 0 && errno != EINTR) return false;
      if (wake[1].revents != 0) return false;
      if (count > 0 && wake[0].revents != 0) return true;
    }
  }

  const RefusedClient& client_;
  const steady_clock::time_point until_;
  wire::LineReader reader_;
};

}  // namespace

bool answer_refused(const RefusedClient& client, const std::string& why) {
  if (isatty(client.input) == 1) return false;  // a person reads stderr
  Refusal refusal(client);
  const std::optional<std::string> id = refusal.first_request();
  return id && refusal.send(wire::error_message(*id, wire::kServerLost, why) + "\n");
}

}  // namespace corral::shim
