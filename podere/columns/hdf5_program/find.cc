#include "podere/columns/hdf5_program/find.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "podere/columns/hdf5_program/pandas.h"

namespace podere::columns::hdf5 {
namespace {

constexpr int kMostLevels = 64;
constexpr std::size_t kMostObjects = 1'000'000;
constexpr std::size_t kMostNamesInMessage = 10;

/// A group with datasets, or a data frame.
struct Group {
  std::string path;
  std::vector<std::string> datasets;    ///< names
  std::vector<Contents::Other> others;  ///< groups in it which cannot be read
  bool is_frame = false;
};

std::string joined(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

/// The names of what is in a group: in the order in which it was made if that was kept, as h5py has it.
std::vector<std::string> names_in(hid_t group) {
  H5G_info_t facts;
  whole(H5Gget_info(group, &facts), "a group");
  const Handle properties(whole(H5Gget_create_plist(group), "a group"), H5Pclose);
  unsigned order = 0;
  H5Pget_link_creation_order(properties.get(), &order);
  const bool is_kept = (order & H5P_CRT_ORDER_INDEXED) != 0;
  std::vector<std::string> names;
  const auto take = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  if (facts.nlinks > kMostObjects)
    refuse("has a group of {} names, of which {} are allowed", facts.nlinks, kMostObjects);
  whole(H5Literate(group, is_kept ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &names), "a group");
  return names;
}

/// Whether there is an array that a table may have, of one dimension at least.
bool is_array(hid_t dataset) {
  if (is_netcdf_dimension_alone(dataset)) return false;
  const Handle space(H5Dget_space(dataset), H5Sclose);
  return space && H5Sget_simple_extent_ndims(space.get()) > 0;
}

/// Why a group is not what its datasets are. Empty: it is.
std::string why_not(hid_t group) {
  const std::string encoding = text_attribute(group, "encoding-type").value_or("");
  if (encoding.ends_with("_matrix") || H5Aexists(group, "h5sparse_format") > 0) {
    return "a sparse matrix; save it as X.toarray(), or rows as libsvm has them";
  }
  if (H5Aexists(group, "MATLAB_sparse") > 0) return "a sparse matrix of MATLAB; save full(X)";
  return {};
}

class Finder {
 public:
  explicit Finder(hid_t file) : file_(file) {}

  /// All groups with datasets, and data frames, in and below a group.
  std::vector<Group> find_below(const std::string& path) {
    visit(path, 0);
    return std::move(groups_);
  }

 private:
  void visit(const std::string& path, int level) {
    if (level > kMostLevels) refuse("has groups in more than {} levels", kMostLevels);
    const Handle group(H5Gopen2(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group) refuse("group /{} cannot be read: the file is damaged", path);
    H5O_info_t facts;
    whole(H5Oget_info2(group.get(), &facts, H5O_INFO_BASIC), "a group");
    if (!seen_.insert({facts.fileno, facts.addr}).second) return;
    if (seen_.size() > kMostObjects) refuse("has more than {} groups", kMostObjects);
    if (H5Aexists(group.get(), "pandas_type") > 0) {
      groups_.push_back({.path = path, .datasets = {}, .others = {}, .is_frame = true});
      return;
    }
    Group here{.path = path, .datasets = {}, .others = {}};
    std::vector<std::string> inner;
    for (const std::string& name : names_in(group.get())) sort_out(group.get(), name, here, inner);
    if (!here.datasets.empty()) groups_.push_back(std::move(here));
    for (const std::string& name : inner) visit(joined(path, name), level + 1);
  }

  static void sort_out(hid_t group, const std::string& name, Group& here, std::vector<std::string>& inner) {
    H5L_info_t link;
    whole(H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT), "a link");
    if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) {
      here.others.push_back({name, "is a link into another file"});
      return;
    }
    const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) {
      if (link.type == H5L_TYPE_SOFT) {
        here.others.push_back({name, "is a link that leads nowhere"});
        return;
      }
      refuse("'{}' cannot be opened: the file is damaged", name);
    }
    const H5I_type_t type = H5Iget_type(object.get());
    if (type == H5I_DATASET && is_array(object.get())) here.datasets.push_back(name);
    if (type != H5I_GROUP) return;
    const std::string why = why_not(object.get());
    if (why.empty()) {
      inner.push_back(name);
    } else {
      here.others.push_back({name, why});
    }
  }

