#include "podere/io/file_list.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name.starts_with('_');
}

void add_folder(const fs::path& folder, std::vector<std::string>& paths) {
  try {
    for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink);
         entry != fs::recursive_directory_iterator(); ++entry) {
      constexpr int kDeepest = 64;  // links may lead in a circle
      if (entry.depth() > kDeepest)
        throw_input_error("{}: its folders are more than {} deep", folder.string(), kDeepest);
      if (is_hidden(entry->path())) {
        entry.disable_recursion_pending();
      } else if (!entry->is_directory()) {
        paths.push_back(entry->path().string());
        if (paths.size() > kMostFiles) throw_input_error("{}: has more than {} files", folder.string(), kMostFiles);
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw_input_error("{}: cannot be read: {}", error.path1().string(), error.code().message());
  }
}

bool is_pattern(std::string_view location) { return location.find_first_of("*?[") != location.npos; }

std::vector<std::string> find_fitting(const std::string& pattern) {
  if (pattern.find("**") != pattern.npos) {
    throw_input_error("{}: ** is not known; name the folder itself for all files in and below it", pattern);
  }
  glob_t found{};
  const int result = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  const std::unique_ptr<glob_t, decltype(&globfree)> owner(&found, globfree);
  std::vector<std::string> paths;
  if (result != 0) return paths;
  for (const std::string& path : std::vector<std::string>(found.gl_pathv, found.gl_pathv + found.gl_pathc)) {
    is_folder(path) ? add_folder(path, paths) : paths.push_back(path);
  }
  return paths;
}

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
    add_folder(location, paths);
    if (paths.empty()) throw_input_error("{}: the folder has no files", location);
  } else {
    paths = find_fitting(location);
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
