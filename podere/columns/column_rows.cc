#include "podere/columns/column_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/columns/same_file.h"
#include "podere/io/csv_columns.h"
#include "podere/io/csv_layout.h"
#include "podere/io/field_rows.h"
#include "podere/io/field_values.h"
#include "podere/io/memory_room.h"
#include "podere/io/number_form.h"
#include "podere/io/text_file.h"

namespace podere::columns {
namespace {

constexpr std::uint64_t kSampleRows = 16;
constexpr float kFirstDay = -719'162;  // 0001-01-01
constexpr float kLastDay = 2'932'897;  // behind 9999-12-31

/// Whether an option names a column, by its name.
bool is_asked_for(const io::CsvOptions& options, const std::string& name) {
  const auto holds = [&](const std::vector<std::string>& columns) {
    return std::ranges::find(columns, name) != columns.end();
  };
  return options.label == name || options.weight == name || holds(options.columns) || holds(options.categorical) ||
         holds(options.drop) || (options.coded_as && holds(options.coded_as->features));
}

/// How numbers that are no plain ones are written in text, for a column of this kind: what users are shown.
std::optional<std::size_t> form_of(Kind kind) {
  switch (kind) {
    case Kind::kBoolean:
      return io::kTrueFalse;
    case Kind::kDate:
      return io::kFirstDate;
    case Kind::kTimeOfDay:
      return io::kTimeOfDay;
    default:
      return std::nullopt;
  }
}

/// Of a column of texts, in the first group of rows that has one; empty if none has.
std::string first_text(const ColumnFile& file, std::size_t column) {
  std::string first;
  const auto take = [&](std::size_t, std::string_view text) {
    if (first.empty()) first = text;
  };
  const ColumnRead wanted{column, {}, take};
  const std::vector<std::uint64_t>& begins = file.group_begins();
  for (std::size_t group = 0; first.empty() && group + 1 < begins.size(); ++group) {
    file.read({begins[group], begins[group + 1]}, {&wanted, 1});
  }
  return first;
}

/// The first rows as texts, those of columns that no table can have empty.
std::vector<io::Fields> read_sample(const ColumnFile& file, const std::vector<std::size_t>& fields) {
  const std::uint64_t n_rows = file.n_rows() == 0 ? 0 : std::min(file.group_begins()[1], kSampleRows);
  std::vector<io::Fields> rows(static_cast<std::size_t>(n_rows), io::Fields(fields.size()));
  std::vector<ColumnRead> wanted;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (file.columns()[fields[i]].kind == Kind::kOther) continue;
    wanted.push_back({fields[i], {}, [&rows, i](std::size_t row, std::string_view text) { rows[row][i] = text; }});
  }
  if (n_rows > 0) file.read({0, n_rows}, wanted);
  for (std::size_t i = 0; i < fields.size() && n_rows > 0; ++i) {
    const bool has_none = std::ranges::all_of(rows, [&](const io::Fields& row) { return row[i].empty(); });
    if (file.columns()[fields[i]].kind == Kind::kText && has_none) rows[0][i] = first_text(file, fields[i]);
  }
  return rows;
}

/// A text that is not wanted, on its way through files that number rows and columns in other ways.
struct RefusedText {
  ColumnFault fault;
};

class ColumnRows final : public io::FieldRows {
 public:
  /// Collective. Throws InputError on all ranks.
  ColumnRows(const Open& open, const io::CsvOptions& options, const comm::Communicator& comm) : FieldRows(options) {
    comm.agree([&] {
      file_ = open();
      n_files = file_->n_files();
      folder_columns = file_->folder_columns();
      notes = file_->notes().lines;
      if (file_->n_rows() == 0) throw_input_error("{}: has no rows", name());
      try {
        find_columns(options);
      } catch (const ColumnFault& fault) {
        throw InputError(text_of(fault));
      }
      chosen = io::choose_rows(name(), options.rows, file_->n_rows());
    });
    check_same(*file_, comm);
    rows = table::rows_of(chosen.size(), comm.rank(), comm.size());
  }

