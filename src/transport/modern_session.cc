#include "transport/modern_session.h"

#include <algorithm>
#include <array>

#include "http/sse.h"
#include "transport/http_rules.h"
#include "transport/modern_session_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::transport {
namespace {

void refuse_post(http::Exchange& exchange, std::string_view id, int status, int code, std::string message) {
  exchange.reply(refusal_response({status, code, std::move(message), {}, {}}, id));
}

std::string_view posted_id(const Posted& posted) { return posted.message.id(); }

/// The request with an id and a token that corral issued.
std::shared_ptr<const std::string> with_own_id(const Posted& posted, const std::string& number) {
  std::array<wire::Edit, 2> edits = {wire::Edit{posted.message.where().id, number},
                                     wire::Edit{posted.message.where().progress_token, number}};
  const bool token = edits[1].where.present();
  if (token && edits[1].where.begin < edits[0].where.begin) std::swap(edits[0], edits[1]);
  return std::make_shared<const std::string>(wire::edited(posted.message.text(), edits));
}

/// The list changes that a listen requests.
std::uint8_t lists_to_hear(std::string_view params) {
  const std::string_view filter = wire::member_text(params, "notifications");
  std::uint8_t bits = 0;
  for (std::size_t i = 0; i < kListsToHear.size(); ++i) {
    const bool wanted = wire::member_text(filter, std::string(kListsToHear[i]) + "ListChanged") == "true";
    if (wanted) bits = static_cast<std::uint8_t>(bits | (1U << i));
  }
  return bits;
}

}  // namespace

// ---- the transport

ModernSession::ModernSession(Loop& loop, const HttpLimits& limits, Gone gone, Programs programs)
    : impl_(std::make_shared<Impl>(*this, loop, limits, std::move(gone), programs)) {}

ModernSession::~ModernSession() {
  impl_->closed = true;
  impl_->left = true;
  impl_->timer.cancel();
  impl_->session.reset();
  impl_->open.clear();
  impl_->waiting.clear();
}

void ModernSession::begin(std::unique_ptr<session::Session> session) { impl_->session = std::move(session); }

session::Session& ModernSession::session() { return *impl_->session; }

bool ModernSession::of_several_programs() const { return impl_->programs == Programs::Several; }

void ModernSession::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  impl_->post(std::move(exchange), posted);
}

std::size_t ModernSession::in_use() const { return impl_->open.size() + impl_->waiting.size(); }

std::uint64_t ModernSession::dropped() const { return impl_->dropped; }

void ModernSession::send(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  const std::shared_ptr<Impl> impl = impl_;
  if (impl->closed) return;
  ++impl->busy;
  impl->route(line, {edits.begin(), edits.size()});
  impl->check_pressure();
  --impl->busy;
}

void ModernSession::answer(const wire::Message& message, std::string_view id) {
  const std::shared_ptr<Impl> impl = impl_;
  if (impl->closed) return;
  const wire::Edit edit{message.where().id, id};
  ++impl->busy;
  impl->answer(message, {&edit, 1});
  impl->check_pressure();
  --impl->busy;
}

bool ModernSession::overflowing() const { return impl_->queued() > impl_->limits.queued; }

bool ModernSession::congested() const { return impl_->congested; }

void ModernSession::pause() { impl_->paused = true; }

void ModernSession::resume() {
  impl_->paused = false;
  if (!impl_->waiting.empty()) impl_->take_waiting_soon();
}

void ModernSession::error_output(std::string_view) {}  // HTTP has no channel for it

void ModernSession::close(Close how) { impl_->answer_all(how); }

void ModernSession::exit(int, const std::string&) {
  impl_->answer_all(Close::AtOnce);
  impl_->leave();
}

// ---- what clients post

