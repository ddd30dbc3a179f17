#include "podere/columns/parquet_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/number.h"
#include "podere/columns/parquet_footer.h"
#include "podere/columns/parquet_pages.h"
#include "podere/columns/parquet_values.h"
#include "podere/columns/value_text.h"
#include "podere/io/byte_source.h"
#include "podere/io/missing_tokens.h"

namespace podere::columns {
namespace {

constexpr std::string_view kMark = "PAR1", kEncryptedMark = "PARE";
constexpr std::int64_t kSecondsPerDay = 86'400;

/// Days of a point in time, a time of day or a duration.
double to_days(const Meaning& meaning, std::int64_t value) {
  return meaning.per_second == 0 ? static_cast<double>(value) : days_of(value, meaning.per_second * kSecondsPerDay);
}

/// A signed whole number of any size, its highest byte first.
double big_endian(std::string_view bytes) {
  double value = 0;
  const bool is_negative = !bytes.empty() && static_cast<std::int8_t>(bytes[0]) < 0;
  for (const char byte : bytes) value = value * 256 + static_cast<std::uint8_t>(is_negative ? ~byte : byte);
  return is_negative ? -value - 1 : value;
}

/// Whole numbers that mean themselves.
bool is_plain(const Meaning& meaning) {
  return meaning.kind == Kind::kNumber && !meaning.scale && !meaning.is_duration;
}

/// What stored values mean, as numbers.
double number_of(const Meaning& meaning, std::int64_t value) {
  if (meaning.scale) return static_cast<double>(value) / std::pow(10, *meaning.scale);
  if (meaning.kind != Kind::kNumber || meaning.is_duration) return to_days(meaning, value);
  return meaning.is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(value)) : static_cast<double>(value);
}
double number_of(const Meaning& meaning, std::int32_t value) {
  return number_of(meaning,
                   meaning.is_unsigned ? std::int64_t{static_cast<std::uint32_t>(value)} : std::int64_t{value});
}
double number_of(const Meaning&, std::uint8_t value) { return value; }
double number_of(const Meaning&, float value) { return value; }
double number_of(const Meaning&, double value) { return value; }
double number_of(const Meaning& meaning, Int96 value) {
  constexpr std::int64_t kJulianDayOf1970 = 2'440'588;
  constexpr std::uint64_t kMostNanoseconds = std::uint64_t{86'400} * 1'000'000'000;
  const auto day = static_cast<double>(static_cast<std::int64_t>(value.day) - kJulianDayOf1970);
  return day +
         to_days(meaning, static_cast<std::int64_t>(std::min<std::uint64_t>(value.nanoseconds, kMostNanoseconds)));
}
double number_of(const Meaning& meaning, std::string_view bytes) {
  if (!meaning.is_half) return big_endian(bytes) / std::pow(10, meaning.scale.value_or(0));
  std::uint16_t half = 0;
  std::memcpy(&half, bytes.data(), sizeof half);
  return from_half(half);
}

/// The nearest float32, of whole numbers and of real ones by one rounding.
template <typename Value>
float to_float(const Meaning& meaning, Value value) {
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    if (is_plain(meaning)) {
      return meaning.is_unsigned ? static_cast<float>(static_cast<std::uint64_t>(value)) : static_cast<float>(value);
    }
  }
  return static_cast<float>(number_of(meaning, value));
}

/// The same, as texts.
template <typename Value>
std::string text_of_value(const Meaning& meaning, Value value) {
  if constexpr (std::is_same_v<Value, std::string_view>) {
    if (meaning.kind == Kind::kText) return std::string(value);
  }
  if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, std::int32_t>) {
    if (is_plain(meaning)) {
      using Unsigned = std::make_unsigned_t<Value>;
      return meaning.is_unsigned ? text_of(std::uint64_t{static_cast<Unsigned>(value)}) : text_of(std::int64_t{value});
    }
  }
  if constexpr (std::is_same_v<Value, float>) return text_of(value);
  const double number = number_of(meaning, value);
  switch (meaning.kind) {
    case Kind::kBoolean:
      return text_of(number != 0);
    case Kind::kDate:
      return date_text(number);
    case Kind::kTimeOfDay:
      return time_text(number);
    default:
      return text_of(number);
  }
}

/// A finite number that no float32 is near, in a row of those that are read.
struct BeyondFloat {
  std::size_t row;
  double number;
};

/// Reads some rows of a chunk, page by page. Throws PageFault and BeyondFloat.
template <typename Value>
class ChunkReader {
 public:
  ChunkReader(const io::ByteSource& source, const Chunk& chunk, const Meaning& meaning, std::uint64_t file_size)
      : meaning_(meaning), pages_(source, chunk, meaning, file_size), values_(meaning), dictionary_reader_(meaning) {}

