// Doing several things at a time that wait more than they work.
#pragma once

#include <cstddef>
#include <functional>

namespace podere::controller {

/// Calls act(0), act(1), ... up to `count`, `concurrency` at a time, and returns when all have returned. The first
/// exception ends it: calls that have not begun are left out, and it is thrown again.
void for_each_concurrently(std::size_t count, int concurrency, const std::function<void(std::size_t)>& act);

}  // namespace podere::controller
