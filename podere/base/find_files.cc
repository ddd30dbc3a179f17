#include "podere/base/find_files.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "podere/base/error.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

/// What a folder is, whatever path leads to it.
using FolderKey = std::pair<dev_t, ino_t>;

class FolderWalk {
 public:
  FolderWalk(const fs::path& root, const FindRules& rules, std::vector<std::string>& paths)
      : root_(root), rules_(rules), paths_(paths) {}

  void add(const fs::path& folder) {
    constexpr std::size_t kDeepest = 64;
    if (above_.size() > kDeepest) {
      throw_input_error("{}: its folders are more than {} deep", root_.string(), kDeepest);
    }
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0)
      throw fs::filesystem_error("", folder, std::error_code(errno, std::generic_category()));
    const FolderKey key{status.st_dev, status.st_ino};
    if (std::ranges::find(above_, key) != above_.end()) return;  // a link that leads back
    above_.push_back(key);
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (is_left_out(entry.path().filename().native())) continue;
      std::error_code unknown;
      if (entry.is_directory(unknown)) {
        add(entry.path());
        continue;
      }
      paths_.push_back(entry.path().string());
      if (paths_.size() > rules_.most_files) {
        throw_input_error("{}: has more than {} files", root_.string(), rules_.most_files);
      }
    }
    above_.pop_back();
  }

 private:
  bool is_left_out(std::string_view name) const {
    return name.starts_with('.') || (rules_.skips_underscores && name.starts_with('_'));
  }

  const fs::path& root_;
  const FindRules& rules_;
  std::vector<std::string>& paths_;
  std::vector<FolderKey> above_;  // the folders that the one at hand lies in
};

}  // namespace

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

bool is_pattern(std::string_view location) { return location.find_first_of("*?[") != location.npos; }

void find_files_in(const fs::path& folder, const FindRules& rules, std::vector<std::string>& paths) {
  try {
    FolderWalk(folder, rules, paths).add(folder);
  } catch (const fs::filesystem_error& error) {
    throw_input_error("{}: cannot be read: {}", error.path1().string(), error.code().message());
  }
}

std::vector<std::string> find_fitting_files(const std::string& pattern, const FindRules& rules) {
  if (pattern.find("**") != pattern.npos) {
    throw_input_error("{}: ** is not known; name the folder itself for all files in and below it", pattern);
  }
  glob_t found{};
  const int result = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  const std::unique_ptr<glob_t, decltype(&globfree)> owner(&found, globfree);
  std::vector<std::string> paths;
  if (result != 0) return paths;
  for (const std::string& path : std::vector<std::string>(found.gl_pathv, found.gl_pathv + found.gl_pathc)) {
    is_folder(path) ? find_files_in(path, rules, paths) : paths.push_back(path);
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace podere
