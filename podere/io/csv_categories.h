// The texts of categorical columns, and the numbers that replace them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/csv.h"
#include "podere/io/csv_layout.h"
#include "podere/table/table.h"

namespace podere::io {

/// What is wrong with a text as a category: follows the text.
struct CategoryFault {
  std::string message;
};

/// A map by text that can be asked without making a std::string.
struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};
template <typename T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

/// The texts of all ranks, sorted, each once. Collective: two all_gather_v.
std::vector<std::string> merge_texts(const std::vector<std::string_view>& own, const comm::Communicator& comm);

/// The columns of texts of a table while it is read, for all threads of a rank: categorical features, and a label of
/// classes. Where the texts are to be found, one is numbered when it is first seen: in an order that depends on threads
/// and ranks, until they agree on codes.
class Categories {
 public:
  /// Of a table as `layout` has it, which outlives this.
  explicit Categories(const CsvLayout& layout);

  /// The number of `text`, which is not missing. Nothing if the dictionary of the column does not know it. Throws
  /// CategoryFault if it cannot be a category, or is none of the known classes. Thread-safe.
  std::optional<float> number(std::size_t column, std::string_view text);

  void count_unknown(std::size_t column) { columns_.at(column)->n_unknown.fetch_add(1, std::memory_order_relaxed); }

  /// Gives `table` the dictionaries and classes that were found, sorted, and replaces numbers by codes. `positive` as
  /// of CsvOptions. Collective: two all_gather_v of the texts of each column. Throws InputError, on all ranks, for too
  /// many texts, or labels of which some are texts and some numbers.
  void agree_on_codes(const std::string& file, const std::optional<std::string>& positive,
                      const comm::Communicator& comm, int n_threads, table::Table& table);

  /// Over all ranks. Collective.
  UnknownTexts sum_unknown(const comm::Communicator& comm) const;

 private:
  struct Column {
    std::string name;
    const table::Dictionary* known = nullptr;  // of the schema; null if it is to be found
    TextMap<float> classes;                    // those known of a label
    bool has_numbers = false;                  // as classes: 3.0 is 3
    std::mutex mutex;
    TextMap<std::uint32_t> found;  // guarded by mutex
    std::atomic<std::uint64_t> n_unknown = 0;
  };
  std::vector<std::string> order_classes(std::vector<std::string> sorted, const std::string& file,
                                         const std::optional<std::string>& positive) const;

  const CsvLayout& layout_;
  std::map<std::size_t, std::unique_ptr<Column>> columns_;  // by column of the table
};

/// The way of one thread to the categories: remembers what it asked for.
class CategoryReader {
 public:
  CategoryReader(Categories& categories, const MissingTokens& missing) : categories_(categories), missing_(missing) {}

  /// The number of `text` in the table until codes are agreed on: NaN for one that is missing or not known.
  float number(std::size_t column, std::string_view text);

 private:
  struct Answer {
    float number;
    bool is_unknown;
  };
  Answer ask(std::size_t column, std::string_view text);

  Categories& categories_;
  const MissingTokens& missing_;
  std::vector<TextMap<Answer>> answers_;  // by column of the table
};

}  // namespace podere::io