  /// Rows [begin, end) of the chunk.
  void read(std::uint64_t begin, std::uint64_t end, const ColumnRead& wanted) {
    std::uint64_t next = begin;
    while (next < end) {
      const std::optional<Page> page = pages_.next(next);
      if (!page) throw PageFault{0, "the column ends too early"};
      if (page->is_dictionary) {
        keep_dictionary(*page);
        continue;
      }
      const std::uint64_t first = pages_.first_of_page();
      const auto skipped = static_cast<std::size_t>(next - first);
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(page->n_values, end - first));
      take_page(*page, skipped, n, static_cast<std::size_t>(next - begin), wanted);
      next = first + n;
    }
  }

 private:
  void keep_dictionary(const Page& page) {
    const std::span<const Value> values = dictionary_reader_.decode(page, page.n_values);
    dictionary_.assign(values.begin(), values.end());
    numbers_.clear();
    texts_.clear();
  }

  void take_page(const Page& page, std::size_t skipped, std::size_t n, std::size_t row, const ColumnRead& wanted) {
    std::size_t n_there = n;
    std::span<const std::uint32_t> levels;
    if (!page.levels.empty()) {
      levels_.resize(n);
      n_there = read_levels(page, levels_);
      if (n_there < n) levels = levels_;
    }
    const bool has_dictionary =
        page.encoding == Encoding::kRleDictionary || page.encoding == Encoding::kPlainDictionary;
    if (has_dictionary) {
      places_.resize(n_there);
      read_places(page, dictionary_.size(), places_);
      prepare_dictionary(wanted);
      const Piece piece{levels, skipped, n, row};
      if (wanted.take_text) {
        give_texts(piece, wanted, [&](std::size_t i) -> const std::string& { return texts_[places_[i]]; });
      } else {
        give_numbers(
            piece, wanted, [&](std::size_t i) { return numbers_[places_[i]]; },
            [&](std::size_t i) { return dictionary_[places_[i]]; });
      }
      return;
    }
    const std::span<const Value> values = values_.decode(page, n_there);
    const Piece piece{levels, skipped, n, row};
    if (wanted.take_text) {
      give_texts(piece, wanted, [&](std::size_t i) { return text_of_value<Value>(meaning_, values[i]); });
    } else {
      give_numbers(
          piece, wanted, [&](std::size_t i) { return to_float<Value>(meaning_, values[i]); },
          [&](std::size_t i) { return values[i]; });
    }
  }

  /// Rows [skipped, n) of a page, which become rows from `row` on.
  struct Piece {
    std::span<const std::uint32_t> levels;  // empty: all values are there
    std::size_t skipped;
    std::size_t n;
    std::size_t row;
  };

  /// `number(i)` and `value(i)`: of the values that are there, as float32 and as it is stored.
  template <typename Number, typename Stored>
  void give_numbers(const Piece& piece, const ColumnRead& wanted, const Number& number, const Stored& value) {
    const std::span<float> to = wanted.numbers.subspan(piece.row, piece.n - piece.skipped);
    std::size_t there = 0;
    if (piece.levels.empty()) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = number(piece.skipped + i);
    } else {
      for (std::size_t i = 0; i < piece.skipped; ++i) there += piece.levels[i];
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = piece.levels[piece.skipped + i] != 0 ? number(there++) : io::kMissing;
      }
    }
    if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::string_view>) {
      if (std::ranges::none_of(to, [](float x) { return std::isinf(x); })) return;
      there = 0;
      for (std::size_t i = 0; i < piece.n; ++i) {
        if (!piece.levels.empty() && piece.levels[i] == 0) continue;
        const double stored = number_of(meaning_, value(there++));
        if (i >= piece.skipped && std::isinf(to[i - piece.skipped]) && !std::isinf(stored)) {
          throw BeyondFloat{piece.row + i - piece.skipped, stored};
        }
      }
    }
  }

  template <typename Text>
  void give_texts(const Piece& piece, const ColumnRead& wanted, const Text& text) {
    std::size_t there = 0;
    for (std::size_t i = 0; i < piece.n; ++i) {
      if (!piece.levels.empty() && piece.levels[i] == 0) continue;
      if (i >= piece.skipped) wanted.take_text(piece.row + i - piece.skipped, text(there));
      ++there;
    }
  }

  /// Converts each value of the dictionary once.
  void prepare_dictionary(const ColumnRead& wanted) {
    if (wanted.take_text && texts_.empty()) {
      for (const Value& value : dictionary_) texts_.push_back(text_of_value<Value>(meaning_, value));
    } else if (!wanted.take_text && numbers_.empty()) {
      for (const Value& value : dictionary_) numbers_.push_back(to_float<Value>(meaning_, value));
    }
  }

  const Meaning& meaning_;
  PageReader pages_;
  PageValues<Value> values_, dictionary_reader_;
  std::vector<Value> dictionary_;
  std::vector<float> numbers_;      // of the dictionary
  std::vector<std::string> texts_;  // of the dictionary
  std::vector<std::uint32_t> levels_, places_;
};

