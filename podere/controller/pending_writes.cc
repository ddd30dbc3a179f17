#include "podere/controller/pending_writes.h"

#include <algorithm>
#include <utility>

namespace podere::controller {

/// With the lock. A write to a pod of the same name that has gone is forgotten.
PendingWrites::Write& PendingWrites::write_of(const kube::ObjectKey& key, const std::string& uid, double now) {
  Write& write = writes_[key];
  if (write.uid != uid) write = {.uid = uid};
  write.since = now;
  return write;
}

void PendingWrites::created(const kube::ObjectKey& key, Pod pod, double now) {
  const std::scoped_lock lock(mutex_);
  write_of(key, pod->uid, now).created = std::move(pod);
}

void PendingWrites::reclaimed(const kube::ObjectKey& key, const std::string& uid, const Reclaimed& reclaimed,
                              double now) {
  const std::scoped_lock lock(mutex_);
  write_of(key, uid, now).reclaimed = reclaimed;
}

void PendingWrites::deleted(const kube::ObjectKey& key, const std::string& uid, double ends_at, double now) {
  const std::scoped_lock lock(mutex_);
  Write& write = write_of(key, uid, now);
  write.is_deleted = true;
  write.ends_at = ends_at;
}

void PendingWrites::perhaps_created(const kube::ObjectKey& key, double now) {
  const std::scoped_lock lock(mutex_);
  write_of(key, "", now);
}

void PendingWrites::perhaps_written(const kube::ObjectKey& key, const std::string& uid, double now) {
  const std::scoped_lock lock(mutex_);
  write_of(key, uid, now).is_doubtful = true;
}

bool PendingWrites::is_seen(const Write& write, const Pod& seen) {
  if (write.is_doubtful) return false;
  if (write.uid.empty()) return seen != nullptr;
  if (seen == nullptr) return write.created == nullptr;  // it was there, and is gone
  if (seen->uid != write.uid) return write.created == nullptr;
  return (!write.reclaimed || seen->is_reclaimed) && (!write.is_deleted || seen->is_ending);
}

/// The pod with what was written to it; null if it is gone.
PendingWrites::Pod PendingWrites::with(const Write& write, const Pod& seen) {
  const Pod& before = seen != nullptr && seen->uid == write.uid ? seen : write.created;
  if (before == nullptr || (!write.reclaimed && !write.is_deleted)) return before;
  PodFacts after = *before;
  if (write.reclaimed && !after.is_reclaimed) {
    after.is_reclaimed = true;
    after.reclaimed = *write.reclaimed;
  }
  if (write.is_deleted && !after.is_ending) {
    if (after.node.empty()) return nullptr;
    after.is_ending = true;
    after.ends_at = write.ends_at;
  }
  return std::make_shared<const PodFacts>(std::move(after));
}

Objects<PodFacts> PendingWrites::overlay(Objects<PodFacts> seen) {
  const std::scoped_lock lock(mutex_);
  if (writes_.empty()) return seen;
  Objects<PodFacts> pods;
  pods.reserve(seen.size() + writes_.size());
  auto next = seen.begin();
  for (auto entry = writes_.begin(); entry != writes_.end();) {
    const auto& [key, write] = *entry;
    for (; next != seen.end() && next->first < key; ++next) pods.push_back(std::move(*next));
    const bool is_there = next != seen.end() && next->first == key;
    const Pod pod = is_there ? std::move((next++)->second) : nullptr;
    if (is_seen(write, pod)) {
      if (pod != nullptr) pods.emplace_back(key, pod);
      entry = writes_.erase(entry);
      continue;
    }
    if (const Pod after = with(write, pod); after != nullptr) pods.emplace_back(key, after);
    ++entry;
  }
  pods.insert(pods.end(), std::make_move_iterator(next), std::make_move_iterator(seen.end()));
  return pods;
}

std::vector<kube::ObjectKey> PendingWrites::in_doubt(double now, double patience_seconds) const {
  const std::scoped_lock lock(mutex_);
  std::vector<kube::ObjectKey> keys;
  for (const auto& [key, write] : writes_) {
    if (write.uid.empty() || write.is_doubtful || now - write.since > patience_seconds) keys.push_back(key);
  }
  return keys;
}

void PendingWrites::settle(const kube::ObjectKey& key, const Pod& pod, double now) {
  const std::scoped_lock lock(mutex_);
  const auto found = writes_.find(key);
  if (found == writes_.end()) return;
  if (pod == nullptr) {
    writes_.erase(found);
  } else {
    found->second = {
        .uid = pod->uid, .created = pod, .is_deleted = pod->is_ending, .ends_at = pod->ends_at, .since = now};
    if (pod->is_reclaimed) found->second.reclaimed = pod->reclaimed;  // until a watch shows it
  }
}

std::size_t PendingWrites::size() const {
  const std::scoped_lock lock(mutex_);
  return writes_.size();
}

}  // namespace podere::controller
