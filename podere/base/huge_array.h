// Arrays large enough that the pages they lie in matter.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace podere {

/// `size` values, not set, on huge pages where the system has them: loops that jump about in many megabytes otherwise
/// wait for address translation (docs/performance.md). Small arrays are as any other.
template <typename T>
class HugeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  HugeArray() = default;
  /// Throws std::bad_alloc.
  explicit HugeArray(std::size_t size) : size_(size) {
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const std::size_t bytes = size * sizeof(T);
    const std::size_t alignment = bytes < kHugePage ? 64 : kHugePage;
    values_.reset(static_cast<T*>(std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment)));
    if (!values_) throw std::bad_alloc();
    if (alignment == kHugePage) madvise(values_.get(), bytes, MADV_HUGEPAGE);  // a wish: pages stay small without it
  }

  std::size_t size() const { return size_; }
  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T[], Free> values_;
  std::size_t size_ = 0;
};

}  // namespace podere
