#include "base/lifetime.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

namespace corral {
namespace {

/// An object that counts how often its callback ran.
class Counting {
 public:
  explicit Counting(int& count) : count_(count) {}

  std::function<void(int)> callback() {
    return lifetime_.guard([this](int by) { count_ += by; });
  }
  Lifetime::Watch watch() const { return lifetime_.watch(); }

 private:
  int& count_;
  Lifetime lifetime_;
};

TEST(Lifetime, LetsACallbackRunWhileItsObjectExists) {
  int count = 0;
  Counting object(count);

  object.callback()(2);
  object.callback()(3);

  EXPECT_EQ(count, 5);
  EXPECT_FALSE(object.watch().over());
}

TEST(Lifetime, MakesACallbackDoNothingWhenItsObjectIsGone) {
  int count = 0;
  std::optional<Counting> object(count);
  const std::function<void(int)> callback = object->callback();
  const Lifetime::Watch watch = object->watch();

  object.reset();
  callback(1);

  EXPECT_TRUE(watch.over());
  EXPECT_EQ(count, 0);
}

TEST(Lifetime, OfOneObjectIsNotThatOfTheNextAtTheSamePlace) {
  int count = 0;
  std::optional<Counting> object(count);
  const std::function<void(int)> callback = object->callback();

  object.emplace(count);
  callback(1);

  EXPECT_EQ(count, 0);
}

TEST(Lifetime, EndsInTheMiddleOfACallbackThatDestroysTheObject) {
  bool over = false;
  auto object = std::make_unique<Lifetime>();
  const Lifetime::Watch watch = object->watch();
  const std::function<void()> callback = object->guard([&] {
    object.reset();
    over = watch.over();
  });

  callback();
  callback();

  EXPECT_TRUE(over);
}

TEST(Lifetime, GuardsACallbackThatTakesWhatCannotBeCopied) {
  Lifetime lifetime;
  int got = 0;
  const auto take = [&got](std::unique_ptr<int> value) { got = *value; };

  std::function<void(std::unique_ptr<int>)> callback = lifetime.guard(take);
  callback(std::make_unique<int>(7));

  EXPECT_EQ(got, 7);
}

}  // namespace
}  // namespace corral
