// How settings are chosen: the interface of all searches, and a table of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/tune/space.h"

namespace podere::tune {

/// How good the setting of a trial was.
struct Observation {
  std::size_t trial = 0;
  Json setting;
  double loss = 0;         ///< lower is better; NaN: the trial failed
  std::size_t budget = 0;  ///< rounds or epochs after which it was measured
};

/// Chooses the settings of trials. Thread-safe.
class Search {
 public:
  virtual ~Search() = default;

  /// The setting of trial 0, 1, ... from what is known of others, in any order: the same for the same arguments, with
  /// the same bits on every machine. A pure function. A trial must not occur twice in `seen`. Throws InputError for a
  /// trial from n_most() on.
  virtual Json suggest(std::size_t trial, const std::vector<Observation>& seen) const = 0;

  /// How many trials there are at most, as in a grid; nullopt: no limit.
  virtual std::optional<std::size_t> n_most() const { return std::nullopt; }
};

/// grid, random, sobol, tpe
const std::vector<std::string>& search_names();

/// A search by its name. It keeps a copy of the space. Throws InputError for a name that is none, and for a space that
/// such a search cannot have.
std::unique_ptr<Search> search_called(const std::string& name, const Space& space, std::uint64_t seed);

}  // namespace podere::tune