void ModernSession::Impl::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  const auto self = shared_from_this();
  const std::string_view client_id = posted_id(posted);
  if (closed) {
    return refuse_post(*exchange, client_id, 503, wire::kServerLost,
                       "the session has just ended; send the request again");
  }
  if (posted.message.kind() != wire::Kind::Request) return take_notification(*exchange, posted);
  if (open_of(posted.program) >= limits.open_requests) {
    return refuse_post(*exchange, client_id, 429, wire::kTooManyCalls,
                       "too many requests: " + std::to_string(limits.open_requests) +
                           " of this program are open at this server; wait for some of their answers");
  }
  const bool waits = paused || busy > 0 || !waiting.empty();
  if (waits && no_room_to_wait(posted)) {
    return refuse_post(*exchange, client_id, 503, wire::kTooManyCalls,
                       "server \"" + session->attachment().server() +
                           "\" is busy at the moment; send the request "
                           "again a little later");
  }
  Account* const account = session->account();
  auto bytes = waits && account != nullptr ? account->take(Good::Bytes, posted.message.text().size())
                                           : std::optional<Account::Held>(Account::Held());
  if (!bytes) {
    return refuse_post(*exchange, client_id, 503, wire::kTooManyCalls, account->objection(Good::Bytes));
  }
  const PostId id = ids.next();
  exchange->when_gone([weak = weak_from_this(), id] {
    if (const auto impl = weak.lock()) impl->hung_up(id);
  });
  if (!waits) return take_request(id, std::move(exchange), posted);
  waiting_bytes += posted.message.text().size();
  waiting.push_back({id, std::move(exchange), posted, std::move(*bytes)});
  if (!paused) take_waiting_soon();
}

std::size_t ModernSession::Impl::open_of(std::uint64_t program) const {
  const auto here = std::count_if(open.begin(), open.end(),
                                  [program](const ModernPost& post) { return post.program == program; });
  const auto held = std::count_if(waiting.begin(), waiting.end(),
                                  [program](const HeldPost& post) { return post.posted.program == program; });
  return static_cast<std::size_t>(here + held);
}

/// Checks the limit of one program, so that it leaves room for the others, and the limit of all of them.
bool ModernSession::Impl::no_room_to_wait(const Posted& posted) const {
  std::size_t count = 0;
  std::size_t bytes = posted.message.text().size();
  for (const HeldPost& one : waiting) {
    if (one.posted.program != posted.program) continue;
    ++count;
    bytes += one.posted.message.text().size();
  }
  if (count >= limits.waiting || waiting.size() >= limits.waiting * 4) return true;
  if (count > 0 && bytes > limits.queued / 4) return true;
  return !waiting.empty() && waiting_bytes + posted.message.text().size() > limits.queued;
}

/// Over HTTP a request is cancelled by closing the connection. A cancel notification names an id that several
/// programs may use, so it is accepted and ignored.
void ModernSession::Impl::take_notification(http::Exchange& exchange, const Posted& posted) {
  if (posted.message.method() != "notifications/cancelled") {
    if (paused) {
      return refuse_post(exchange, {}, 503, wire::kTooManyCalls,
                         "server \"" + session->attachment().server() + "\" is busy at the moment");
    }
    tell(posted.message);
  }
  http::Response response;
  response.status = 202;
  exchange.reply(std::move(response));
}

void ModernSession::Impl::take_request(PostId id, std::shared_ptr<http::Exchange> exchange,
                                       const Posted& posted) {
  const wire::Message& message = posted.message;
  ModernPost post;
  post.id = id;
  post.program = posted.program;
  post.exchange = std::move(exchange);
  post.client_id = message.id();
  post.client_token = message.progress_token();
  post.level = wire::parse_log_level(wire::string_value(message.log_level()).value_or(""));
  const std::string_view method = message.method();
  post.listens = method == "subscriptions/listen";
  post.asks_server = method != "server/discover";
  if (post.listens) post.hears = lists_to_hear(message.params());
  post.heard = Clock::now();
  open.push_back(std::move(post));
  watch(limits.hold);
  const auto text = with_own_id(posted, to_string(id));
  ++busy;
  session->receive(wire::Message(wire::Line{*text, text->size() >= wire::kWorthAnOwner ? text : nullptr}));
  --busy;
}

void ModernSession::Impl::take_waiting_soon() {
  if (std::exchange(taking_soon, true)) return;
  loop.post([weak = weak_from_this()] {
    if (const auto impl = weak.lock()) impl->take_waiting();
  });
}

