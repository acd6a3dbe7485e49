#include "bridge/older_client.h"

#include <map>
#include <utility>

#include "bridge/changes.h"
#include "bridge/vocabulary.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::bridge {

namespace {

/// No more open calls than this of one client are remembered.
constexpr std::size_t kMostCalls = 4096;

bool has_newer_content(std::string_view method) {
  return method == "tools/call" || method == "tools/list" || method == "prompts/get";
}

class OlderClient final : public Bridge {
 public:
  OlderClient(Outlet& outlet, std::string version)
      : outlet_(outlet), version_(std::move(version)), vocabulary_(legacy_vocabulary(version_)) {}

  void from_client(const wire::Message& message, Clock::time_point) override {
    if (message.kind() == wire::Kind::Request && !remember(message)) return;
    if (message.has_request_id()) methods_.erase(std::string(message.request_id()));
    outlet_.to_server(message);
  }

  void from_server(const wire::Message& message, Clock::time_point) override {
    if (message.kind() == wire::Kind::Request && refused(message)) return;
    if (message.kind() != wire::Kind::Response) return outlet_.to_client(message.line());
    const auto open = methods_.find(message.id());
    if (open == methods_.end()) return outlet_.to_client(message.line());
    const std::string method = std::move(open->second);
    methods_.erase(open);
    std::vector<Change> changes;
    const std::string_view result = message.result();
    add_changes(changes, result_changes(method, result, vocabulary_), message.where().result.begin);
    send_changed(outlet_, message.line(), changes);
  }

  /// The router handles ids and subscriptions: for it this is a legacy session like any other.
  void instance_changed(std::string_view) override {}
  void client_ended() override {}
  std::optional<Clock::time_point> next_deadline() const override { return std::nullopt; }
  void expire(Clock::time_point) override {}

 private:
  /// Returns false after answering with an error: the answer to a second request with this id would be taken
  /// for that of the first.
  bool remember(const wire::Message& message) {
    const std::string id(message.id());
    const std::string_view method = message.method();
    if (methods_.contains(id)) {
      refuse(id, wire::kInvalidRequest, "a request with this id is still open");
      return false;
    }
    if (!has_newer_content(method)) return true;
    if (methods_.size() >= kMostCalls) {
      refuse(id, wire::kTooManyCalls, "too many calls are open; wait for some of them");
      return false;
    }
    methods_.emplace(id, method);
    return true;
  }

  void refuse(const std::string& id, int code, std::string_view sentence) {
    outlet_.to_client({wire::error_message(id, code, sentence), nullptr});
  }

  /// Whether it was an elicitation by URL, which the client's revision does not have.
  bool refused(const wire::Message& message) {
    if (wire::legacy_revision(version_).url_elicitation || message.method() != "elicitation/create")
      return false;
    const std::string_view params = message.params();
    if (wire::string_member(params, "mode") != "url") return false;
    outlet_.to_server(wire::Message(wire::error_message(
        message.id(), wire::kInvalidParams,
        "the client's protocol version, " + version_ + ", does not support elicitation by URL; use a form")));
    return true;
  }

  Outlet& outlet_;
  std::string version_;
  Vocabulary vocabulary_;
  std::map<std::string, std::string, std::less<>> methods_;  // of open requests, by the JSON text of the id
};

}  // namespace

bool needs_older_words(std::string_view version) { return !legacy_vocabulary(version).complete(); }

std::string in_older_words(std::string_view method, std::string_view result, std::string_view version) {
  return changed(result, result_changes(method, result, legacy_vocabulary(version)));
}

std::unique_ptr<Bridge> older_client(Outlet& outlet, std::string version) {
  return std::make_unique<OlderClient>(outlet, std::move(version));
}

}  // namespace corral::bridge
