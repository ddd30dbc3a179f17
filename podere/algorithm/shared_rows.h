// What several trainings on the same rows share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace podere::algorithm {

/// What trainings share where their options allow, such as bins. Thread-safe.
class SharedRows {
 public:
  /// What is called `key`, which says of which type it is, too: made by T() where there is none. The last few are kept
  /// for trainings that come later.
  template <typename T>
  std::shared_ptr<T> part(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(parts_, key, [](const auto& part) { return part.first; });
    if (found != parts_.end()) return std::static_pointer_cast<T>(found->second);
    auto made = std::make_shared<T>();
    parts_.emplace_back(key, made);
    if (parts_.size() > kMostKept) parts_.pop_front();
    return made;
  }

 private:
  static constexpr std::size_t kMostKept = 4;
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::shared_ptr<void>>> parts_;
};

}  // namespace podere::algorithm
