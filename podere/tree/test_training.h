// Training for the tests of this room.
#pragma once

#include "podere/tree/test_tables.h"
#include "podere/tree/train.h"

namespace podere::tree {

/// The model of a table that this process holds by itself; a warm start from `base` if there is one.
inline Model train_alone(const table::Table& table, const Options& options, const table::Table* validation = nullptr,
                         const Model* base = nullptr) {
  Progress progress;
  return train(table::HeldRows(table), validation, options, alone(), 2, progress, nullptr, {.base = base});
}

}  // namespace podere::tree
