// When to try again what failed.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "podere/kube/object.h"
#include "podere/kube/token_bucket.h"

namespace podere::kube {

struct RetryOptions {
  double first_seconds = 0.005;  ///< after the first failure of a key; doubles with each
  double longest_seconds = 1000;
  double per_second = 10;  ///< over all keys, in the long run
  double burst = 100;
};

/// As client-go's default: each key waits longer after each failure, and all keys together share a bucket. Not
/// thread-safe.
class RetryDelays {
 public:
  explicit RetryDelays(const RetryOptions& options) : options_(options), bucket_(options.per_second, options.burst) {}

  /// Seconds from `now` until the key that failed is to be tried again.
  double next(const ObjectKey& key, double now) {
    const unsigned n_failures = n_failures_[key]++;
    const double own = options_.first_seconds * static_cast<double>(1ULL << std::min(n_failures, 60U));
    return std::max(std::min(own, options_.longest_seconds), bucket_.take(now));
  }
  /// The key did not fail.
  void forget(const ObjectKey& key) { n_failures_.erase(key); }
  unsigned n_failures(const ObjectKey& key) const {
    const auto found = n_failures_.find(key);
    return found == n_failures_.end() ? 0 : found->second;
  }

 private:
  RetryOptions options_;
  TokenBucket bucket_;
  std::unordered_map<ObjectKey, unsigned> n_failures_;
};

}  // namespace podere::kube
