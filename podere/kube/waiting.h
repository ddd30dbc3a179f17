// Waiting that can be cut short.
#pragma once

#include <stop_token>

#include "podere/base/waitable_clock.h"

namespace podere::kube {

/// Sleeps. False, at once, if `stop` is requested.
inline bool wait_for(double seconds, const std::stop_token& stop) {
  steady_clock().sleep(seconds, stop);
  return !stop.stop_requested();
}

}  // namespace podere::kube
