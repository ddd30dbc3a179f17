// Labels of objects, and what selects by them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/kube/object.h"

namespace podere::controller {

using kube::Json;

/// Texts by name, in little memory: of labels, and of annotations that are kept.
class Labels {
 public:
  Labels() = default;
  /// Of a JSON object; whatever is no text in it is left out.
  explicit Labels(const Json& object);

  /// Null if there is none.
  const std::string* find(std::string_view name) const;
  bool has(std::string_view name, std::string_view value) const {
    const std::string* const found = find(name);
    return found != nullptr && *found == value;
  }
  bool operator==(const Labels&) const = default;

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;  // by name
};

/// One condition on labels.
struct Requirement {
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };

  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values = {};

  bool operator==(const Requirement&) const = default;
  /// As Kubernetes has it: what is not there is "not in" anything, and neither greater nor less.
  bool holds(const std::string* value) const;
};

/// Requirements from {"key": ..., "operator": ..., "values": [...]}. Throws Error for an operator that is none.
Requirement requirement_of(const Json& object);

/// metav1.LabelSelector; without any requirement it selects everything.
struct LabelSelector {
  std::vector<Requirement> requirements = {};

  bool operator==(const LabelSelector&) const = default;
  bool matches(const Labels& labels) const;
  /// "a=b,c in (d,e),!f".
  std::string text() const;
};

LabelSelector label_selector_of(const Json& object);

}  // namespace podere::controller