  hid_t file_;
  std::vector<Group> groups_;
  std::set<std::pair<unsigned long, haddr_t>> seen_;
};

/// Names that a key may have: groups, and the datasets that are in none.
std::string list_of(const std::vector<Group>& groups) {
  std::vector<std::string> names;
  for (const Group& group : groups) {
    if (group.path.empty()) {
      names.insert(names.end(), group.datasets.begin(), group.datasets.end());
    } else {
      names.push_back(group.path);
    }
  }
  const std::size_t n_shown = std::min(names.size(), kMostNamesInMessage);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(n_shown), ", "));
  if (names.size() > n_shown) text += fmt::format(" and {} more", names.size() - n_shown);
  return text;
}

/// Whether netCDF, or who has dimensions as it has, wrote datasets of a file.
bool is_netcdf(hid_t file, const std::vector<std::string>& paths) {
  const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  if (H5Aexists(root.get(), "_NCProperties") > 0) return true;
  return std::ranges::any_of(paths, [&](const std::string& path) {
    const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    return dataset && has_scales(dataset.get());
  });
}

/// Called as the last name of its path.
void add(hid_t file, const std::string& path, bool of_netcdf, bool is_coordinate, Contents& contents) {
  const std::string name = path.substr(path.rfind('/') + 1);
  try {
    Array array(name, open_part(file, path), of_netcdf);
    Meaning meaning = meaning_of(file, path);
    meaning.is_coordinate = is_coordinate;
    array.set_meaning(std::move(meaning));
    contents.arrays.push_back(std::move(array));
  } catch (const Refusal& refusal) {
    contents.others.push_back(
        {name, refusal.message, is_coordinate ? Contents::Use::kCoordinate : Contents::Use::kNone});
  }
}

Contents contents_of(hid_t file, const Group& group) {
  Contents contents;
  if (group.is_frame) {
    contents.arrays.push_back(read_frame(file, group.path));
    return contents;
  }
  std::vector<std::string> paths;
  for (const std::string& name : group.datasets) paths.push_back(joined(group.path, name));
  const bool of_netcdf = is_netcdf(file, paths);
  const std::set<std::string> coordinates = coordinates_among(file, group.path, group.datasets);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    add(file, paths[i], of_netcdf, coordinates.contains(group.datasets[i]), contents);
  }
  contents.others.insert(contents.others.end(), group.others.begin(), group.others.end());
  return contents;
}

Contents find_without_key(hid_t file) {
  const std::vector<Group> groups = Finder(file).find_below("");
  if (groups.empty()) refuse("has no array for a table");
  if (groups.size() > 1 && !groups[0].path.empty()) {
    refuse("has arrays in {} groups: {}; choose one by --key", groups.size(), list_of(groups));
  }
  Contents contents = contents_of(file, groups[0]);
  for (std::size_t i = 1; i < groups.size(); ++i) {
    contents.others.push_back({groups[i].path, "a group beside the arrays", Contents::Use::kGroup});
  }
  return contents;
}

}  // namespace

Contents find_arrays(hid_t file, const std::string& key) {
  if (key.empty()) return find_without_key(file);
  std::string path = key;
  while (path.starts_with('/')) path.erase(0, 1);
  while (path.ends_with('/')) path.pop_back();
  const Handle object(H5Oopen(file, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Oclose);
  const H5I_type_t type = object ? H5Iget_type(object.get()) : H5I_BADID;
  if (type == H5I_DATASET) {
    Contents contents;
    add(file, path, is_netcdf(file, {path}), false, contents);
    return contents;
  }
  if (type == H5I_GROUP) {
    const std::string why = why_not(object.get());
    if (!why.empty()) refuse("{} is {}", path, why);
    const std::vector<Group> groups = Finder(file).find_below(path);
    const auto itself = std::ranges::find(groups, path, &Group::path);
    if (itself != groups.end()) return contents_of(file, *itself);
    if (groups.size() == 1) return contents_of(file, groups[0]);
    if (groups.size() > 1) {
      refuse("has no arrays in {} itself, but in {}; choose one of these by --key", key, list_of(groups));
    }
    refuse("has no array in {}", key);
  }
  const std::vector<Group> groups = Finder(file).find_below("");
  refuse("has no array and no group '{}'; it has {}", key, groups.empty() ? "none" : list_of(groups));
}

}  // namespace podere::columns::hdf5
