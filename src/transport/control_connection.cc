#include "transport/control_connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "control/control_socket.h"
#include "control/hello.h"
#include "version.h"

namespace corral::transport {
namespace {

using control::Hello;
using control::Reply;
using control::Verb;
using std::chrono::seconds;

constexpr seconds kHelloPatience{10};
constexpr seconds kLastWordsPatience{10};              // for a shim that does not read
constexpr seconds kHalfClosedPatience{30};             // for the session of a shim that wants to leave
constexpr std::size_t kPiece = std::size_t{32} << 10;  // of stderr
constexpr std::size_t kMostIgnored = 4096;
constexpr int kUsage = 64;  // EX_USAGE

bool is_pidfd(int fd) {
  const UniqueFd info(open(("/proc/self/fdinfo/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  if (!info.valid() || read(info.get(), text.data(), text.size() - 1) <= 0) return false;
  return strstr(text.data(), "\nPid:\t") != nullptr;
}

/// True if both directions are closed, so that no answer can be read.
bool hung_up(int fd) {
  pollfd state{fd, 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

ControlConnection::ControlConnection(std::shared_ptr<ListenerContext> context, UniqueFd socket, pid_t peer,
                                     Finished finished)
    : context_(std::move(context)),
      socket_(std::move(socket)),
      peer_(peer),
      finished_(std::move(finished)),
      watch_(std::make_unique<Watch>(context_->loop, socket_.get())),
      timer_(context_->loop) {}

void ControlConnection::start() {
  timer_.start(kHelloPatience, [self = weak_from_this()] {
    const auto connection = self.lock();
    if (!connection) return;
    ++connection->context_->counters.bad_hellos;
    connection->finish();
  });
  wait_for_bytes();
}

void ControlConnection::abandon() {
  when_gone_ = nullptr;
  finished_ = nullptr;
  finish();
}

// ---- in

void ControlConnection::wait_for_bytes() {
  watch_->when_readable([self = weak_from_this()] {
    if (const auto connection = self.lock()) connection->read_bytes();
  });
}

void ControlConnection::read_bytes() {
  if (state_ == State::Finished) return;
  if (state_ == State::Hello) {
    if (read_hello()) wait_for_bytes();
    return;
  }
  // After the hello, nothing is expected except the end.
  std::array<char, kMostIgnored> junk;
  const ssize_t size = recv(socket_.get(), junk.data(), junk.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return wait_for_bytes();
  if (size > 0) ignored_ += static_cast<std::size_t>(size);
  if (size > 0 && ignored_ <= kMostIgnored) return wait_for_bytes();
  handle_hang_up();
}

/// Returns false if nothing more should be read for now.
bool ControlConnection::read_hello() {
  std::array<char, std::size_t{64} << 10> chunk;
  iovec bytes{chunk.data(), chunk.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size <= 0) {
    ++context_->counters.bad_hellos;
    finish();
    return false;
  }
  keep_descriptors(message);
  const std::string_view piece(chunk.data(), static_cast<std::size_t>(size));
  const std::size_t end = piece.find('\n');
  hello_.append(piece.substr(0, end));
  if (hello_.size() > control::kLongestHello) {
    reject("the first line is longer than " + std::to_string(control::kLongestHello) + " bytes");
    return state_ != State::Finished;
  }
  if (end == std::string_view::npos) return true;
  timer_.cancel();
  const std::string line = std::exchange(hello_, {});
  context_->loop.doing({"control", 1, line.size()});
  check_hello(line);
  return state_ != State::Finished;
}

/// The kernel closed the descriptors that did not fit.
void ControlConnection::keep_descriptors(msghdr& message) {
  cut_off_ |= (message.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      UniqueFd received(fd);
      if (descriptor_count_ < kMostDescriptors) {
        descriptors_[descriptor_count_++] = std::move(received);
      } else {
        too_many_descriptors_ = true;
      }
    }
  }
}

void ControlConnection::check_hello(std::string_view line) {
  Result<Hello> hello = control::decode_hello(line);
  if (!hello) return reject("the first line is not valid: " + hello.error().message);
  if (hello->protocol < control::kOldestProtocol || hello->protocol > control::kProtocol) {
    const bool newer = hello->protocol > control::kProtocol;
    Reply reply{Reply::Kind::Refused, "", control::kWrongProtocol, 0, control::kProtocol, kVersion};
    reply.text = "this daemon (corral " + std::string(kVersion) + ") speaks protocol " +
                 control::served_protocols() + ", not " + std::to_string(hello->protocol) + ": " +
                 (newer ? "restart it with the newer corral (`corral serve --replace`)"
                        : "use a newer corral on this side");
    ++context_->counters.bad_hellos;
    return say_last(reply);
  }
  if (cut_off_ && descriptor_count_ < hello->descriptors.size()) {
    ++context_->counters.out_of_resources;
    return run_it("the daemon has no descriptors left: end some sessions, or raise its limit (ulimit -n)");
  }
  if (too_many_descriptors_ || cut_off_ || descriptor_count_ != hello->descriptors.size()) {
    return reject("the received descriptors do not match 'descriptors'");
  }
  serve(std::move(*hello));
}

void ControlConnection::reject(const std::string& why) {
  ++context_->counters.bad_hellos;
  std::string().swap(hello_);
  refuse(why, kUsage);
}

void ControlConnection::serve(Hello hello) {
  state_ = State::Open;
  if (hello.verb == Verb::Connect) return open_session(std::move(hello));
  ask(std::move(hello));
}

void ControlConnection::open_session(Hello hello) {
  Arrival arrival;
  for (std::size_t i = 0; i < hello.descriptors.size(); ++i) {
    const std::string& name = hello.descriptors[i];
    UniqueFd& received = descriptors_[i];
    if (name == "client" ? !is_pidfd(received.get()) : !control::can_be_passed(received.get())) {
      return reject("the descriptor '" + name + "' is " +
                    (name == "client" ? "not a pidfd" : "neither a pipe nor a stream socket"));
    }
    (name == "input"    ? arrival.input
     : name == "output" ? arrival.output
                        : arrival.client) = std::move(received);
  }
  // A shim that gave up waiting has continued without the daemon, so its client's input must not be read
  // here.
  if (hung_up(socket_.get())) return finish();
  arrival.hello = std::move(hello);
  arrival.shim = peer_;
  arrival.confinement = more_confined(control::surroundings_of_peer(socket_.get()), context_->own);
  needs_shim_ = true;
  context_->opener.open(std::move(arrival), shared_from_this());
}

void ControlConnection::ask(Hello hello) {
  Question question{std::move(hello), peer_, ""};
  if (question.hello.verb == Verb::SessionCreate) {
    question.confinement = more_confined(control::surroundings_of_peer(socket_.get()), context_->own);
  }
  context_->opener.answer(std::move(question), [self = weak_from_this()](const Reply& reply) {
    if (const auto connection = self.lock()) connection->say_last(reply);
  });
}

// ---- out

void ControlConnection::accept() {
  say(Reply{Reply::Kind::Accepted, "", 0, 0, control::kProtocol, kVersion});
}

void ControlConnection::refuse(const std::string& why, int exit_code) {
  say_last(Reply{Reply::Kind::Refused, why, exit_code, 0, control::kProtocol, kVersion});
}

void ControlConnection::run_it(const std::string& why) {
  say_last(Reply{Reply::Kind::RunIt, why, 0, 0, 0, ""});
}

void ControlConnection::note(const std::string& sentence) {
  if (queued() < kMostQueued) say(Reply{Reply::Kind::Note, sentence, 0, 0, 0, ""});
}

void ControlConnection::error_output(std::string_view bytes) {
  if (state_ != State::Open) return;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    // Once bytes are dropped, dropping continues until half of the queue is free, so that there is one gap
    // and not many.
    if (queued() + piece.size() > (dropped_ > 0 ? kMostQueued / 2 : kMostQueued)) {
      dropped_ += piece.size();
      context_->counters.dropped_stderr += piece.size();
      continue;
    }
    tell_of_dropped();
    out_ += control::encode(Reply{Reply::Kind::Stderr, "", 0, piece.size(), 0, ""});
    out_ += piece;
  }
  flush();
}

void ControlConnection::tell_of_dropped() {
  if (dropped_ == 0) return;
  const std::size_t dropped = std::exchange(dropped_, 0);
  out_ += control::encode(
      Reply{Reply::Kind::Note,
            std::to_string(dropped) +
                " bytes of the server's stderr were dropped because they were not read in time",
            0, 0, 0, ""});
}

void ControlConnection::exit(int code, const std::string& why) {
  if (state_ == State::Open) tell_of_dropped();
  say_last(Reply{Reply::Kind::Exit, why, code, 0, 0, ""});
}

void ControlConnection::when_gone(std::function<void()> task) {
  when_gone_ = std::move(task);
  if (!gone_ || !when_gone_) return;
  context_->loop.post([self = weak_from_this()] {  // not from within the call that asks
    const auto connection = self.lock();
    if (!connection || !connection->when_gone_) return;
    const auto call = std::exchange(connection->when_gone_, nullptr);
    call();
  });
}

void ControlConnection::say(const Reply& reply) {
  if (state_ != State::Open) return;
  out_ += control::encode(reply);
  flush();
}

void ControlConnection::say_last(const Reply& reply) {
  if (state_ == State::Closing || state_ == State::Finished) return;
  state_ = State::Closing;
  when_gone_ = nullptr;
  out_ += control::encode(reply);
  timer_.start(kLastWordsPatience, [self = weak_from_this()] {
    if (const auto connection = self.lock()) connection->finish();
  });
  flush();
}

void ControlConnection::flush() {
  while (written_ < out_.size()) {
    const ssize_t size = send(socket_.get(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (size >= 0) {
      written_ += static_cast<std::size_t>(size);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      // The reader is gone. The caller does not expect a callback from here.
      std::string().swap(out_);
      written_ = 0;
      context_->loop.post([self = weak_from_this()] {
        if (const auto connection = self.lock()) connection->handle_hang_up();
      });
      return;
    }
  }
  if (written_ == out_.size()) {
    std::string().swap(out_);  // an idle session holds no buffer
    written_ = 0;
    if (state_ == State::Closing) finish();
    return;
  }
  if (written_ > out_.size() / 2) out_.erase(0, std::exchange(written_, 0));
  if (std::exchange(waiting_to_write_, true)) return;
  watch_->when_writable([self = weak_from_this()] {
    const auto connection = self.lock();
    if (!connection || connection->state_ == State::Finished) return;
    connection->waiting_to_write_ = false;
    if (connection->state_ == State::Open && connection->queued() <= kMostQueued / 2) {
      connection->tell_of_dropped();
    }
    connection->flush();
  });
}

// ---- closing

/// The other side will send nothing more. It may still read: a shim that was told to leave waits for the end
/// of its session, and a script may have closed only one direction.
void ControlConnection::handle_hang_up() {
  if (state_ == State::Finished) return;
  const bool nobody = hung_up(socket_.get()) || ignored_ > kMostIgnored;
  const auto self = shared_from_this();  // the call below may release the last reference
  if (needs_shim_ && !std::exchange(gone_, true) && when_gone_) {
    const auto call = std::exchange(when_gone_, nullptr);
    call();
  }
  if (state_ == State::Finished) return;
  if (nobody) return finish();
  wait_for_full_close();
  if (state_ != State::Open || !needs_shim_ || timer_.running()) return;
  timer_.start(kHalfClosedPatience, [weak = weak_from_this()] {
    if (const auto connection = weak.lock()) connection->finish();
  });
}

void ControlConnection::wait_for_full_close() {
  watch_->when_broken([self = weak_from_this()] {
    if (const auto connection = self.lock()) connection->handle_hang_up();
  });
}

void ControlConnection::finish() {
  if (state_ == State::Finished) return;
  state_ = State::Finished;
  timer_.cancel();
  watch_.reset();
  socket_.reset();
  for (UniqueFd& descriptor : descriptors_) descriptor.reset();
  std::string().swap(out_);
  std::string().swap(hello_);
  written_ = 0;
  if (finished_) std::exchange(finished_, nullptr)(shared_from_this());
}

}  // namespace corral::transport
