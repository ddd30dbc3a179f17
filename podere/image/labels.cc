#include "podere/image/labels.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "podere/base/find_files.h"
#include "podere/base/printable.h"

namespace podere::image {
namespace {

std::size_t folder_end(const std::string& name) { return name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1; }

/// How many first characters, up to a /, all names begin with; so that each still has a folder behind them.
std::size_t common_folders(const PictureList& pictures) {
  const std::string& first = pictures.file_name(0);
  std::size_t begin = 0;
  for (std::size_t end; (end = first.find('/', begin)) != first.npos; begin = end + 1) {
    const auto has_more = [&](const std::string& name) {
      return name.compare(0, end + 1, first, 0, end + 1) == 0 && folder_end(name) > end + 1;
    };
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (!has_more(pictures.file_name(i))) return begin;
    }
  }
  return begin;
}

/// A field of a line, and what is behind its separator.
std::string take_field(std::string_view& line, char separator) {
  std::string field;
  if (!line.starts_with('"')) {
    const std::size_t end = std::min(line.find(separator), line.size());
    field = line.substr(0, end);
    line.remove_prefix(std::min(line.size(), end + 1));
    return field;
  }
  for (line.remove_prefix(1); !line.empty(); line.remove_prefix(1)) {
    if (line.front() == '"') {
      line.remove_prefix(1);
      if (!line.starts_with('"')) break;
    }
    field += line.front();
  }
  if (!line.empty()) line.remove_prefix(1);  // the separator
  return field;
}

/// The pages of a file, or one of them.
struct PageRange {
  std::size_t begin;
  std::size_t end;
};

/// Names, and the pictures that are meant; nothing where those of several files are.
using PicturesByName = std::unordered_map<std::string, std::optional<PageRange>>;

PicturesByName index_names(const PictureList& pictures) {
  PicturesByName by_path, by_name;
  for (std::size_t i = 0, end = 0; i < pictures.size(); i = end) {
    for (end = i + 1; end < pictures.size() && pictures.page(end) > 0;) ++end;
    const auto add = [&](const std::string& path, PageRange pages) {
      by_path[path] = pages;
      const auto [entry, is_new] = by_name.try_emplace(path.substr(folder_end(path)), pages);
      if (!is_new) entry->second.reset();
    };
    add(pictures.file_name(i), {i, end});
    for (std::size_t page = i; end > i + 1 && page < end; ++page) add(pictures.name(page), {page, page + 1});
  }
  for (auto& [path, pages] : by_path) by_name[path] = pages;
  return by_name;
}

}  // namespace

std::vector<std::string> folder_labels(const PictureList& pictures) {
  const std::size_t begin = is_folder(pictures.location()) ? 0 : common_folders(pictures);
  std::vector<std::string> labels;
  std::optional<std::size_t> with, without;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const std::size_t end = pictures.file_name(i).find('/', begin);
    (end == std::string::npos ? without : with) = i;
    labels.push_back(end == std::string::npos ? "" : pictures.file_name(i).substr(begin, end - begin));
  }
  if (!with) return {};
  if (!without) return labels;
  throw_input_error("{}: {} lies in a folder of its class, and {} in none: move it, or give labels in a file",
                    printable_line(pictures.location(), 400), pictures.title(*with), pictures.title(*without));
}

std::vector<std::string> file_labels(const PictureList& pictures, const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || is_folder(file))
    throw_input_error("{}: cannot be read, a file of labels is needed", printable_line(file, 400));
  const PicturesByName by_name = index_names(pictures);
  std::vector<std::string> labels(pictures.size());
  std::vector<std::size_t> lines(pictures.size(), 0);  // that had the label
  std::size_t number = 0, n_found = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (number == 1 && text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty()) continue;
    const std::size_t place = text.find_first_of(text.starts_with('"') ? "\t" : ",;\t");
    const char separator = place == text.npos ? ',' : text[place];
    std::string_view line = text;
    const std::string name = take_field(line, separator);
    const std::string label = take_field(line, separator);
    if (label.empty() || !line.empty()) {
      throw_input_error("{}: line {}: has {} columns, 2 are needed: the name of a picture and its label",
                        printable_line(file, 400), number, label.empty() ? "fewer than 2" : "more than 2");
    }
    const auto found = by_name.find(name);
    if (found == by_name.end()) continue;  // names of columns, or a picture that is somewhere else
    if (!found->second) {
      throw_input_error("{}: line {}: {} is the name of several pictures: name the folder too",
                        printable_line(file, 400), number, printable(name));
    }
    for (std::size_t picture = found->second->begin; picture < found->second->end; ++picture) {
      if (lines[picture] != 0) {
        throw_input_error("{}: line {}: {} has a label in line {} already", printable_line(file, 400), number,
                          printable(name), lines[picture]);
      }
      lines[picture] = number;
      labels[picture] = label;
    }
    ++n_found;
  }
  if (n_found > 0) return labels;
  throw_input_error(
      "{}: has no label of a picture in {}: each line has the name of a picture, such as {}, and its label",
      printable_line(file, 400), printable_line(pictures.location(), 400), printable(pictures.name(0)));
}

}  // namespace podere::image
