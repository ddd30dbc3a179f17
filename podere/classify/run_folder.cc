#include "podere/classify/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/number.h"

namespace podere::classify {
namespace {

constexpr const char* kSettings = "run.json";
constexpr const char* kPictures = "pictures.list";

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_input_error("{}: cannot be read", path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// Each name ends with a zero byte, which none has.
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) (text += name) += '\0';
  return text;
}
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    names.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return names;
}

void check_same(const std::filesystem::path& path, const Json& settings) {
  const Json before = Json::parse(read_text(path / kSettings), nullptr, false);
  if (before.is_discarded()) throw_input_error("{}: is damaged: remove {}", (path / kSettings).string(), path.string());
  for (const auto& [name, value] : settings.items()) {
    const auto found = before.find(name);
    if (found != before.end() && *found == value) continue;
    throw_input_error("{}: is of a run with another {}: remove it to begin anew", path.string(), name);
  }
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path, const Json& settings, const comm::Communicator& comm)
    : path_(std::move(path)) {
  comm.agree([&] {
    if (!comm.is_root()) return;
    std::filesystem::create_directories(path_);
    is_continued_ = std::filesystem::exists(path_ / kSettings);
    if (is_continued_) {
      check_same(path_, settings);
    } else {
      write_text(path_ / kSettings, settings.dump(2) + "\n");
    }
  });
}

image::PictureList RunFolder::pictures(const std::string& location, const comm::Communicator& comm) const {
  std::optional<image::PictureList> list;
  std::string names;
  comm.agree([&] {
    list = image::list_pictures(location);
    if (!comm.is_root()) return;
    if (std::filesystem::exists(path_ / kPictures)) {
      names = read_text(path_ / kPictures);
    } else {
      names = joined(list->names());
      write_text(path_ / kPictures, names);
    }
  });
  return list->as_named(split(comm.broadcast_text(std::move(names))));
}

std::filesystem::path RunFolder::new_part(const comm::Communicator& comm) const {
  std::uint64_t run = 0;
  comm.agree([&] {
    if (!comm.is_root()) return;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      const auto earlier = parse_count(std::string_view(name).substr(0, name.find('.')));
      if (earlier && entry.path().extension() == ".part") run = std::max(run, *earlier + 1);
    }
  });
  run = comm.all_reduce(run, comm::Reduction::kMax);
  return path_ / fmt::format("{}.{}.part", run, comm.rank());
}

}  // namespace podere::classify
