// Of faults in several columns the one that is reported.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// Keeps the fault of the first row, and there of the first column, so that it does not depend on how rows are read.
class FirstFault {
 public:
  template <typename Body>
  void watch(Body&& body) {
    try {
      body();
    } catch (ColumnFault& fault) {
      if (!first_ || std::tie(fault.row, fault.column) < std::tie(first_->row, first_->column))
        first_ = std::move(fault);
    }
  }
  void rethrow() const {
    if (first_) throw ColumnFault(*first_);
  }

 private:
  std::optional<ColumnFault> first_;
};

}  // namespace podere::columns
