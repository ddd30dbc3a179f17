// What Podere throws.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace podere {

/// A failure that is Podere's or the machine's (exit code 1). The message is one line for the user.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user's mistake (exit code 2): the message names what, where and what is allowed.
class InputError : public Error {
 public:
  using Error::Error;
};

template <typename... Args>
[[noreturn]] void throw_input_error(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void throw_error(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace podere
