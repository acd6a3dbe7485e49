#include "transport/stdio_client.h"

#include <sys/stat.h>

#include <utility>

#include "proc/identity.h"

namespace corral::transport {
namespace {

// For a client that no longer reads: time since it last read something, and total time.
constexpr std::chrono::seconds kFlushLimit{2};
constexpr std::chrono::seconds kFlushLimitInAll{60};
// For finding out who goes on with the session: a process can make /proc hang, and guards fail closed.
constexpr std::chrono::seconds kHeirLimit{5};
constexpr std::size_t kBeyondOneAnswer = std::size_t{32} << 20;

std::uint64_t inode_of(const UniqueFd& fd) {
  struct stat about {};
  return fstat(fd.get(), &about) == 0 ? about.st_ino : 0;
}

}  // namespace

StdioClient::StdioClient(Loop& loop, Arrival arrival, std::shared_ptr<ShimLine> line, std::size_t line_cap,
                         Gone gone, wire::ChannelMaker make_channel)
    : loop_(loop),
      line_(std::move(line)),
      pipes_{inode_of(arrival.input), inode_of(arrival.output)},
      channel_(make_channel(loop, std::move(arrival.input), std::move(arrival.output), line_cap, *this,
                            "client-messages")),
      most_queued_(line_cap + kBeyondOneAnswer),
      client_(std::move(arrival.client)),
      heir_limit_(loop),
      flush_limit_(loop),
      gone_(std::move(gone)),
      client_pid_(arrival.hello.client),
      shim_pid_(arrival.shim),
      wants_advice_(!arrival.hello.quiet) {}

StdioClient::~StdioClient() { line_->when_gone(nullptr); }

void StdioClient::begin(router::SessionId id, pool::Pool& pool, std::shared_ptr<const pool::ServerSpec> spec,
                        std::string owner) {
  session_ = std::make_unique<session::Session>(loop_, id, *this, pool, std::move(spec), std::move(owner));
  line_->when_gone([this] { session_->end(session::EndReason::ShimGone); });
  if (client_.valid()) watch_client();
  channel_->resume();
}

// ---- the client's process

void StdioClient::watch_client() {
  client_watch_ = std::make_unique<Watch>(loop_, client_.get());
  client_watch_->when_readable([this] { client_has_ended(); });
}

/// Usually nobody can write any more, and the session is over. Otherwise another process may go on with it,
/// or only hold the pipes by accident.
void StdioClient::client_has_ended() {
  if (!find_heir_ || session_->ended() || channel_->writer_is_gone())
    return session_->end(session::EndReason::ClientGone);
  heir_limit_.start(kHeirLimit, [this] { session_->end(session::EndReason::ClientGone); });
  find_heir_(pipes_, lifetime_.guard([this](UniqueFd heir) { go_on_with(std::move(heir)); }));
}

void StdioClient::go_on_with(UniqueFd process) {
  heir_limit_.cancel();
  const pid_t pid = process.valid() ? proc::pid_behind(process.get()) : 0;
  if (pid <= 0 || session_->ended()) return session_->end(session::EndReason::ClientGone);
  client_watch_.reset();  // before its descriptor
  client_ = std::move(process);
  client_pid_ = pid;
  watch_client();
  line_->accept();
}

// ---- messages

void StdioClient::on_message(const wire::Message& message) { session_->receive(message); }

void StdioClient::send(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  channel_->send(line, edits);
}

void StdioClient::on_oversized(const wire::Oversized& oversized) {
  session_->receive_oversized(oversized.id, oversized.bytes);
}

void StdioClient::on_output_lost() {
  channel_->close();
  session_->end(session::EndReason::OutputClosed);
  leave_if_done();
}

void StdioClient::close(Close how) {
  if (how == Close::AtOnce) return channel_->close();
  flush_until_ = Clock::now() + kFlushLimitInAll;
  limit_flush(channel_->queued());
  channel_->close_output_when_flushed();
}

void StdioClient::limit_flush(std::size_t left) {
  flush_limit_.start(kFlushLimit, [this, left] {
    if (channel_->queued() < left && Clock::now() < flush_until_) return limit_flush(channel_->queued());
    channel_->close();
    leave_if_done();
  });
}

void StdioClient::exit(int code, const std::string& why) {
  over_ = true;
  code_ = code;
  why_ = why;
  leave_if_done();
}

/// The shim may exit when the client has everything, because some clients take its exit for the end of the
/// output.
void StdioClient::leave_if_done() {
  if (!over_ || exited_ || channel_->output_open()) return;
  exited_ = true;
  line_->when_gone(nullptr);
  line_->exit(code_, why_);
  channel_->close();
  loop_.post(lifetime_.guard([this] { gone_(*this); }));
}

}  // namespace corral::transport
