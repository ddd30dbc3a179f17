#include "podere/controller/concurrency.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace podere::controller {

void for_each_concurrently(std::size_t count, int concurrency, const std::function<void(std::size_t)>& act) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) act(i);
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const auto n_others = std::min<std::size_t>(count, static_cast<std::size_t>(concurrency));
    for (std::size_t i = 1; i < n_others; ++i) others.emplace_back(work);
    work();
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace podere::controller
