// The table: columns of float32 in an executor's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/table/row.h"

namespace podere::table {

inline constexpr std::size_t kGrainRows = 1 << 16;  ///< that a thread works on at a time

/// The texts of a column of categories by code, sorted.
struct CategoryTexts : std::vector<std::string> {
  using std::vector<std::string>::vector;
  CategoryTexts(std::vector<std::string> texts, bool numbers = false)
      : std::vector<std::string>(std::move(texts)), are_numbers(numbers) {}
  /// The texts are numbers as table::number_text writes them: a field `3.0` is the category `3`. Else a field must be
  /// the very text.
  bool are_numbers = false;
  bool operator==(const CategoryTexts&) const = default;
};

/// Labels may have as many different texts.
inline constexpr std::size_t kMaxTextClasses = 1000;

/// Nothing where the source holds the codes themselves.
using Dictionary = std::optional<CategoryTexts>;

/// Codes of categories are below this: float32 holds them exactly.
inline constexpr std::size_t kMaxCategories = std::size_t{1} << 24;

/// The names of a table's columns. The order of the features is the order in the source.
struct Schema {
  std::vector<std::string> features;
  std::optional<std::string> label;
  std::optional<std::string> weight;
  /// The features, by place, whose values are categories: codes 0, 1, 2, ... that have no order.
  std::map<std::size_t, Dictionary> categories;
  /// The features, by place, whose values are dates: days since 1970-01-01.
  std::set<std::size_t> dates;
  /// The texts of the label's classes: a label is a place among them. Of two the last is the positive class. Empty:
  /// labels are numbers.
  std::vector<std::string> classes;
  /// Of features that are the pixels of pictures how these came to their size, as locations have it:
  /// "size=64x48&channels=1&fit=stretch". Empty: they are others, or it is not known.
  std::string pictures;
  bool is_categorical(std::size_t feature) const { return categories.contains(feature); }
  bool operator==(const Schema&) const = default;
};

/// The rows that one executor holds of a table of float32 columns: features [n_rows x n_features] column by column,
/// a label column if the schema has one, a weight column if the schema has one. NaN means a missing value.
/// Weights may be negative (next-to-leading-order Monte Carlo). Local row i is global row `rows().begin + i`.
/// Values are not set at construction. Distinct elements may be written from several threads.
class Table {
 public:
  /// Throws InputError if `rows` reaches beyond `n_global_rows`, or that beyond 2^48.
  Table(Schema schema, std::uint64_t n_global_rows, RowRange rows);

  const Schema& schema() const { return schema_; }
  /// For a reader, which learns the texts as it reads. `feature` must be categorical.
  void set_dictionary(std::size_t feature, Dictionary texts) { schema_.categories.at(feature) = std::move(texts); }
  /// The same for the label, which must be there.
  void set_classes(std::vector<std::string> texts) { schema_.classes = std::move(texts); }
  std::size_t n_features() const { return schema_.features.size(); }
  /// With the label and the weight.
  std::size_t n_columns() const { return n_features() + (schema_.label ? 1 : 0) + (schema_.weight ? 1 : 0); }
  std::uint64_t n_global_rows() const { return n_global_rows_; }
  RowRange rows() const { return rows_; }
  /// Rows held here.
  std::size_t n_rows() const { return static_cast<std::size_t>(rows_.size()); }
  GlobalRow global(LocalRow row) const { return {rows_.begin + row.value}; }

  /// Features in their order, then label and weight, as far as there are such.
  std::span<float> column(std::size_t j) { return values_.span().subspan(j * n_rows(), n_rows()); }
  std::span<const float> column(std::size_t j) const { return values_.span().subspan(j * n_rows(), n_rows()); }
  std::span<float> feature(std::size_t j) { return column(j); }
  std::span<const float> feature(std::size_t j) const { return column(j); }
  /// Gives the memory of the first `n` features back to the system, whose values are then not set: for those who come
  /// last to read them. A small table keeps its memory.
  void release_features(std::size_t n) { values_.release(0, n * n_rows()); }
  /// Empty if the table has none.
  std::span<float> label() { return schema_.label ? column(n_features()) : std::span<float>(); }
  std::span<const float> label() const { return const_cast<Table*>(this)->label(); }
  std::span<float> weight() {
    return schema_.weight ? column(n_features() + (schema_.label ? 1 : 0)) : std::span<float>();
  }
  std::span<const float> weight() const { return const_cast<Table*>(this)->weight(); }

 private:
  Schema schema_;
  std::uint64_t n_global_rows_;
  RowRange rows_;
  HugeArray<float> values_;  // column by column: features, label, weight
};

}  // namespace podere::table