void ModernSession::Impl::take_waiting() {
  taking_soon = false;
  while (!paused && !closed && !waiting.empty()) {
    const HeldPost first = std::move(waiting.front());
    waiting.erase(waiting.begin());
    waiting_bytes -= first.posted.message.text().size();
    take_request(first.id, first.exchange, first.posted);
  }
  if (waiting.empty()) waiting.shrink_to_fit();
}

void ModernSession::Impl::hung_up(PostId id) {
  if (closed) return;
  if (busy > 0) {  // a caller on the stack may be using it
    loop.post([weak = weak_from_this(), id] {
      if (const auto impl = weak.lock()) impl->hung_up(id);
    });
    return;
  }
  const auto waits =
      std::find_if(waiting.begin(), waiting.end(), [id](const auto& one) { return one.id == id; });
  if (waits != waiting.end()) {
    waiting_bytes -= waits->posted.message.text().size();
    waiting.erase(waits);
    return;
  }
  const std::optional<ModernPost> post = take(id);
  if (!post) return;
  remember_given_up(*post);
  report_drained();
  tell(wire::Message(wire::cancelled_message(to_string(id), "the client has closed the connection")));
}

void ModernSession::Impl::tell(const wire::Message& message) {
  if (busy > 0) {
    loop.post([weak = weak_from_this(), kept = message.owned()] {
      if (const auto impl = weak.lock()) impl->tell(kept);
    });
    return;
  }
  if (closed || !session) return;
  ++busy;
  session->receive(message);
  --busy;
}

ModernPost* ModernSession::Impl::find(PostId id) {
  const auto found = std::lower_bound(open.begin(), open.end(), id,
                                      [](const ModernPost& post, PostId one) { return post.id < one; });
  return found != open.end() && found->id == id ? &*found : nullptr;
}

std::optional<ModernPost> ModernSession::Impl::take(PostId id) {
  ModernPost* const found = find(id);
  if (found == nullptr) return std::nullopt;
  ModernPost post = std::move(*found);
  open.erase(open.begin() + (found - open.data()));
  if (open.empty()) open.shrink_to_fit();
  return post;
}

// ---- time

/// One timer for everything. It is never stopped; with nothing open it is not started again.
void ModernSession::Impl::watch(Clock::duration after) {
  const Clock::time_point wanted = Clock::now() + after;
  if (timer.running() && due <= wanted) return;
  due = wanted;
  timer.start(after, [this] { tick(); });
}

void ModernSession::Impl::tick() {
  const auto self = shared_from_this();
  const Clock::time_point now = Clock::now();
  std::optional<Clock::time_point> next;
  ++busy;
  for (ModernPost& post : open) {
    if (now >= post.heard + (post.streaming ? limits.alive : limits.hold)) {
      if (!post.streaming) begin_stream(post);
      if (post.exchange->queued() == 0) http::write_comment(*post.exchange);
      post.heard = now;
    }
    const Clock::time_point then = post.heard + (post.streaming ? limits.alive : limits.hold);
    next = std::min(next.value_or(then), then);
  }
  --busy;
  if (next) watch(*next - now);
}

// ---- the end

/// Answers every open request. Requests that were still waiting may safely be sent again; for the others it
/// is unknown how far they got.
void ModernSession::Impl::answer_all(session::Transport::Close how) {
  if (std::exchange(closed, true)) return;
  const auto self = shared_from_this();
  timer.cancel();
  for (const HeldPost& one : std::exchange(waiting, {})) {
    refuse_post(*one.exchange, posted_id(one.posted), 503, wire::kServerLost,
                "the session has just ended; send the request again");
  }
  waiting_bytes = 0;
  for (const ModernPost& post : std::exchange(open, {})) {
    if (post.streaming && how == session::Transport::Close::AtOnce) continue;  // it has already been released
    std::string text =
        wire::error_message(post.client_id, wire::kServerLost,
                            "server \"" + session->attachment().server() + "\" ended before it answered");
    const int status = modern_status(wire::Message(text));
    give_answer(post, std::move(text), status);
  }
}

void ModernSession::Impl::leave() {
  if (std::exchange(left, true)) return;
  loop.post([weak = weak_from_this()] {
    const auto impl = weak.lock();
    if (impl && impl->session) impl->gone(impl->owner);
  });
}

}  // namespace corral::transport
