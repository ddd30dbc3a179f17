// What executors have done so far, in files that outlive them: an executor adds to a file of its own, record by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace podere::classify {

/// A file of records about tasks. Its end may be missing: what is whole counts.
class PartFile {
 public:
  /// Makes a new file. Throws Error, or InputError where there is no room.
  explicit PartFile(std::filesystem::path path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// The task is at work. If that is the last that is known of it, it may be what ended the executor.
  void begin(std::uint64_t task);
  /// The task is done, with this result: at most 2^32 - 1 bytes. It lasts if this process ends, and unless the machine
  /// goes down. Thread-safe. Throws as the constructor.
  void end(std::uint64_t task, std::string_view result);

 private:
  void add(std::uint64_t task, std::uint64_t kind, std::string_view bytes);

  const std::filesystem::path path_;
  std::mutex mutex_;
  int descriptor_ = -1;
};

/// All part files of a folder, read.
class Parts {
 public:
  /// Of the files NAME.part in `folder`; a folder without any has no results. `n_tasks`: records of others are
  /// refused. Throws InputError for files that are no part files.
  Parts(const std::filesystem::path& folder, std::uint64_t n_tasks);

  /// Whether there is a result of the task.
  bool is_done(std::uint64_t task) const { return places_[task].n_bytes != kNone; }
  /// How often the task was begun without an end.
  std::uint32_t n_begun(std::uint64_t task) const { return n_begun_[task]; }
  std::uint64_t n_done() const;

  /// The result of a task that is done. Throws Error if the file has changed.
  std::string result(std::uint64_t task) const;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Place {
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t n_bytes = kNone;
  };
  void read(std::uint32_t file);

  std::vector<std::filesystem::path> files_;
  std::vector<Place> places_;           // [n_tasks]
  std::vector<std::uint32_t> n_begun_;  // [n_tasks]
};

}  // namespace podere::classify
