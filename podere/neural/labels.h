// Labels that a loss takes.
#pragma once

#include "podere/neural/options.h"
#include "podere/table/weighted_labels.h"

namespace podere::neural {

inline table::LabelRules label_rules(const Options& options) {
  const auto kind = options.loss == Loss::kBinaryCrossEntropy ? table::LabelKind::kTwoClasses
                    : options.loss == Loss::kCrossEntropy     ? table::LabelKind::kClasses
                                                              : table::LabelKind::kNumbers;
  return {kind,
          static_cast<std::size_t>(options.n_classes),
          {},
          "for more use --loss cross-entropy, for numbers squared-error"};
}

}  // namespace podere::neural
