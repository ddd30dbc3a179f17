// A limit on how often something is done.
#pragma once

#include <algorithm>

namespace podere::kube {

/// Lets `burst` through at once and `per_second` in the long run. Times are seconds of any clock. Not thread-safe.
class TokenBucket {
 public:
  TokenBucket(double per_second, double burst) : per_second_(per_second), burst_(burst), n_tokens_(burst) {}

  /// Takes one token, which may be one to come. Seconds from `now` until it may be used.
  double take(double now) {
    fill(now);
    n_tokens_ -= 1;
    return std::max(std::max(-n_tokens_ / per_second_, 0.0), pause_end_ - now);
  }
  /// Takes one if it is there.
  bool take_at_once(double now) {
    fill(now);
    if (n_tokens_ < 1 || pause_end_ > now) return false;
    n_tokens_ -= 1;
    return true;
  }
  /// No token may be used before `end`.
  void pause_until(double end) { pause_end_ = std::max(pause_end_, end); }

 private:
  void fill(double now) {
    n_tokens_ = std::min(burst_, n_tokens_ + std::max(now - filled_at_, 0.0) * per_second_);
    filled_at_ = std::max(filled_at_, now);
  }

  double per_second_;
  double burst_;
  double n_tokens_;
  double filled_at_ = 0;
  double pause_end_ = 0;
};

}  // namespace podere::kube
