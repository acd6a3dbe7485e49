// Tells a callback whether the object that it was made by still exists. For objects that give callbacks to
// the loop, to a worker or to an event stream, which may run them after the object is gone.
//
// The object has a `Lifetime` as its last member, so that it ends before the others do. A callback that
// captures `this` is wrapped by `guard`, or asks a `Watch` before it touches anything. All of it on one
// thread: the answer is only true until somebody else may destroy the object.
#pragma once

#include <memory>
#include <utility>

namespace corral {

class Lifetime {
 public:
  /// A copyable view that outlives the object. Costs no allocation.
  class Watch {
   public:
    bool over() const { return alive_.expired(); }

   private:
    friend class Lifetime;
    explicit Watch(const std::shared_ptr<char>& alive) : alive_(alive) {}

    std::weak_ptr<char> alive_;
  };

  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  Watch watch() const { return Watch(alive_); }

  /// The callback while the object exists; afterwards calling it does nothing. The callback may destroy the
  /// object.
  template <class Callback>
  auto guard(Callback callback) const {
    return [callback = std::move(callback), watch = watch()](auto&&... arguments) mutable {
      if (!watch.over()) callback(std::forward<decltype(arguments)>(arguments)...);
    };
  }

 private:
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace corral
