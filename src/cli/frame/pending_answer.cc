#include "cli/frame/pending_answer.h"

#include <utility>

#include "version.h"

namespace corral::cli {

using control::Reply;

Result<PendingAnswer> PendingAnswer::ask(const std::string& runtime_dir, control::Hello hello,
                                         std::chrono::milliseconds patience) {
  Result<control::Channel> channel = control::connect_to_daemon(runtime_dir);
  if (!channel) return channel.error();
  hello.version = kVersion;
  const Result<void> sent = channel->send(hello);
  if (!sent) return sent.error();
  return PendingAnswer(std::move(*channel), Clock::now() + patience);
}

std::optional<Result<std::string>> PendingAnswer::take() {
  const bool open = channel_.read_some();
  while (const std::optional<Result<Reply>> reply = channel_.take()) {
    if (!*reply) return reply->error();
    if ((*reply)->kind == Reply::Kind::Note) continue;
    if ((*reply)->kind != Reply::Kind::Status && (*reply)->kind != Reply::Kind::Result) {
      return Result<std::string>(Error{(*reply)->text});
    }
    return Result<std::string>(boost::system::in_place_value, (*reply)->text);
  }
  if (!open) return Result<std::string>(Error{"the daemon hung up", Error::Kind::NotFound});
  if (Clock::now() < deadline_) return std::nullopt;
  return Result<std::string>(Error{"the daemon does not answer"});
}

}  // namespace corral::cli