class ParquetFile final : public ColumnFile {
 public:
  explicit ParquetFile(const std::string& location) : name_(location), version_(io::version_of(location)) {
    const auto source = io::open_bytes(location);
    const auto size = source->size();
    if (!size) throw_input_error("{}: is a packed Parquet file, which is packed by itself: unpack it first", name_);
    size_ = *size;
    constexpr std::size_t kEnd = 8;  // the size of the footer, and the mark
    std::array<char, kEnd> end{};
    const bool is_short = size_ < kMark.size() + kEnd;
    if (!is_short) read_at(*source, size_ - kEnd, end);
    const std::string_view mark(end.data() + 4, kMark.size());
    if (mark == kEncryptedMark) throw_input_error("{}: is encrypted: write it without encryption", name_);
    std::uint32_t footer_size = 0;
    std::memcpy(&footer_size, end.data(), sizeof footer_size);
    if (is_short || mark != kMark || footer_size > size_ - kMark.size() - kEnd) {
      throw_input_error("{}: is no whole Parquet file: it does not end as one; was it written or copied to its end?",
                        name_);
    }
    std::vector<char> footer(footer_size);
    read_at(*source, size_ - kEnd - footer_size, footer);
    footer_ = parse_footer(name_, footer, size_);
  }

  const std::string& name() const override { return name_; }
  const std::vector<Column>& columns() const override { return footer_.columns; }
  const std::vector<std::uint64_t>& group_begins() const override { return footer_.group_begins; }
  bool columns_lie_apart() const override { return true; }
  void check_unchanged() const override {
    if (io::version_of(name_) != version_) throw_input_error("{}: changed while it was read", name_);
  }

  void read(table::RowRange rows, std::span<const ColumnRead> wanted) const override {
    const std::vector<std::uint64_t>& begins = footer_.group_begins;
    const auto group = static_cast<std::size_t>(std::ranges::upper_bound(begins, rows.begin) - begins.begin()) - 1;
    const auto source = io::open_bytes(name_);  // not held open: there may be thousands of files
    for (const ColumnRead& column : wanted) {
      try {
        read_column(*source, group, {rows.begin - begins[group], rows.end - begins[group]}, column);
      } catch (const PageFault& fault) {
        throw ColumnFault{rows.begin, column.column,
                          fmt::format("is damaged: {}{}", fault.message,
                                      fault.offset == 0 ? "" : fmt::format(" (at byte {})", fault.offset))};
      } catch (const BeyondFloat& fault) {
        throw ColumnFault{rows.begin + fault.row, column.column,
                          fmt::format("{} is beyond float32, which ends at 3.4e38", fault.number)};
      }
    }
  }

 private:
  void read_at(const io::ByteSource& source, std::uint64_t offset, std::span<char> bytes) const {
    if (source.cursor_at(offset)->read(bytes) != bytes.size()) {
      throw_input_error("{}: changed while it was read", name_);
    }
  }

  void read_column(const io::ByteSource& source, std::size_t group, table::RowRange rows,
                   const ColumnRead& wanted) const {
    const Chunk& chunk = footer_.groups[group][wanted.column];
    const Meaning& meaning = footer_.meanings[wanted.column];
    if (!chunk.is_there) throw PageFault{0, "its values are in another file, or nowhere"};
    if (!chunk.codec)
      throw PageFault{0, "it is packed in a way that is not known (LZO?): write it with zstd or snappy"};
    const auto read = [&](auto value) {
      ChunkReader<decltype(value)>(source, chunk, meaning, size_).read(rows.begin, rows.end, wanted);
    };
    switch (meaning.physical) {
      case Physical::kBoolean:
        return read(std::uint8_t{});
      case Physical::kInt32:
        return read(std::int32_t{});
      case Physical::kInt64:
        return read(std::int64_t{});
      case Physical::kInt96:
        return read(Int96{});
      case Physical::kFloat:
        return read(float{});
      case Physical::kDouble:
        return read(double{});
      case Physical::kBytes:
      case Physical::kFixedBytes:
        return read(std::string_view{});
    }
  }

  std::string name_;
  io::SourceVersion version_;
  std::uint64_t size_ = 0;
  Footer footer_;
};

}  // namespace

std::unique_ptr<ColumnFile> open_parquet(const std::string& location) {
  return std::make_unique<ParquetFile>(location);
}

}  // namespace podere::columns
