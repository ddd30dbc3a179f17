#include "podere/columns/hdf5_program/pandas.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace podere::columns::hdf5 {
namespace {

constexpr const char* kWriteTable = "write it by to_hdf(..., format=\"table\")";
constexpr const char* kNameByTexts = "name its columns by texts: frame.columns = [str(name) for name in frame.columns]";
constexpr std::size_t kMostBlocks = 4096;
constexpr std::uint64_t kMostNames = std::uint64_t{1} << 24;

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int n_more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::array<std::uint32_t, 4> kFirst = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kFirst[static_cast<std::size_t>(n_more)] | code >> 6 * n_more);
  for (int i = n_more; i-- > 0;) text += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

/// A text as Python's raw-unicode-escape has it: \u0416 stands for a character, the rest is Latin-1.
std::string unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t n = text.starts_with("\\U") ? 10 : text.starts_with("\\u") ? 6 : 1;
    std::uint32_t code = static_cast<unsigned char>(text.front());
    if (n > 1 && std::from_chars(text.data() + 2, text.data() + std::min(n, text.size()), code, 16).ec != std::errc()) {
      refuse("the name of a column is damaged");
    }
    append_utf8(result, code);
    text.remove_prefix(std::min(n, text.size()));
  }
  return result;
}

/// The texts and whole numbers in a list that Python pickled by protocol 0: "(lp0\nVlabel\np1\naVx\np2\na.". Those of a
/// list in a list count too.
std::vector<std::string> pickled_texts(std::string_view pickle) {
  std::vector<std::string> texts;
  while (!pickle.empty()) {
    const char code = pickle.front();
    pickle.remove_prefix(1);
    const bool has_line = code == 'V' || code == 'I' || code == 'p';
    if (!has_line && std::string_view("(lat.N").find(code) == std::string_view::npos) {
      refuse("the names of its columns are neither texts nor whole numbers; {}", kNameByTexts);
    }
    if (!has_line) continue;
    const std::size_t end = std::min(pickle.find('\n'), pickle.size());
    if (code != 'p') texts.push_back(unescaped(pickle.substr(0, end)));
    pickle.remove_prefix(std::min(end + 1, pickle.size()));
  }
  return texts;
}

/// The text of a value: of a text, a number or what is true or false.
std::string text_of(const Field& field, const std::byte* element) {
  const auto* from = reinterpret_cast<const char*>(element + field.to);
  const auto number = [&]<typename T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return fmt::format("{}", value);
  };
  if (field.type.starts_with("|S")) return {from, strnlen(from, field.to_bytes)};
  if (field.type == "<i8") return number(std::int64_t{});
  if (field.type == "<f8") return number(double{});
  if (field.type == "|b1") return *from != 0 ? "True" : "False";
  refuse("names of the type {} are not known; {}", field.type, kNameByTexts);
}

/// The texts of one field of all elements of an array of one dimension.
std::vector<std::string> texts_of(const Array& array, const std::string& field_name) {
  const auto field = std::ranges::find(array.fields(), field_name, &Field::name);
  const std::vector<std::uint64_t> shape = array.shape();
  if (field == array.fields().end() || shape.size() != 1 || shape[0] > kMostNames) {
    refuse("{} is no list of names; {}", array.name(), kNameByTexts);
  }
  const std::vector<std::byte> bytes = array.read(0, shape[0] * array.element_bytes());
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < shape[0]; ++i) {
    texts.push_back(text_of(*field, bytes.data() + i * array.element_bytes()));
  }
  return texts;
}

std::vector<std::string> texts_of(hid_t file, const std::string& path) {
  return texts_of(Array(path, open_part(file, path), false), "");
}

/// Of "datetime64[ns, UTC]" the type "<M8[ns]", of timedelta64 "<m8[ns]". Nothing of others.
std::string time_type(std::string_view pandas_type) {
  const bool is_date = pandas_type.starts_with("datetime64");
  if (!is_date && !pandas_type.starts_with("timedelta64")) return {};
  const std::size_t begin = pandas_type.find('[');
  const std::string_view unit = begin == std::string_view::npos
                                    ? "ns"
                                    : pandas_type.substr(begin + 1, pandas_type.find_first_of(",]", begin) - begin - 1);
  return fmt::format("<{}8[{}]", is_date ? 'M' : 'm', unit);
}

void name_type(Field& field, std::string_view pandas_type) {
  const std::string time = time_type(pandas_type);
  if (field.type == "<i8" && !time.empty()) field.type = time;
  if (field.type == "<u1" && pandas_type == "bool") field.type = "|b1";
}

/// A block of columns of one type: a dataset of rows by columns, as a row.
Part open_block(hid_t file, const std::string& path, const std::vector<std::string>& names) {
  Part part = open_part(file, path);
  if (text_attribute(part.dataset.get(), "PSEUDOATOM")) {
    refuse("the columns {} are pickled, as texts are in pandas' fixed format; {}", fmt::join(names, ", "), kWriteTable);
  }
  if (H5Aexists(part.dataset.get(), "shape") > 0) refuse("the data frame has no rows");
  if (part.sizes.size() != 2 || part.sizes[1] != names.size() || part.element.fields.size() != 1) {
    refuse("{} does not have the {} columns that it should: the file is damaged", path, names.size());
  }
  Field value = part.element.fields.front();
  name_type(value, text_attribute(part.dataset.get(), "value_type").value_or(""));
  part.element.fields.clear();
  for (std::size_t j = 0; j < names.size(); ++j) {
    part.element.fields.push_back(value);
    part.element.fields.back().name = names[j];
    part.element.fields.back().from = j * value.from_bytes;
  }
  part.values_per_element = names.size();
  part.element.bytes *= names.size();
  return part;
}

