// Arrays large enough that the pages they lie in matter.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace podere {

/// Pages straight from the system. <sys/mman.h> stays out of headers: its macros have the names of others' constants.
class HugePages {
 public:
  static constexpr std::size_t kPage = std::size_t{1} << 16;  ///< the largest that Linux has as its usual one
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;

  /// New memory that begins at a huge page, and is of huge pages if the system has them. `bytes` are whole pages.
  /// Throws std::bad_alloc.
  static void* map(std::size_t bytes);
  /// Of the same `bytes`.
  static void unmap(void* begin, std::size_t bytes);
  /// Releases pages that stay mapped, and are empty when next used.
  static void release(void* begin, std::size_t bytes);
};

/// `size` values, not set, on huge pages where the system has them: loops that jump about in many megabytes otherwise
/// wait for address translation (docs/performance.md). What is freed goes back to the system at once, so that it does
/// not count toward the memory of what comes later. Small arrays are as any other.
template <typename T>
class HugeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  HugeArray() = default;
  /// Throws std::bad_alloc.
  explicit HugeArray(std::size_t size) : size_(size) {
    const std::size_t bytes = size * sizeof(T) + kLine;  // vector loads may reach beyond the end
    if (bytes < HugePages::kHugePage) {
      values_.reset(static_cast<T*>(std::aligned_alloc(kLine, bytes / kLine * kLine + kLine)));
      if (!values_) throw std::bad_alloc();
    } else {
      const std::size_t mapped_bytes = (bytes + HugePages::kPage - 1) / HugePages::kPage * HugePages::kPage;
      values_ = {static_cast<T*>(HugePages::map(mapped_bytes)), Free{mapped_bytes}};
    }
  }

  std::size_t size() const { return size_; }
  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

  /// Releases to the system the pages that lie within [begin, end), whose values are then not set. A small array
  /// keeps its memory.
  void release(std::size_t begin, std::size_t end) {
    if (values_.get_deleter().mapped_bytes == 0) return;
    constexpr std::size_t kPage = HugePages::kPage;
    const std::size_t first = (begin * sizeof(T) + kPage - 1) / kPage * kPage;
    const std::size_t last = end * sizeof(T) / kPage * kPage;
    if (first < last) HugePages::release(reinterpret_cast<char*>(values_.get()) + first, last - first);
  }

 private:
  static constexpr std::size_t kLine = 64;

  struct Free {
    std::size_t mapped_bytes = 0;  // 0: from the heap
    void operator()(T* values) const {
      if (mapped_bytes > 0) {
        HugePages::unmap(values, mapped_bytes);
      } else {
        std::free(values);
      }
    }
  };
  std::unique_ptr<T[], Free> values_;
  std::size_t size_ = 0;
};

}  // namespace podere
