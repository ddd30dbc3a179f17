// The search over a function of Python's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "podere/tune/kept_study.h"
#include "podere/tune/search.h"
#include "podere/tune/study.h"

namespace podere::python {

struct FunctionSearch {
  std::string space;  ///< as tune::Space::from_toml
  std::string search;
  tune::StudyOptions study;
  std::uint64_t seed = 0;
  bool is_maximized = true;
  std::string journal;  ///< a path; empty: none
};

/// A study with its search and its journal. Thread-safe; knows nothing of Python, so it is called without its lock.
class FunctionStudy {
 public:
  /// Throws InputError for what cannot be searched, and for a journal that is of another study or in use.
  explicit FunctionStudy(const FunctionSearch& of);

  /// The steps that may be done now as JSON: "trial", "rung", "start", "budget", "setting". Throws InputError after
  /// close().
  std::string to_do() const;
  /// NaN: it failed, by `error`. Throws InputError for what is no step to be done, and after close().
  void report(std::size_t trial, std::size_t rung, double score, bool ended, const std::string& error);

  /// As tune::trials_json.
  std::string trials() const;
  std::optional<std::size_t> best() const;
  std::size_t n_trials() const { return kept_->study().n_trials(); }
  std::string fault() const;

  /// Lets others have the journal.
  void close();

 private:
  void check_open() const;

  mutable std::mutex mutex_;
  bool is_maximized_;
  bool is_closed_ = false;
  std::unique_ptr<tune::Search> search_;
  std::unique_ptr<tune::KeptStudy> kept_;
};

}  // namespace podere::python
