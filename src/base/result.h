// Expected failures are values: a Result<T> holds a T or an Error. Exceptions are only used when memory runs
// out.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace corral {

/// A sentence for the user: what failed, why, and what to do about it. `kind` decides the exit code.
struct Error {
  enum class Kind { Failure, NotFound, NotExecutable };

  std::string message;
  Kind kind = Kind::Failure;
};

template <class T>
using Result = boost::system::result<T, Error>;

/// Reading the value of a failed Result is a bug; Boost calls this function to choose the exception.
[[noreturn]] inline void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw std::logic_error("unchecked result: " + error.message);
}

}  // namespace corral
