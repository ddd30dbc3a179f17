#include "podere/io/file_list.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "podere/base/error.h"
#include "podere/base/find_files.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

/// Names that begin with _ are those of what Spark and Hive write beside the data.
constexpr FindRules kDataFiles = {.most_files = 100'000, .skips_underscores = true};

/// The character of two hexadecimal digits; nothing else changes.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto digit = [&](std::size_t at) {
      return at < text.size()
                 ? kDigits.find(static_cast<char>(text[at] | ('A' <= text[at] && text[at] <= 'F' ? 32 : 0)))
                 : kDigits.npos;
    };
    const auto high = digit(i + 1), low = digit(i + 2);
    if (text[i] != '%' || high == kDigits.npos || low == kDigits.npos) {
      plain += text[i];
    } else {
      plain += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return plain;
}

/// What the folders between the first `root_size` characters of a path and its last name give.
FolderValues values_of(const std::string& path, std::size_t root_size) {
  FolderValues values;
  const std::string_view below = std::string_view(path).substr(std::min(root_size, path.size()));
  for (std::size_t begin = 0, end; (end = below.find('/', begin)) != below.npos; begin = end + 1) {
    const std::string_view folder = below.substr(begin, end - begin);
    const std::size_t equals = folder.find('=');
    if (equals == folder.npos || equals == 0) continue;
    std::string value = without_escapes(folder.substr(equals + 1));
    if (value == "__HIVE_DEFAULT_PARTITION__") value.clear();  // missing
    values.emplace_back(without_escapes(folder.substr(0, equals)), std::move(value));
  }
  return values;
}

}  // namespace

bool may_be_many(const std::string& location) {
  if (is_folder(location)) return true;
  std::error_code unknown;
  return is_pattern(location) && !fs::exists(location, unknown);
}

std::vector<ListedFile> list_files(const std::string& location) {
  if (!may_be_many(location)) return {{location, {}}};
  std::vector<std::string> paths;
  std::size_t root_size = location.size();
  if (is_folder(location)) {
    find_files_in(location, kDataFiles, paths);
    if (paths.empty()) throw_input_error("{}: the folder has no files", location);
  } else {
    paths = find_fitting_files(location, kDataFiles);
    if (paths.empty()) throw_input_error("{}: no file fits this pattern", location);
    root_size = location.rfind('/', location.find_first_of("*?[")) + 1;  // 0 where there is none
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<ListedFile> files;
  for (std::string& path : paths) {
    auto values = values_of(path, root_size);
    const auto names_are_those_of = [&](const ListedFile& other) {
      return std::ranges::equal(
          values, other.values, {}, [](const auto& v) { return v.first; }, [](const auto& v) { return v.first; });
    };
    if (!files.empty() && !names_are_those_of(files.front())) {
      throw_input_error("{}: the folders (name=value) of {} and {} do not give values to the same names", location,
                        files.front().path, path);
    }
    files.push_back({std::move(path), std::move(values)});
  }
  return files;
}

void allow_open_files(const std::string& name, std::size_t n) {
  constexpr rlim_t kOthers = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= n + kOthers) return;
  limit.rlim_cur = std::min(limit.rlim_max, n + kOthers);
  if (limit.rlim_cur < n + kOthers || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw_input_error("{}: has {} files, and a process may have {} open at once here: join files, or raise ulimit -n",
                      name, n, limit.rlim_max);
  }
}

}  // namespace podere::io
