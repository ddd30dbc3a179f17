// The values of a page of a Parquet file, as they were encoded. Source: Apache Parquet format 2.10.0, "Encodings".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podere/columns/parquet_footer.h"
#include "podere/columns/parquet_pages.h"

namespace podere::columns {

/// Nanoseconds of a day, and its Julian number.
struct Int96 {
  std::uint64_t nanoseconds;
  std::uint32_t day;
} __attribute__((packed));

/// Sets the next numbers of `width` bits, at most 32, of runs and packed bits. False if the bytes end before.
bool read_runs(std::span<const char> bytes, int width, std::span<std::uint32_t> to);

/// Which of the values of a page are there [page.n_values]: 1 or 0; and how many are. Throws PageFault.
std::size_t read_levels(const Page& page, std::span<std::uint32_t> levels);

/// The places in the dictionary, of `n` values. Throws PageFault unless all are below `dictionary_size`.
void read_places(const Page& page, std::size_t dictionary_size, std::span<std::uint32_t> places);

/// Decodes values of one type: std::uint8_t for booleans, std::int32_t, std::int64_t, Int96, float, double, or
/// std::string_view of bytes. For one thread.
template <typename Value>
class PageValues {
 public:
  explicit PageValues(const Meaning& meaning) : meaning_(meaning) {}

  /// The next `n` values of a page that is not encoded by a dictionary. They live as long as the page and until the
  /// next call. Throws PageFault.
  std::span<const Value> decode(const Page& page, std::size_t n);

 private:
  const Meaning& meaning_;
  std::vector<Value> values_;
  std::string bytes_;  // that strings were put together of
};

}  // namespace podere::columns
