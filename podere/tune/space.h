// What a search may choose: the parameters of an algorithm, and the values that each may have.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::tune {

/// One of a space. A parameter of kind kFixed is no choice at all: all settings have its value.
struct Parameter {
  enum class Kind { kFixed, kReal, kInteger, kChoice };

  std::string name;  ///< as in options of an algorithm: "learning_rate"
  Kind kind = Kind::kFixed;
  double low = 0;  ///< of real and integer ones; low and high are values, too
  double high = 0;
  bool is_log = false;        ///< uniform in the logarithm
  double step = 0;            ///< values are low, low + step, ... up to high; 0: none
  std::vector<Json> choices;  ///< numbers, texts and truth values; of kFixed one
  /// A conditional parameter is there only if the parameter `parent` is there and has one of these values. No values:
  /// it is always there.
  std::string parent;
  std::vector<Json> parent_values;
};

/// Which settings there are. A value: copy it freely.
class Space {
 public:
  /// Parents come before their children, else the order stays. A parameter with a single value becomes kFixed. Throws
  /// InputError, beginning with the name of the parameter, for parameters that cannot be.
  explicit Space(std::vector<Parameter>);

  /// The space of a TOML file, whose keys are the parameters:
  ///   depth = { low = 3, high = 10 }                           integer, as both are
  ///   learning_rate = { low = 0.01, high = 0.3, log = true }   real
  ///   subsample = { low = 0.5, high = 1.0, step = 0.1 }
  ///   best_first = [false, true]                               choice, also { choices = [...] }
  ///   bins = 256                                               fixed, also { value = 256 }
  ///   max_leaves = { low = 8, high = 256, when = { best_first = true } }   a value or a list of them
  /// Throws InputError, beginning with `name` (of the file) and the line, for all that is not such a file.
  static Space from_toml(const std::string& text, const std::string& name);

  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// How many parameters are no fixed ones.
  std::size_t n_dimensions() const { return n_dimensions_; }

  /// The setting, such as {"learning_rate": 0.1}, of a point of the unit cube. `point` has n_dimensions() coordinates
  /// in [0, 1), one for each parameter that is not fixed, in the order of parameters(). Those of conditional parameters
  /// that are not there have no effect. The setting has the parameters that are there, fixed ones too, in the same
  /// order. Uniform points give uniform values, or values uniform in the logarithm.
  Json setting_at(std::span<const double> point) const;

  /// All that makes a space what it is: searches suggest the same for spaces for which this is equal.
  Json to_json() const;

 private:
  std::vector<Parameter> parameters_;
  std::size_t n_dimensions_ = 0;
};

}  // namespace podere::tune