  const std::string& name() const override { return file_->name(); }
  void check_unchanged() const override { file_->check_unchanged(); }

  void read(table::Table& table, io::Categories& categories, int n_threads) const override {
    const table::RowRange wanted = {chosen.begin + table.rows().begin, chosen.begin + table.rows().end};
    const std::vector<Task> tasks = plan(wanted);
    std::optional<ColumnFault> first;
    std::mutex mutex;  // of `first`
    std::vector<std::unique_ptr<io::FieldValues>> values(static_cast<std::size_t>(std::max(n_threads, 1)));
    const auto read_one = [&](std::size_t task, int thread) {
      const DecodeTime decoding;
      auto& own = values[static_cast<std::size_t>(thread)];
      if (!own) own = std::make_unique<io::FieldValues>(layout, missing, categories, texts, rounded);
      try {
        read_task(tasks[task], wanted.begin, *own, table);
      } catch (const ColumnFault& fault) {
        const std::lock_guard lock(mutex);
        const bool is_before = !first || std::tie(fault.row, fault.column) < std::tie(first->row, first->column);
        if (is_before) first = fault;
      }
    };
    if (file_->rows_lie_behind_another()) {
      parallel_for_in_order(n_threads, tasks.size(), read_one);
    } else {
      parallel_for(n_threads, tasks.size(), read_one);
    }
    if (first) throw io::TextFileFault(text_of(*first));
  }

 private:
  /// Some fields of rows of one group.
  struct Task {
    table::RowRange rows;  // of the file
    std::vector<std::size_t> fields;
  };

  std::string text_of(const ColumnFault& fault) const {
    return fmt::format("{}: row {}, column {}: {}", name(), fault.row, printable(file_->columns()[fault.column].name),
                       fault.message);
  }

