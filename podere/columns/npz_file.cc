#include "podere/columns/npz_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/columns/named_arrays.h"
#include "podere/io/zip_archive.h"

namespace podere::columns {
namespace {

constexpr std::string_view kNpySuffix = ".npy";
void add_member(const std::string& location, const io::SourceVersion& version, const io::ZipArchive& archive,
                const io::ZipArchive::Member& member, std::span<const std::string> left_out, NamedArrays& arrays) {
  std::string name = member.name;
  const bool is_array = name.ends_with(kNpySuffix);
  if (is_array) name.resize(name.size() - kNpySuffix.size());
  if (std::ranges::find(left_out, name) != left_out.end()) return arrays.add_other(std::move(name), "left out");
  if (!is_array) return arrays.add_other(std::move(name), "is no array of NumPy");
  const std::string shown = fmt::format("{}: {}", location, name);
  try {
    auto array = std::make_unique<NpyArray>(shown, location, version, archive.open(member));
    arrays.add(name, std::move(array));
  } catch (const InputError& error) {
    std::string_view why = error.what();
    for (const std::string& prefix : {shown + ".npy: ", shown + ": "}) {
      if (why.starts_with(prefix)) why.remove_prefix(prefix.size());
    }
    arrays.add_other(std::move(name), std::string(why));
  }
}

}  // namespace

bool is_npz(const std::string& location) {
  if (!io::begins_as_zip(location)) return false;
  try {
    const io::ZipArchive archive(io::open_raw(location));
    return std::ranges::any_of(archive.members(), [](const auto& member) { return member.name.ends_with(kNpySuffix); });
  } catch (const InputError&) {
    return false;
  }
}

std::unique_ptr<ColumnFile> open_npz(const std::string& location, const std::string& key,
                                     std::span<const std::string> left_out) {
  if (!io::begins_as_zip(location)) throw_input_error("{}: is no archive of NumPy: these are ZIP archives", location);
  NamedArrays arrays(location);
  const io::SourceVersion version = io::version_of(location);
  const io::ZipArchive archive(io::open_raw(location));
  bool found = key.empty();
  std::vector<std::string> names;
  for (const io::ZipArchive::Member& member : archive.members()) {
    if (member.name.ends_with('/') || member.name.starts_with("__MACOSX/")) continue;
    names.push_back(member.name.substr(0, member.name.rfind(kNpySuffix)));
    if (!key.empty() && names.back() != key) continue;
    found = true;
    add_member(location, version, archive, member, left_out, arrays);
  }
  if (!found) throw_input_error("{}: has no array {}; it has {}", location, printable(key), printable_list(names));
  return std::move(arrays).as_file();
}

}  // namespace podere::columns
