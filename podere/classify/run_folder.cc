#include "podere/classify/run_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/read_file.h"
#include "podere/base/sha256.h"

namespace podere::classify {
namespace {

constexpr const char* kSettings = "run.json";
constexpr const char* kPictures = "pictures.list";
constexpr const char* kEarlierLock = ".lock";  // of versions that kept it in the folder
constexpr const char* kPart = ".part";

void write_text(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// SHA-256 of the rest, how many other files and replaced pictures there are, places, numbers of pages, then the names.
/// Each ends with a zero byte, which none of them has.
std::string to_text(const image::FoundFiles& files) {
  std::string text = fmt::format("{} {}", files.left_out.n_others, files.left_out.n_replaced) + '\0';
  (text += files.places) += '\0';
  text += fmt::format("{}", fmt::join(files.n_pages, " ")) + '\0';
  for (const std::string& name : files.names) (text += name) += '\0';
  return sha256_of(text) + '\0' + text;
}
/// Takes a number and the space behind it off the text.
std::uint64_t take_count(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::uint64_t count = parse_count(text.substr(0, end)).value_or(0);
  text.remove_prefix(std::min(end + 1, text.size()));
  return count;
}
/// Nothing of a text that is not as to_text made it.
std::optional<image::FoundFiles> from_text(std::string_view text) {
  const std::size_t digest_end = text.find('\0');
  if (digest_end == text.npos) return std::nullopt;
  const std::string_view digest = text.substr(0, digest_end);
  text.remove_prefix(digest_end + 1);
  if (sha256_of(text) != digest) return std::nullopt;
  image::FoundFiles files;
  std::size_t n_parts = 0;
  for (std::size_t end = 0; (end = text.find('\0')) != text.npos; text.remove_prefix(end + 1), ++n_parts) {
    std::string_view part = text.substr(0, end);
    if (n_parts == 0) {
      files.left_out.n_others = take_count(part);
      files.left_out.n_replaced = take_count(part);
    } else if (n_parts == 1) {
      files.places = part;
    } else if (n_parts == 2) {
      while (!part.empty()) files.n_pages.push_back(static_cast<std::uint32_t>(take_count(part)));
    } else {
      files.names.emplace_back(part);
    }
  }
  return files;
}

void check_same(const std::filesystem::path& path, const Json& settings) {
  const Json before = Json::parse(read_file(path / kSettings), nullptr, false);
  if (before.is_discarded()) throw_input_error("{}: is damaged: remove {}", (path / kSettings).string(), path.string());
  for (const auto& [name, value] : settings.items()) {
    const auto found = before.find(name);
    if (found != before.end() && *found == value) continue;
    throw_input_error("{}: is of a run with other settings ({}): remove it to begin anew", path.string(), name);
  }
}

/// "3.0.part" is of run 3.
std::optional<std::uint64_t> run_of(const std::filesystem::path& part) {
  const std::string name = part.filename().string();
  return parse_count(std::string_view(name).substr(0, name.find('.')));
}

/// The part files of a folder, those of older runs first. `failure`: the folder cannot be read.
std::vector<std::filesystem::path> part_files(const std::filesystem::path& folder, std::error_code& failure) {
  std::vector<std::filesystem::path> files;
  for (auto entry = std::filesystem::directory_iterator(folder, failure);
       !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    std::error_code gone;
    if (entry->path().extension() == kPart && entry->is_regular_file(gone)) files.push_back(entry->path());
  }
  std::ranges::sort(files, {}, [](const std::filesystem::path& file) { return std::pair(run_of(file), file); });
  return files;
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path, const Json& settings, const comm::Communicator& comm)
    : path_(std::move(path)) {
  comm.agree([&] {
    if (!comm.is_root()) return;
    make_run_folder(path_);
    std::error_code failure;
    const std::vector<std::filesystem::path> parts = part_files(path_, failure);
    if (failure) throw_input_error("{}: cannot be read: {}", path_.string(), failure.message());
    for (const char* const name : {kSettings, kPictures}) {
      if (std::filesystem::is_regular_file(path_ / name)) continue;
      if (parts.empty() && !std::filesystem::exists(path_ / name)) continue;
      throw_input_error("{0}: has no file {1} of the run whose parts it has: remove {0} to begin anew", path_.string(),
                        name);
    }
    if (std::filesystem::exists(path_ / kSettings)) {
      check_same(path_, settings);
    } else {
      write_text(path_ / kSettings, settings.dump(2) + "\n");
    }
    for (const std::filesystem::path& file : parts) {
      const auto run = run_of(file);
      if (!run) continue;
      run_ = std::max(run_, *run + 1);
      earlier_.push_back(file.filename().string());
    }
  });
  run_ = comm.all_reduce(run_, comm::Reduction::kMax);
}

image::PictureList RunFolder::pictures(const std::string& location, image::Pages pages,
                                       const comm::Communicator& comm) const {
  std::string text;
  comm.agree([&] {
    if (!comm.is_root()) return;
    if (std::filesystem::exists(path_ / kPictures)) {
      text = read_file(path_ / kPictures);
    } else {
      text = to_text(image::list_pictures(location, pages).files());
      write_text(path_ / kPictures, text);
    }
  });
  text = comm.broadcast_text(std::move(text));
  std::optional<image::PictureList> pictures;
  comm.agree([&] {
    std::optional<image::FoundFiles> files = from_text(text);
    if (!files) throw_input_error("{}: is damaged: remove {}", (path_ / kPictures).string(), path_.string());
    pictures = image::reopen_pictures(location, *std::move(files));
  });
  return *std::move(pictures);
}

std::vector<std::filesystem::path> RunFolder::earlier_parts() const {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : earlier_) files.push_back(path_ / name);
  return files;
}

std::filesystem::path RunFolder::part(int rank) const { return path_ / fmt::format("{}.{}{}", run_, rank, kPart); }

void make_run_folder(const std::filesystem::path& run_folder) {
  std::error_code failure;
  std::filesystem::create_directories(run_folder, failure);
  if (failure) throw_input_error("{}: cannot be made: {}", run_folder.string(), failure.message());
}

std::optional<std::uintmax_t> result_bytes(const std::filesystem::path& run_folder) {
  std::uintmax_t n_bytes = 0;
  std::error_code failure, gone;
  for (const std::filesystem::path& file : part_files(run_folder, failure)) {
    const std::uintmax_t n = std::filesystem::file_size(file, gone);
    if (!gone) n_bytes += n;
  }
  if (failure && failure != std::errc::no_such_file_or_directory) return std::nullopt;
  return n_bytes;
}

std::string with_advice(const std::string& message, const std::filesystem::path& run_folder,
                        std::optional<std::uintmax_t> n_before, bool is_strict) {
  if (result_bytes(run_folder) == n_before) return message;
  return fmt::format("{}{}{} has what was done, the same command with --resume{} continues", message,
                     message.empty() ? "" : "; ", run_folder.string(), is_strict ? " and without --strict" : "");
}

void remove_run(const std::filesystem::path& run_folder) {
  std::error_code ignored;
  for (const std::filesystem::path& file : part_files(run_folder, ignored)) std::filesystem::remove(file, ignored);
  for (const char* const name : {kSettings, kPictures, kContactSheetName, kEarlierLock})
    std::filesystem::remove(run_folder / name, ignored);
}

}  // namespace podere::classify
