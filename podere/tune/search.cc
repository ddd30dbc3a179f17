#include "podere/tune/search.h"

#include <fmt/ranges.h>

#include <array>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

struct NamedSearch {
  const char* name;
  std::unique_ptr<Search> (*make)(const Space& space, std::uint64_t seed);
};

constexpr std::array<NamedSearch, 4> kSearches = {{
    {"grid", [](const Space& space, std::uint64_t) { return grid_search(space); }},
    {"random", random_search},
    {"sobol", sobol_search},
    {"tpe", tpe_search},
}};

}  // namespace

const std::vector<std::string>& search_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NamedSearch& search : kSearches) all.emplace_back(search.name);
    return all;
  }();
  return names;
}

std::unique_ptr<Search> search_called(const std::string& name, const Space& space, std::uint64_t seed) {
  for (const NamedSearch& search : kSearches) {
    if (name == search.name) return search.make(space, seed);
  }
  throw_input_error("search is {}, allowed are {}", printable(name), fmt::join(search_names(), ", "));
}

}  // namespace podere::tune
