// Finds the instance that a session speaks to, or starts one: shared where the evidence allows, private
// otherwise. Owns the places, keeps their number flat, and remembers what their instances taught us.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/loop.h"
#include "events/stream.h"
#include "instance/children.h"
#include "instance/error_file.h"
#include "instance/journal.h"
#include "pool/catalog.h"
#include "pool/eviction.h"
#include "pool/place.h"
#include "proc/spawner.h"

namespace corral::pool {

struct Limits {
  std::size_t max_instances = 256;
  std::size_t keep = 9;  // idle ones of one server
  Clock::duration drain = std::chrono::seconds(5);
  pool::RestartRules restart{};
};

class Switchboard final : private router::Router::Owner {
 public:
  Switchboard(Loop& loop, proc::Spawner& spawner, std::size_t line_cap);
  ~Switchboard() override;

  /// What a session may be told before it needs an instance. Nothing if one runs already that it would share,
  /// if too little is known, or if the server's files have changed since.
  std::optional<Known> known(const Ask& ask);

  /// Whether such a session would get an instance together with others.
  bool would_share(const Ask& ask) { return catalog_.decide(ask).shared; }
  /// Whether an instance could be had for such a session and for `more` others: one that it would share runs,
  /// or there is room. Empty, or a sentence that names the quota.
  std::string why_no_room(const Ask& ask, std::size_t more);
  /// The last tools/list result that such a session got, until something new is learned; empty if none is
  /// known.
  std::string_view known_tools(const Ask& ask) { return catalog_.known_tools(ask); }

  /// The port hears `opened`, perhaps before this returns.
  void open(router::SessionPort& port, const Ask& ask);
  /// The session's lease ends. True if the instance ends with it; `when_gone` is called when its tree is
  /// gone. `with_owner`: its session object ends too, and with it a shared instance that was started for it
  /// and that nobody else uses.
  bool release(router::SessionPort& port, instance::Instance::Haste haste, WhenGone when_gone,
               bool with_owner = false);

  /// Nobody waits any more for the end of the instance that this session has released.
  void hasten(router::SessionId session);

  /// The session object is over: what was started for it and is used by nobody else goes. `when_gone` hears
  /// of each, also of those that are on their way out already. Returns how many there are.
  std::size_t end_all_of(const std::string& owner, const WhenGone& when_gone);

  /// Nobody waits any more for those that are on their way out.
  void hasten_all_of(const std::string& owner);

  void stop_all(instance::Instance::Haste haste);

  /// A child of this process that is no instance, and is meant to be there until it dies.
  void started(pid_t child, instance::Children::Ended ended) { children_.started(child, std::move(ended)); }

  void set_limits(const Limits& limits) { limits_ = limits; }
  /// For the instances that are started from now on.
  void set_line_cap(std::size_t line_cap) { line_cap_ = line_cap; }
  /// Hears of every instance that was started for a session object and whose end was not proved.
  using Unproved = std::function<void(const std::string& owner, const Gone& gone)>;
  void when_unproved(Unproved task) { unproved_ = std::move(task); }

  /// Who hears what happens to instances; outlives us.
  void tell_events_to(events::Stream* stream) { events_ = stream; }
  /// Where it is written down what was started, and what servers say on stderr; both outlive us.
  void keep_journal(instance::Journal* journal) { journal_ = journal; }
  void keep_error_output(instance::ErrorFiles* files) { error_files_ = files; }
  /// The session was told what is known, and needs no instance for now.
  void answered_without_instance(const router::SessionPort& port, const Wanted& wanted) const;

  /// Where what is learned outlives us.
  void keep_manifests(knowledge::ManifestStore* store) { catalog_.keep_in(store); }
  using BuildOf = std::function<knowledge::Fingerprint(const instance::Instance&)>;
  void learn_builds_with(BuildOf build_of) { build_of_ = std::move(build_of); }
  /// Looks whether the files of running servers have changed; also done by itself now and then.
  void look_at_code();

