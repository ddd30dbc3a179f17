// The rows as bins for several trainings, also at the same time.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "podere/tree/binned.h"

namespace podere::tree {

/// Each training has records of its own, as they hold its gradients. Thread-safe.
class SharedBins {
 public:
  /// Bins that no other training has meanwhile. It must not outlive those it comes from.
  class Loan {
   public:
    Loan(SharedBins& from, BinnedRows& rows) : from_(from), rows_(rows) {}
    ~Loan() {
      const std::lock_guard lock(from_.mutex_);
      from_.free_.push_back(&rows_);
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    BinnedRows& rows() const { return rows_; }

   private:
    SharedBins& from_;
    BinnedRows& rows_;
  };

  /// `make` makes the first, while others wait. All that are made are kept.
  template <typename Make>
  Loan borrow(const Make& make, int n_threads) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(all_.empty() ? std::make_unique<BinnedRows>(make())
                                  : std::make_unique<BinnedRows>(*all_.front(), n_threads));
      free_.push_back(all_.back().get());
    }
    BinnedRows& rows = *free_.back();
    free_.pop_back();
    return {*this, rows};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<BinnedRows>> all_;
  std::vector<BinnedRows*> free_;
};

}  // namespace podere::tree
