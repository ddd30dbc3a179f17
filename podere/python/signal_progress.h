// Python's signals and progress while training runs without its lock.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/printable.h"
#include "podere/base/progress.h"

namespace podere::python {

namespace py = pybind11;
using namespace pybind11::literals;

/// A message with options of the command line called as Python has them. With the GIL.
inline std::string in_python(const std::string& message) {
  const std::string text = is_utf8(message) ? message : printable_line(message, message.size());  // names of files
  return py::module_::import("podere._words").attr("in_python")(text).cast<std::string>();
}

/// Asks Python, a few times a second, whether a signal came that raises an exception: Ctrl-C. Reports to `show`, if
/// there is one, how far training is, and keeps what is warned of.
class SignalProgress final : public Progress {
 public:
  explicit SignalProgress(py::object show = py::none()) : show_(std::move(show)), shows_(!show_.is_none()) {}

  void report(const ProgressStep& step) override {
    if (!shows_ || raised_) return;
    const py::gil_scoped_acquire locked;
    try {
      show_(py::dict("phase"_a = step.phase, "done"_a = step.done, "total"_a = step.total,
                     "metrics"_a = std::map<std::string, double>(step.metrics.begin(), step.metrics.end()),
                     "unit"_a = step.unit));
    } catch (py::error_already_set& error) {
      raised_.emplace(std::move(error));
    }
  }

  void warn(const std::string& message) override { warnings_.push_back(message); }

  bool stop_requested() override {
    constexpr double kSeconds = 0.1;
    if (raised_) return true;
    if (since_.seconds() < kSeconds) return false;
    since_.restart();
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) raised_.emplace();
    return raised_.has_value();
  }

  /// Raises what came meanwhile, warnings as of the caller of `fit`. With the GIL.
  void finish() const {
    constexpr int kCallerOfFit = 3;  // who calls _train, who calls fit
    if (raised_) throw py::error_already_set(*raised_);
    for (const std::string& warning : warnings_) {
      const std::string words = in_python(warning);
      if (PyErr_WarnEx(PyExc_UserWarning, words.c_str(), kCallerOfFit) != 0) throw py::error_already_set();
    }
  }

 private:
  py::object show_;  // held and let go with the GIL
  bool shows_;
  std::vector<std::string> warnings_;
  Stopwatch since_;
  std::optional<py::error_already_set> raised_;
};

}  // namespace podere::python