  using AllGone = std::function<void(const std::vector<Gone>&)>;
  /// Every instance of the server goes; calls in flight get `Limits::drain`. Its sessions stay, and get a new
  /// instance at once, or with `Cause::Stopped` none before `allow`. Returns how many go; `done` is called in
  /// any case, perhaps before this returns.
  std::size_t retire(const std::string& server, Cause cause, const AllGone& done);
  /// What was stopped, or has died too often, may be started again. False if there was nothing to allow.
  bool allow(const std::string& server);
  const std::set<std::string, std::less<>>& stopped() const { return stopped_; }
  /// The instance has grown too large: another one takes its place when its calls are answered.
  void recycle(const InstanceId& instance, const std::string& why);

  const std::list<Place>& places() const { return places_; }
  std::size_t living() const;
  std::uint64_t started() const { return started_; }

 private:
  void learned_read_only(router::Router& router, bool read_only) override;
  void learned_conversational(router::Router& router) override;
  void learned_list(router::Router& router, const router::SessionPort& port, router::ListKind kind,
                    std::string_view result) override;
  void learned_of_change(router::Router& router, router::ChangedList list) override;
  void learned_that_it_answers_probes(router::Router& router) override;
  void router_error_output(router::Router& router, std::string_view bytes) override;
  void router_opened(router::Router& router) override;
  void router_unfit(router::Router& router) override;
  void router_drained(router::Router& router) override;
  void router_hung(router::Router& router) override;
  void router_lost(router::Router& router, const router::LastWords& why) override;
  void router_ended(router::Router& router, const instance::Ending& ending) override;

  bool teaches(const Place& place);
  static std::string key_for(const Ask& ask, const knowledge::SharingDecision& decision,
                             router::SessionId session);
  Place& place_for(router::SessionPort& port, const Ask& ask, const knowledge::SharingDecision& decision);
  Place* left_by_session(router::SessionId session, const Place& except);
  void ask_again(const std::string& key, router::SessionId session);
  void hand_on(Place& place);
  void hint(router::SessionPort& port, const Wanted& wanted, const knowledge::SharingDecision& decision);

  // one place
  void happen(Place& place, pool::Happening happening);
  void start(Place& place);
  Result<void> start_instance(Place& place);
  instance::Opening opening_of(const Place& place);
  void attach_askers(Place& place);
  void learn_build(Place& place);
  void look_at_code(Place& place);
  void take_out_of_use(Place& place, const std::string& changed);
  void refuse_askers(Place& place);
  void refuse_version(Place& place, const std::string& objection);
  void tell_failed(Place& place, router::Opened::Kind kind, const std::string& text);
  void drain(Place& place);
  void end(Place& place, instance::Instance::Haste haste);
  void leave_sessions(Place& place);
  void delay(Place& place);
  void revive(Place& place);
  void gone(Place& place, const instance::Ending& ending);
  void died(Place& place);

  void tell(events::Event event) const;
  // spares
  Place* spare_for(const router::SessionPort& port, const Ask& ask,
                   const knowledge::SharingDecision& decision);
  void refill(const Ask& ask);
  void add_spare(const Ask& ask, const std::string& spare_for);

  // how many there are
  Result<void> make_room(const Wanted& wanted);
  Use instances_used(const Wanted& wanted) const;
  std::vector<Place*> replaceable_for(const Wanted& wanted, std::vector<Candidate>& list);
  void keep_newest();
  void watch_use(Place& place, Clock::duration after);
  void look_at_use(Place& place);
  bool may_park(const Place& place);
  enum class Spares : std::uint8_t { Counted, Kept };
  std::vector<Place*> candidates(std::vector<Candidate>& list, Spares spares);

  Place* place_called(std::string_view key);
  Place* place_of(const router::Router& router);
  Place* place_of(const router::SessionPort& port);

  Loop& loop_;
  proc::Spawner& spawner_;
  std::size_t line_cap_;
  Catalog catalog_;
  instance::Children children_;
  std::list<Place> places_;
  std::vector<std::unique_ptr<router::Router>> ended_;  // for a moment
  events::Stream* events_ = nullptr;
  instance::Journal* journal_ = nullptr;
  instance::ErrorFiles* error_files_ = nullptr;
  BuildOf build_of_;
  Timer code_;
  Limits limits_;
  std::set<std::string, std::less<>> stopped_;
  Unproved unproved_;
  std::minstd_rand random_;
  Clock::duration next_delay_{};  // of the place that has just died
  std::uint64_t started_ = 0;
  std::uint64_t spares_ = 0;  // ever begun
  bool closing_ = false;      // no spare is begun any more
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace corral::pool
