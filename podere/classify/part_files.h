// What executors have done so far, in files that outlive them: an executor adds to a file of its own, record by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
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

  /// The task is at work. If that is the last that is known of it, it may be what ended the executor. Thread-safe.
  void begin(std::uint64_t task);
  /// The task is done, with this result. It lasts if this process ends, and unless the machine
  /// goes down. Thread-safe. Throws as the constructor.
  void end(std::uint64_t task, std::string_view result);
  /// No more is added. What was lasts if the machine goes down, and processes of other machines find it. Throws as the
  /// constructor. Call once.
  void close();

 private:
  void add(std::uint64_t task, std::uint64_t kind, std::string_view bytes);

  const std::filesystem::path path_;
  std::mutex mutex_;
  int descriptor_ = -1;
};

/// What is in part files. Not thread-safe.
class Results {
 public:
  /// `n_tasks`: records of others are refused. Throws InputError for files that are no part files, or not there.
  Results(std::vector<std::filesystem::path> files, std::uint64_t n_tasks);
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Whether there is a result of the task.
  bool is_done(std::uint64_t task) const { return places_[task].n_bytes != kNone; }
  /// Whether the task was begun and not done: it was at work when its executor ended.
  bool was_begun(std::uint64_t task) const { return !is_done(task) && was_at_an_end(task); }
  /// Whether an executor ended while the task was at work, whatever became of it afterwards.
  bool was_at_an_end(std::uint64_t task) const { return n_open_[task] > 0; }

  /// The result of a task. Throws Error if there is none, or the file has changed.
  std::string result(std::uint64_t task) const;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Place {
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t n_bytes = kNone;
  };
  void read(std::uint32_t file);
  int descriptor_of(std::uint32_t file) const;

  std::vector<std::filesystem::path> files_;
  std::vector<Place> places_;                         // [n_tasks]
  std::vector<std::int32_t> n_open_;                  // [n_tasks], how often begun and not done
  mutable std::map<std::uint32_t, int> descriptors_;  // of files that are open
};

}  // namespace podere::classify
