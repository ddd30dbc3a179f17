#include "podere/base/huge_array.h"

#include <sys/mman.h>

#include <cstdint>

namespace podere {

void* HugePages::map(std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<char*>(mapped);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, kHugePage - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a hint: pages stay small without it
  return begin + before;
}

void HugePages::unmap(void* begin, std::size_t bytes) { munmap(begin, bytes); }

void HugePages::release(void* begin, std::size_t bytes) { madvise(begin, bytes, MADV_DONTNEED); }

}  // namespace podere
