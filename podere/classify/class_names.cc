#include "podere/classify/class_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <map>

#include "podere/base/cannot_read.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::classify {

std::vector<std::string> read_class_names(const std::string& path, std::size_t n_classes) {
  std::ifstream in(path);
  if (!in) throw_cannot_read(path);
  std::vector<std::string> labels;
  for (std::string line; std::getline(in, line);) {
    if (labels.empty() && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // the mark of UTF-8
    if (line.ends_with('\r')) line.pop_back();
    if (!is_utf8(line) || line.find('\0') != line.npos) {
      throw_input_error("{}: line {} is no UTF-8 text", path, labels.size() + 1);
    }
    labels.push_back(line);
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty()) throw_input_error("{}: line {} is empty: each class has a name", path, i + 1);
  }
  if (labels.size() != n_classes) {
    throw_input_error("{}: has {} names, one a line, and the network {} classes", path, labels.size(), n_classes);
  }
  return labels;
}

std::string repeated_names(std::span<const std::string> names) {
  constexpr std::size_t kMostShown = 4;
  std::map<std::string, std::vector<std::size_t>> lines_of;
  for (std::size_t i = 0; i < names.size(); ++i) lines_of[names[i]].push_back(i + 1);
  std::map<std::size_t, std::string> repeated;  // by their first lines
  for (const auto& [name, lines] : lines_of) {
    if (lines.size() == 1) continue;
    const bool are_many = lines.size() > kMostShown;
    repeated[lines.front()] = fmt::format(
        "{} is in the lines {}{}{}", printable(name),
        fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(are_many ? kMostShown : lines.size() - 1),
                  ", "),
        are_many ? ", ... and " : " and ", lines.back());
  }
  std::vector<std::string> words;
  for (const auto& [line, text] : repeated) words.push_back(text);
  const std::size_t n = words.size();
  if (n > kMostShown) words.resize(kMostShown);
  return fmt::format("{}{}", fmt::join(words, ", "), n > kMostShown ? fmt::format(", ... ({} names)", n) : "");
}

}  // namespace podere::classify