  /// Sets the layout, and which columns of the file are its fields.
  void find_columns(const io::CsvOptions& options) {
    const std::vector<Column>& columns = file_->columns();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].left_out.empty() && !is_asked_for(options, columns[i].name)) {
        layout.left_out.push_back({columns[i].name, columns[i].left_out});
        continue;
      }
      columns_.push_back(i);
      layout.names.push_back(columns[i].name.empty() ? fmt::format("f{}", i) : columns[i].name);
      if (!is_utf8(columns[i].name)) {
        throw_input_error("{}: the name of column {} ({}) is not UTF-8", name(), i, printable(columns[i].name));
      }
    }
    if (columns_.empty()) throw_input_error("{}: has no columns", name());
    layout.renamed = io::rename_repeated(layout.names);
    const std::vector<io::Fields> sample = read_sample(*file_, columns_);
    io::choose_columns(name(), name(), sample, missing, options, layout);
    if (file_->gives_float64() && layout.fields.size() > io::kMostFeatures) {
      throw_input_error("{}: {} columns are more than the {} features that a table can have; take some with --columns",
                        name(), layout.fields.size(), io::kMostFeatures);
    }
    layout.schema.pictures = file_->pictures();
    refuse_others();
    io::expect_forms(sample, missing, options, layout);
    for (std::size_t k = 0; k < layout.fields.size(); ++k) expect_kind(k);
    if (options.date_parts && !options.coded_as && !layout.schema.dates.empty()) io::add_date_parts(name(), layout);
  }

  const Column& column_of_field(std::size_t field) const { return file_->columns()[columns_[field]]; }

  /// Throws InputError for columns of the table that no table can have.
  void refuse_others() const {
    std::vector<std::string> others, names;
    for (const std::size_t field : layout.fields) {
      const Column& column = column_of_field(field);
      if (column.kind != Kind::kOther) continue;
      others.push_back(fmt::format("{} ({})", printable(layout.names[field]), column.type));
      names.push_back(layout.names[field]);
    }
    if (others.empty()) return;
    throw_input_error("{}: {} cannot be in a table: {}; leave out with --drop {}, or name what to keep with --columns",
                      name(), others.size() == 1 ? "a column" : "columns", fmt::join(others, ", "),
                      fmt::join(names, ","));
  }

  /// Sets what the file says of the kind of a column of the table. Throws InputError where a model learned another.
  void expect_kind(std::size_t k) {
    const Column& column = column_of_field(layout.fields[k]);
    const bool is_label = k == layout.schema.features.size() && layout.schema.label.has_value();
    if (column.kind == Kind::kText || layout.schema.is_categorical(k) || (is_label && layout.has_text_label())) return;
    if (layout.date_parts[k] != io::DatePart::kNone) return;
    const bool is_date = column.kind == Kind::kDate;
    if (layout.holds_dates[k] && *layout.holds_dates[k] != is_date) {
      const char* const kinds[] = {"numbers", "dates"};
      throw_input_error("{}: column {} holds {} ({}), and the model learned it as {}", name(),
                        printable(layout.names[layout.fields[k]]), kinds[is_date], column.type, kinds[!is_date]);
    }
    layout.forms[k] = form_of(column.kind);
    if (is_date && k < layout.schema.features.size()) layout.schema.dates.insert(k);
  }

  std::vector<Task> plan(table::RowRange wanted) const {
    std::vector<std::size_t> fields;
    for (std::size_t k = 0; k < layout.fields.size(); ++k) {
      if (layout.date_parts[k] == io::DatePart::kNone) fields.push_back(layout.fields[k]);
    }
    const std::vector<std::uint64_t>& begins = file_->group_begins();
    std::vector<Task> tasks;
    auto group = static_cast<std::size_t>(std::ranges::upper_bound(begins, wanted.begin) - begins.begin()) - 1;
    for (; group + 1 < begins.size() && begins[group] < wanted.end; ++group) {
      const table::RowRange part = {std::max(begins[group], wanted.begin), std::min(begins[group + 1], wanted.end)};
      if (part.size() == 0) continue;
      if (!file_->columns_lie_apart()) {
        tasks.push_back({part, fields});
        continue;
      }
      for (const std::size_t field : fields) tasks.push_back({part, {field}});
    }
    return tasks;
  }

  /// `first_row`: of the file, that is the first of `table`.
  void read_task(const Task& task, std::uint64_t first_row, io::FieldValues& values, table::Table& table) const {
    const auto begin = static_cast<std::size_t>(task.rows.begin - first_row);
    const auto n_rows = static_cast<std::size_t>(task.rows.size());
    std::vector<ColumnRead> wanted;
    std::vector<float> row_values;  // of all columns, where texts give several of them their values
    for (const std::size_t field : task.fields) {
      const std::size_t k = values.column_of(field);
      const std::size_t column = columns_[field];
      const std::span<float> numbers = table.column(k).subspan(begin, n_rows);
      if (!needs_texts(field, values)) {
        wanted.push_back({column, numbers});
        continue;
      }
      row_values.resize(table.n_columns());
      std::ranges::fill(numbers, io::kMissing);
      for (const std::uint32_t part : parts_of(field, values)) {
        std::ranges::fill(table.column(part).subspan(begin, n_rows), io::kMissing);
      }
      const auto take = [&, this, field, k, column, begin](std::size_t row, std::string_view text) {
        try {
          values.set(field, text, row_values.data());
        } catch (const io::FieldFault& fault) {
          throw RefusedText{{task.rows.begin + row, column, fault.message}};
        }
        table.column(k)[begin + row] = row_values[k];
        for (const std::uint32_t part : values.parts()) {
          if (layout.fields[part] == field) table.column(part)[begin + row] = row_values[part];
        }
      };
      wanted.push_back({column, {}, take});
    }
    try {
      file_->read(task.rows, wanted);
    } catch (const RefusedText& refused) {
      throw ColumnFault(refused.fault);
    }
    for (const std::size_t field : task.fields) {
      if (needs_texts(field, values)) continue;
      finish_numbers(task, field, begin, values, table);
      check_rounded(task, field, table.column(values.column_of(field)).subspan(begin, n_rows), values);
    }
  }

  /// Of dates with parts too: float32 holds the day, but not the hour.
  bool needs_texts(std::size_t field, const io::FieldValues& values) const {
    return column_of_field(field).kind == Kind::kText || values.is_category(field) || !parts_of(field, values).empty();
  }

  std::vector<std::uint32_t> parts_of(std::size_t field, const io::FieldValues& values) const {
    std::vector<std::uint32_t> parts;
    for (const std::uint32_t part : values.parts()) {
      if (layout.fields[part] == field) parts.push_back(part);
    }
    return parts;
  }

  /// Which numbers mean a missing value, and that dates are such.
  void finish_numbers(const Task& task, std::size_t field, std::size_t begin, const io::FieldValues& values,
                      table::Table& table) const {
    const auto n_rows = static_cast<std::size_t>(task.rows.size());
    const std::span<float> numbers = table.column(values.column_of(field)).subspan(begin, n_rows);
    if (missing.holds_numbers()) {
      for (float& number : numbers) {
        if (missing.holds(number)) number = io::kMissing;
      }
    }
    if (column_of_field(field).kind != Kind::kDate) return;
    const auto is_none = [](float days) { return days < kFirstDay || days > kLastDay; };
    const auto found = std::ranges::find_if(numbers, is_none);
    if (found == numbers.end()) return;
    throw ColumnFault{task.rows.begin + static_cast<std::uint64_t>(found - numbers.begin()), columns_[field],
                      fmt::format("{} days since 1970 are beyond the years 1 to 9999", *found)};
  }

  /// Notes whole numbers that are rounded. What they were is read as text: most likely of the largest alone.
  void check_rounded(const Task& task, std::size_t field, std::span<const float> numbers,
                     const io::FieldValues& values) const {
    const std::size_t k = values.column_of(field);
    if (rounded == nullptr || column_of_field(field).kind != Kind::kNumber) return;
    const auto size_of = [](float number) { return std::isfinite(number) ? std::abs(number) : 0; };
    const auto largest = std::ranges::max_element(numbers, {}, size_of);
    if (largest == numbers.end() || !rounded->may_be(k, size_of(*largest))) return;
    const auto read_again = [&](std::size_t first, std::size_t n) {
      const auto take = [&](std::size_t row, std::string_view text) {
        values.check_rounded(field, text, numbers[first + row]);
      };
      const ColumnRead wanted{columns_[field], {}, take};
      file_->read({task.rows.begin + first, task.rows.begin + first + n}, {&wanted, 1});
    };
    read_again(static_cast<std::size_t>(largest - numbers.begin()), 1);
    if (rounded->may_be(k, size_of(*largest))) read_again(0, numbers.size());
  }

  std::unique_ptr<ColumnFile> file_;
  std::vector<std::size_t> columns_;  // of the file, by field
};

}  // namespace

table::Table read_columns(const Open& open, const io::CsvOptions& options, const comm::Communicator& comm,
                          int n_threads, io::ReadFacts* facts) {
  ColumnRows rows(open, options, comm);
  io::check_room(rows.name(), rows.rows.size(), rows.layout.fields.size(), comm);
  return io::read_fields(rows, options, comm, n_threads, facts);
}

std::unique_ptr<table::RowSource> open_columns(const Open& open, const io::CsvOptions& options,
                                               const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                               io::ReadFacts* facts) {
  const auto rows = std::make_shared<ColumnRows>(open, options, comm);
  return io::open_fields(rows, options, comm, n_threads, window_bytes, facts);
}

}  // namespace podere::columns
