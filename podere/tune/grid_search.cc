#include <algorithm>

#include "podere/base/error.h"
#include "podere/tune/domain.h"
#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

/// The parameters of a space as a forest, whose settings are numbered.
class Grid {
 public:
  explicit Grid(const Space& space) : parameters_(space.parameters()), children_(parameters_.size()) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) siblings_of(i).push_back(i);
    counts_.resize(parameters_.size());
    for (std::size_t i = parameters_.size(); i-- > 0;) counts_[i] = count_values(i);  // children before parents
    n_settings_ = 1;
    for (const std::size_t root : roots_) n_settings_ = limited(n_settings_ * counts_[root]);
  }

  std::size_t size() const { return n_settings_; }

  Json setting(std::size_t number) const {
    std::vector<Json> values(parameters_.size());  // null: not there
    set(roots_, {}, number, values);
    auto setting = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_null()) setting[parameters_[i].name] = values[i];
    }
    return setting;
  }

 private:
  std::vector<std::size_t>& siblings_of(std::size_t i) {
    if (parameters_[i].parent_values.empty()) return roots_;
    const auto parent = std::ranges::find(parameters_, parameters_[i].parent, &Parameter::name);
    return children_[static_cast<std::size_t>(parent - parameters_.begin())];
  }

  static std::uint64_t limited(std::uint64_t n) {
    if (n <= kMostGridPoints) return n;
    throw_input_error("the grid has more than {} settings; give larger steps or fewer choices, or another search",
                      kMostGridPoints);
  }

  static bool is_there(const Parameter& child, const Json& parent_value) {
    return child.parent_values.empty() ||
           std::ranges::find(child.parent_values, parent_value) != child.parent_values.end();
  }

  std::uint64_t n_values_of(const Parameter& parameter) const {
    if (const auto n = n_values(parameter)) return limited(*n);
    throw_input_error(
        "{}: a grid needs its values, and a range of real numbers has no end of them; {}, or choose "
        "another search",
        parameter.name, parameter.is_log ? "list choices" : "give a step or list choices");
  }

  /// Settings of parameter i and what depends on it, with one value.
  std::uint64_t count_below(std::size_t i, const Json& value) const {
    std::uint64_t n = 1;
    for (const std::size_t child : children_[i]) {
      if (is_there(parameters_[child], value)) n = limited(n * counts_[child]);
    }
    return n;
  }

  std::uint64_t count_values(std::size_t i) const {
    const std::uint64_t n_own = n_values_of(parameters_[i]);
    if (children_[i].empty()) return n_own;
    std::uint64_t n = 0;
    for (std::uint64_t k = 0; k < n_own; ++k) n = limited(n + count_below(i, value_number(parameters_[i], k)));
    return n;
  }

  /// Sets those of some siblings that are there. `number` has a digit for each, the last one the lowest.
  void set(const std::vector<std::size_t>& siblings, const Json& parent_value, std::size_t number,
           std::vector<Json>& values) const {
    for (auto i = siblings.rbegin(); i != siblings.rend(); ++i) {
      if (!is_there(parameters_[*i], parent_value)) continue;
      set_one(*i, number % counts_[*i], values);
      number /= counts_[*i];
    }
  }

  void set_one(std::size_t i, std::size_t number, std::vector<Json>& values) const {
    std::uint64_t k = 0;
    if (children_[i].empty()) {
      values[i] = value_number(parameters_[i], number);
      return;
    }
    for (;; ++k) {
      values[i] = value_number(parameters_[i], k);
      const std::uint64_t n = count_below(i, values[i]);
      if (number < n) break;
      number -= n;
    }
    set(children_[i], values[i], number, values);
  }

  std::vector<Parameter> parameters_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::size_t> roots_;
  std::vector<std::uint64_t> counts_;  ///< settings of a parameter and of all that depends on it
  std::uint64_t n_settings_ = 0;
};

class GridSearch : public Search {
 public:
  explicit GridSearch(const Space& space) : grid_(space) {}

  Json suggest(std::size_t trial, const std::vector<Observation>&) const override {
    if (trial < grid_.size()) return grid_.setting(trial);
    throw_input_error("trial {} is not in the grid, which has {} settings", trial, grid_.size());
  }

  std::optional<std::size_t> n_most() const override { return grid_.size(); }

 private:
  Grid grid_;
};

}  // namespace

std::unique_ptr<Search> grid_search(const Space& space) { return std::make_unique<GridSearch>(space); }

}  // namespace podere::tune
