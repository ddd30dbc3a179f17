// Amounts of resources as Kubernetes writes them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "podere/kube/object.h"

namespace podere::controller {

/// More than this counts as this, so that sums over many nodes do not overflow.
inline constexpr std::int64_t kMostOfAResource = std::int64_t{1} << 53;

/// A quantity such as "500m", "1.5Gi" or "1e3" times `scale`, rounded up as Kubernetes does. Nothing for what is none,
/// and for what is below zero. Source: k8s.io/apimachinery, resource.Quantity.
std::optional<std::int64_t> parse_quantity(std::string_view text, int scale = 1);

/// Amounts by the name of the resource: of cpu in millicores, of others in their units.
using Amounts = std::map<std::string, std::int64_t>;

/// Of {"cpu": "500m", "memory": "1Gi"}, where numbers may replace texts. Throws Error for what is no quantity.
Amounts amounts_of(const kube::Json& quantities);

}  // namespace podere::controller
