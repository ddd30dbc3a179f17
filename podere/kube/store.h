// What a controller needs of many objects.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "podere/kube/reflector.h"

namespace podere::kube {

/// What `keep` makes of each object, by key, as a reflector keeps it up to date:
///
///     Store<PodFacts> pods(facts_of_pod, [&](const auto& change) { queue.add(farm_of(change)); });
///     Reflector reflector(client, {.resource = kPods}, pods);
///
/// Keep little: that is all the memory that objects need. Thread-safe.
template <typename Kept>
class Store : public Mirror {
 public:
  /// Shared with readers, who may look at it while the object changes.
  using Pointer = std::shared_ptr<const Kept>;

  struct Change {
    ObjectKey key;
    Pointer before;  ///< nothing: the object is new
    Pointer after;   ///< nothing: it is no more
  };

  /// `on_change` is called on the reflector's thread when the store has changed, not for what is only reported again.
  /// An object that was deleted and made anew between watches is one change, with another UID.
  explicit Store(std::function<Kept(const Json& object)> keep, std::function<void(const Change&)> on_change = {})
      : keep_(std::move(keep)), on_change_(std::move(on_change)) {}

  Pointer get(const ObjectKey& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.kept;
  }
  /// By key.
  std::vector<std::pair<ObjectKey, Pointer>> all() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::pair<ObjectKey, Pointer>> pairs;
    pairs.reserve(entries_.size());
    for (const auto& [key, entry] : entries_) pairs.emplace_back(key, entry.kept);
    return pairs;
  }
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return entries_.size();
  }

  void begin_list() override { ++list_; }

  void put(const Json& object) override {
    Change change{key_of(object), nullptr, nullptr};
    const std::string_view version = resource_version_of(object);
    {
      const std::scoped_lock lock(mutex_);
      const auto found = entries_.find(change.key);
      if (found != entries_.end() && found->second.version == version) {
        found->second.list = list_;
        return;
      }
    }
    change.after = std::make_shared<const Kept>(keep_(object));
    {
      const std::scoped_lock lock(mutex_);
      Entry& entry = entries_[change.key];
      change.before = std::exchange(entry.kept, change.after);
      entry.version = version;
      entry.list = list_;
    }
    notify(change);
  }

  void remove(const Json& object) override { remove(key_of(object)); }

  void end_list() override {
    std::vector<ObjectKey> gone;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [key, entry] : entries_) {
        if (entry.list != list_) gone.push_back(key);
      }
    }
    for (const auto& key : gone) remove(key);
  }

 private:
  struct Entry {
    Pointer kept;
    std::string version;     // of the object
    std::uint64_t list = 0;  // in which it was last, or after which it was reported
  };

  void remove(const ObjectKey& key) {
    Change change{key, nullptr, nullptr};
    {
      const std::scoped_lock lock(mutex_);
      const auto found = entries_.find(key);
      if (found == entries_.end()) return;
      change.before = std::move(found->second.kept);
      entries_.erase(found);
    }
    notify(change);
  }
  void notify(const Change& change) const {
    if (on_change_) on_change_(change);
  }

  const std::function<Kept(const Json&)> keep_;
  const std::function<void(const Change&)> on_change_;
  std::uint64_t list_ = 0;  // of the reflector's thread
  mutable std::mutex mutex_;
  std::map<ObjectKey, Entry> entries_;
};

}  // namespace podere::kube
