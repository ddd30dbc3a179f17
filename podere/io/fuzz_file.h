// What the libFuzzer programs of readers share: an input as a file, and what a reader makes of it as text.
#pragma once

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>

#include "podere/base/error.h"
#include "podere/io/csv_reference.h"
#include "podere/table/table.h"

namespace podere::io {

/// A file in memory, which has a path.
class FuzzFile {
 public:
  void write(std::span<const std::uint8_t> bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, bytes.data(), bytes.size(), 0) != size) std::abort();
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_ = memfd_create("fuzz", MFD_CLOEXEC);
};

/// The table as text, or what the reader says instead.
inline std::string outcome(const std::function<table::Table()>& read) {
  try {
    const table::Table table = read();
    std::string text = fmt::format("{} rows:", table.n_rows());
    for (const std::string& name : table.schema().features) text += fmt::format(" {}", name);
    for (const std::uint32_t bits : table_bits(table)) text += fmt::format(" {:08x}", bits);
    for (const auto& [feature, texts] : table.schema().categories) {
      for (const std::string& category : *texts) text += fmt::format(" {}", category);
    }
    for (const std::string& label : table.schema().classes) text += fmt::format(" {}", label);
    return text;
  } catch (const InputError& error) {
    return error.what();
  }
}

/// Ends the program if two ways to read an input do not come to the same.
inline void expect_same(const std::string& expected, const std::string& found, const std::string& how) {
  if (found == expected) return;
  fmt::print(stderr, "expected: {}\n{}: {}\n", expected, how, found);
  std::abort();
}

}  // namespace podere::io
