// What several trainings on the same rows share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace podere::algorithm {

/// What trainings share where their options allow, such as bins. Thread-safe.
class SharedRows {
 public:
  /// What is called `key`, which says of which type it is, too: made by T() where no training has it. The one that was
  /// asked for last is kept for trainings that come later.
  template <typename T>
  std::shared_ptr<T> part(const std::string& key) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<void>& known = parts_[key];
    last_ = known.lock();
    if (!last_) known = last_ = std::make_shared<T>();
    return std::static_pointer_cast<T>(last_);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<void>> parts_;
  std::shared_ptr<void> last_;
};

}  // namespace podere::algorithm
