// Handles of the HDF5 library.
#pragma once

#include <fmt/core.h>
#include <hdf5.h>

#include <string>
#include <utility>

namespace podere::columns::hdf5 {

/// What is wrong with a file, in words that follow its name.
struct Refusal {
  std::string message;
};

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal{fmt::format(text, std::forward<Args>(args)...)};
}

/// Closes what the library opened at the end of its scope.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// What the library returns where it cannot fail on a file that is whole: throws Refusal if it did.
template <typename T>
T whole(T result, const char* what) {
  if (result < 0) refuse("{} cannot be read: the file is damaged", what);
  return result;
}

}  // namespace podere::columns::hdf5