Part open_index(hid_t file, const std::string& path) {
  Part part = open_part(file, path);
  if (part.sizes.size() != 1 || part.element.fields.size() != 1) refuse("its index is none: the file is damaged");
  Field& field = part.element.fields[0];
  field.name = "index";
  field.is_index = true;
  const std::string kind = text_attribute(part.dataset.get(), "kind").value_or("");
  name_type(field, kind == "datetime64" ? "datetime64[ns]" : kind);
  return part;
}

/// Places in the order of `names`; what is not named comes first, as the index does.
std::vector<Array::Place> in_order(const std::vector<Part>& parts, const std::vector<std::string>& names) {
  std::unordered_map<std::string, std::size_t> order;
  for (std::size_t i = 0; i < names.size(); ++i) order.emplace(names[i], i + 1);
  std::vector<std::pair<std::size_t, Array::Place>> places;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t f = 0; f < parts[p].element.fields.size(); ++f) {
      const Field& field = parts[p].element.fields[f];
      const auto found = order.find(field.name);
      places.emplace_back(field.is_index || found == order.end() ? 0 : found->second, Array::Place{p, f});
    }
  }
  std::ranges::stable_sort(places, {}, &std::pair<std::size_t, Array::Place>::first);
  std::vector<Array::Place> result;
  for (const auto& place : places) result.push_back(place.second);
  return result;
}

Array read_fixed(hid_t file, hid_t group, const std::string& path) {
  if (text_attribute(group, "axis0_variety").value_or("regular") != "regular") {
    refuse("the names of its columns have levels; {}", kNameByTexts);
  }
  const std::vector<std::string> names = texts_of(file, path + "/axis0");
  const std::vector<double> n_blocks = number_attribute(group, "nblocks");
  if (n_blocks.size() != 1 || !(n_blocks[0] >= 0 && n_blocks[0] <= static_cast<double>(kMostBlocks))) {
    refuse("it does not say how many blocks it has: the file is damaged");
  }
  std::vector<Part> parts;
  if (text_attribute(group, "axis1_variety").value_or("regular") == "regular") {
    parts.push_back(open_index(file, path + "/axis1"));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_blocks[0]); ++i) {
    const std::string block = fmt::format("{}/block{}", path, i);
    parts.push_back(open_block(file, block + "_values", texts_of(file, block + "_items")));
  }
  if (parts.empty()) refuse("the data frame has no columns");
  for (const Part& part : parts) {
    if (part.sizes[0] != parts[0].sizes[0]) refuse("its blocks do not have equally many rows: the file is damaged");
  }
  const std::vector<Array::Place> places = in_order(parts, names);
  return {path, std::move(parts), places};
}

/// Categories that the codes of a field stand for.
void name_categories(hid_t file, const std::string& path, Field& field) {
  const std::string categories = fmt::format("{}/meta/{}/meta/table", path, field.member);
  const std::vector<std::string> texts = texts_of(Array(categories, open_part(file, categories), false), "values");
  std::size_t longest = 1;
  field.names.clear();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    longest = std::max(longest, texts[i].size());
    field.names[static_cast<std::int64_t>(i)] = texts[i];
  }
  make_text(field, longest, Field::Form::kNames);
}

Array read_table(hid_t file, hid_t group, const std::string& path) {
  Part part = open_part(file, path + "/table");
  const hid_t table = part.dataset.get();
  std::vector<std::string> columns = pickled_texts(text_attribute(group, "non_index_axes").value_or(""));
  if (!columns.empty()) columns.erase(columns.begin());  // the number of the axis
  const std::vector<std::string> levels = pickled_texts(text_attribute(group, "levels").value_or(""));
  for (Field& field : part.element.fields) {
    if (field.name == "index" || std::ranges::find(levels, field.member) != levels.end()) {
      field.is_index = true;
      const std::string kind = text_attribute(table, field.name + "_kind").value_or("");
      name_type(field, kind == "datetime64" ? "datetime64[ns]" : kind);
      continue;
    }
    const std::vector<std::string> names = pickled_texts(text_attribute(table, field.member + "_kind").value_or(""));
    if (field.column >= names.size()) refuse("the column {} has no name: the file is damaged", field.member);
    name_type(field, text_attribute(table, field.member + "_dtype").value_or(""));
    if (text_attribute(table, field.member + "_meta").value_or("") == "category") {
      name_categories(file, path, field);
    }
    field.name = names[field.column];
  }
  std::vector<Part> parts;
  parts.push_back(std::move(part));
  const std::vector<Array::Place> places = in_order(parts, columns);
  return {path, std::move(parts), places};
}

}  // namespace

Array read_frame(hid_t file, const std::string& path) {
  const Handle group(whole(H5Gopen2(file, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), "a group"), H5Gclose);
  const std::string kind = text_attribute(group.get(), "pandas_type").value_or("");
  if (kind == "frame") return read_fixed(file, group.get(), path);
  if (kind == "frame_table") return read_table(file, group.get(), path);
  refuse("{} is a {} of pandas; write a data frame: to_frame().to_hdf(...)", path, kind);
}

}  // namespace podere::columns::hdf5
