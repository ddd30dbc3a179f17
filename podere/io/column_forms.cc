#include "podere/io/column_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/csv_categories.h"
#include "podere/io/number_form.h"

namespace podere::io {
namespace {

std::uint64_t bit(std::size_t form) { return std::uint64_t{1} << form; }

template <typename Predicate>
std::uint64_t forms_where(const Predicate& holds) {
  std::uint64_t forms = 0;
  for (std::size_t i = 0; i < kNumberForms; ++i) forms |= holds(number_forms()[i]) ? bit(i) : 0;
  return forms;
}

const std::uint64_t kDates = forms_where([](const NumberForm& form) { return form.is_date; });
const std::uint64_t kBooleans = forms_where([](const NumberForm& form) { return form.is_boolean; });
const std::uint64_t kWithPlain = forms_where([](const NumberForm& form) { return form.has_plain; });
const std::uint64_t kDayFirst = forms_where([](const NumberForm& form) { return form.day_first == true; });
const std::uint64_t kMonthFirst = forms_where([](const NumberForm& form) { return form.day_first == false; });

/// The forms that a column may have, by the options and the model that the rows are for.
std::uint64_t allowed_forms(const CsvOptions& options, const CsvLayout& layout, std::size_t column) {
  std::uint64_t allowed = ~std::uint64_t{0};
  if (options.decimal == '.') allowed &= ~bit(kDecimalComma);
  if (options.decimal == ',') allowed &= ~bit(kThousands);
  if (options.day_first) allowed &= ~(*options.day_first ? kMonthFirst : kDayFirst);
  if (layout.delimiter == ' ') allowed &= ~bit(kTimeOfDay);  // 5:10 is a pair of libsvm
  if (layout.holds_dates[column]) allowed &= *layout.holds_dates[column] ? kDates : ~kDates;
  return allowed;
}

/// One of `forms`, which all texts of a column are of. Nothing where they may stand for different numbers: `doubt`
/// then has why, and what to do.
std::optional<std::size_t> prefer(std::uint64_t forms, const std::string& column, const CsvOptions& read,
                                  std::string& doubt) {
  if (forms == 0) return std::nullopt;
  const auto first = static_cast<std::size_t>(std::countr_zero(forms));
  if (first == kGroups) return first;
  const auto differ = [&](std::size_t one, std::size_t other, std::string_view options) {
    const NumberForm &a = number_forms()[one], &b = number_forms()[other];
    doubt = fmt::format("column {} may hold {} such as {} or {} such as {}, and none of its fields decides: {}",
                        printable(column), a.name, a.example, b.name, b.example,
                        !read.numbers_only
                            ? fmt::format("choose {}, or take texts as categories with --categorical", options)
                        : a.is_date ? "leave it out with --drop"
                                    : fmt::format("choose {}, or leave it out with --drop", options));
    return std::nullopt;
  };
  if ((forms & bit(kDecimalComma)) != 0 && (forms & bit(kThousands)) != 0) {
    return differ(kDecimalComma, kThousands, "--decimal , or --decimal .");
  }
  if ((forms & kDayFirst) != 0 && (forms & kMonthFirst) != 0) {
    return differ(static_cast<std::size_t>(std::countr_zero(forms & kDayFirst)),
                  static_cast<std::size_t>(std::countr_zero(forms & kMonthFirst)), "--day-first or --month-first");
  }
  return first;
}

}  // namespace

void TextCounts::count(std::size_t place, std::string_view text) {
  Column& column = columns_[place];
  column.n_texts.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t forms = column.forms.load(std::memory_order_relaxed);
  if (forms != 0) column.forms.fetch_and(forms_of(text, forms), std::memory_order_relaxed);
  if (!counts_different_ || column.has_many.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(column.mutex);
  if (column.different.contains(text)) return;
  column.different.emplace(text);
  column.has_many = column.different.size() > kMostFoundCategories;
}

std::vector<FoundTexts> TextCounts::join(const comm::Communicator& comm) const {
  std::vector<std::uint64_t> sums, lacking;
  std::vector<std::uint64_t> many;
  for (const Column& column : columns_) {
    sums.push_back(column.n_texts);
    lacking.push_back(~column.forms.load());
    many.push_back(column.has_many ? 1 : 0);
  }
  comm.all_reduce(std::span(sums), comm::Reduction::kSum);
  comm.all_reduce(std::span(lacking), comm::Reduction::kBitOr);
  comm.all_reduce(std::span(many), comm::Reduction::kMax);
  std::vector<FoundTexts> found(columns_.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    found[k] = {.n_texts = sums[k], .forms = ~lacking[k]};
    if (!counts_different_ || sums[k] == 0) continue;
    const auto& own = columns_[k].different;
    found[k].n_different = many[k] != 0 ? kMostFoundCategories + 1 : merge_texts({own.begin(), own.end()}, comm).size();
  }
  return found;
}

void add_date_parts(const std::string& file, CsvLayout& layout) {
  if (layout.schema.dates.empty()) {
    throw_input_error(
        "{}: no column holds dates, of which --date-parts makes features; podere describe shows what they "
        "hold",
        file);
  }
  for (const std::size_t date : std::set(layout.schema.dates)) {
    for (std::size_t part = 1; part < kDatePartNames.size(); ++part) {
      const auto has_time = [](const std::string& text) { return text.find(':') != text.npos; };
      const bool is_there = static_cast<DatePart>(part) != DatePart::kHour ||
                            std::ranges::any_of(layout.sample_texts[date].examples, has_time);
      if (is_there) add_date_part(date, static_cast<DatePart>(part), layout);
    }
  }
}

std::vector<std::size_t> commas_in_doubt(const CsvOptions& options, const std::vector<FoundTexts>& found,
                                         const CsvLayout& layout) {
  std::vector<std::size_t> columns;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::uint64_t forms = found[k].forms & allowed_forms(options, layout, k);
    const bool is_group = (forms & bit(kGroups)) != 0;
    const bool may_be_both = (forms & bit(kDecimalComma)) != 0 && (forms & bit(kThousands)) != 0;
    if (found[k].n_texts > 0 && may_be_both && !is_group) columns.push_back(k);
  }
  return columns;
}

bool choose_forms(const std::string& file, const CsvOptions& options, const std::vector<FoundTexts>& found,
                  std::uint64_t n_rows, CsvLayout& layout) {
  const std::size_t n_features = layout.schema.features.size();
  bool is_changed = false;
  std::set<std::size_t> left_out;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::uint64_t n_texts = found[k].n_texts;
    if (n_texts == 0) continue;
    const std::string& name = layout.names[layout.fields[k]];
    const SampleTexts& sample = layout.sample_texts[k];
    const std::uint64_t allowed = allowed_forms(options, layout, k);
    const bool has_many = 2 * n_texts > n_rows || sample.n > 0;  // not a few among numbers
    std::uint64_t forms = found[k].forms & allowed & (has_many ? ~std::uint64_t{0} : kWithPlain);
    // Where one text is of no form, it is that which is to be refused; but F may be female, and not false.
    if (forms == 0 && found[k].forms == 0 && sample.n > 0 && !options.counts_texts) {
      forms = sample.forms & allowed & ~kBooleans;
    }
    std::string doubt;
    const auto form = prefer(forms, name, options, doubt);
    const bool is_of_all = found[k].forms != 0;  // else texts contradict each other, and are refused as such
    if (!doubt.empty() && is_of_all && !options.counts_texts) throw_input_error("{}: {}", file, doubt);
    if (!doubt.empty() && is_of_all) layout.doubts.push_back(doubt);
    if (form && layout.forms[k] != form) {
      layout.forms[k] = form;
      is_changed = true;
      if (number_forms()[*form].is_date && k < n_features) layout.schema.dates.insert(k);
    } else if (!form && options.finds_categories && has_many && k < n_features && layout.finds_categories &&
               !layout.schema.dates.contains(k)) {  // what the file says are dates stay dates, or are refused
      const bool has_few = found[k].n_different <= kMostFoundCategories && 2 * found[k].n_different <= found[k].n_texts;
      is_changed = true;
      if (has_few) {
        layout.schema.categories[k].emplace();
        layout.found_categories.push_back(name);
      } else {
        left_out.insert(k);
      }
    }
  }
  if (!left_out.empty() && left_out.size() == n_features) {
    std::vector<std::string> names;
    for (const std::size_t k : left_out) names.push_back(layout.names[layout.fields[k]]);
    throw_input_error(
        "{}: no feature is left: too many texts differ for categories in {}; to take a column all the same: "
        "--categorical with its name",
        file, printable_list(names));
  }
  leave_out_features(left_out, layout);
  // The columns of a model's parts follow the form of the dates.
  for (std::size_t k = 0; k < layout.forms.size(); ++k) {
    if (layout.date_parts[k] == DatePart::kNone) continue;
    const auto date = std::ranges::find(layout.fields, layout.fields[k]) - layout.fields.begin();
    layout.forms[k] = layout.forms[static_cast<std::size_t>(date)];
  }
  if (options.date_parts && !options.coded_as) add_date_parts(file, layout);
  return is_changed;
}

bool restore_forms(const std::vector<FoundTexts>& at_first, const std::vector<FoundTexts>& now, const CsvLayout& before,
                   CsvLayout& layout) {
  bool is_changed = false;
  for (std::size_t k = 0; k < now.size() && now.size() == at_first.size(); ++k) {
    if (layout.forms[k] == before.forms[k] || now[k].n_texts <= at_first[k].n_texts) continue;
    layout.forms[k] = before.forms[k];
    layout.schema.dates.erase(k);
    is_changed = true;
  }
  return is_changed;
}

}  // namespace podere::io
