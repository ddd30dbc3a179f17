// Points in time as Kubernetes writes them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace podere::kube {

/// Of the machine's clock, which may be set and differs between machines.
using Time = std::chrono::system_clock::time_point;

inline Time now() { return std::chrono::system_clock::now(); }

/// "2026-01-31T12:00:00Z", metav1.Time.
std::string to_text(Time time);
/// "2026-01-31T12:00:00.000000Z", metav1.MicroTime.
std::string to_text_with_micros(Time time);

/// RFC 3339, with any fraction and offset. Nothing if it is something else.
std::optional<Time> time_from_text(std::string_view text);

}  // namespace podere::kube
