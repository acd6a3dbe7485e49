"""The coroutine traps of g++ 12: each as planted code, and next to it the forms that are safe."""

import unittest

from check_case import CheckCase

TRAPS = {
    "aggregate as argument": ("co_await f(Options{1, 2});", "brace temporary"),
    "bare braces as argument": ("co_await g({nothing, 5});", "brace temporary"),
    "aggregate beside the awaited call": ("use(Options{1}, co_await h());", "brace temporary"),
    "conditional around": ('auto x = c ? co_await h("a") : other();', "conditional operator"),
    "conditional in the argument": ("co_await h(c ? a() : b());", "conditional operator"),
    "conditional in a condition": ("if (co_await h(c ? 1 : 2)) {\n    go();\n  }", "conditional operator"),
    "lambda with captures": ("co_await run([&] { work(); });", "lambda with captures in"),
    "lambda with captures and return type": (
        "co_await run([this, x = 1](int a) mutable -> int { return a; });",
        "lambda with captures in",
    ),
    "coroutine lambda": ("auto f = [this]() -> awaitable<void> { co_return; };", "coroutine lambda"),
    "detached": ("co_spawn(io, run(), asio::detached);", "detached coroutine"),
}

SAFE = """
awaitable<Result<int>> Session::pump() {
  for (;;) {
    const Options options{1, 2};
    Result<Message> request = co_await transport_->receive(options);
    if (!request) co_return request.error();
    auto [closed, reply] = co_await outbox_.async_receive(asio::as_tuple(asio::use_awaitable));
    const int size = closed ? 1 : 2;
    co_await timer_.wait(std::chrono::milliseconds{50}, size);
    co_await run([](int x) { return x ? 1 : Options{x}.value; });
    auto by_name = [&] { return closed ? 1 : 2; };
    co_await run(by_name);
    switch (co_await next()) {
      case 1: {
        use(Options{3});
        break;
      }
    }
    if (Result<int> got = co_await next(); got) {
      use(got ? *got : 0, Options{4});
    }
    table_[index] = co_await next();
  }
  co_return Result<int>{7};
}
// co_await f(Options{1, 2});
const char* kText = "co_await f(c ? a : b)";
"""


class Coroutines(CheckCase):
    check = "check_coroutines"

    def test_each_trap_is_caught(self):
        for name, (code, message) in TRAPS.items():
            with self.subTest(name):
                body = f"awaitable<void> run() {{\n  start();\n  {code}\n  co_return;\n}}\n"
                self.write("src/session/a.cc", body)
                self.assert_caught(f"src/session/a.cc:3: {message}")

    def test_safe_forms_pass(self):
        self.write("src/session/a.cc", SAFE)
        self.assert_clean()

    def test_task_group_may_detach(self):
        code = "void TaskGroup::add() { co_spawn(io, run(), asio::detached); }\n"
        self.write("src/base/task_group.cc", code)
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
