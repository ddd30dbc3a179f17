#include "podere/source/libsvm_reader.h"

#include "podere/io/libsvm.h"

namespace podere::source {
namespace {

io::LibsvmOptions libsvm_options(const Reading& reading) {
  const SourceSpec& spec = reading.spec;
  return {.n_features = spec.n_features,
          .zero_based = spec.zero_based,
          .columns = spec.columns,
          .applied = spec.coded_as,
          .missing = spec.missing,
          .rows = spec.rows};
}

table::Table load_libsvm(const Reading& reading) {
  return io::read_libsvm(reading.spec.location, libsvm_options(reading), reading.comm, reading.n_threads,
                         reading.facts);
}

std::unique_ptr<table::RowSource> open_libsvm(const Reading& reading) {
  return io::open_libsvm(reading.spec.location, libsvm_options(reading), reading.comm, reading.n_threads,
                         table::kWindowBytes, reading.facts);
}

}  // namespace

Reader libsvm_reader() {
  return {.name = "libsvm",
          .suffixes = {".libsvm", ".svm", ".svmlight"},
          .options = {"columns", "missing", "n_features", "zero_based"},
          .reason = "it is a libsvm file, whose lines begin with the label, and numbers follow",
          .columns = {.labels_have_names = false, .zeros_are_left_out = true},
          .load = load_libsvm,
          .open = open_libsvm};
}

}  // namespace podere::source
