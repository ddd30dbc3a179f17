#include "podere/source/arrays_reader.h"

#include "podere/table/owned_rows.h"

namespace podere::source {
namespace {

table::Table load_arrays(const Reading& reading) {
  return io::read_arrays(*reading.spec.arrays, reading.comm, reading.n_threads, reading.facts);
}

std::unique_ptr<table::RowSource> open_arrays(const Reading& reading) {
  return std::make_unique<table::OwnedRows>(load_arrays(reading));
}

}  // namespace

Reader arrays_reader() {
  return {.name = "arrays",
          .reads = Reads::kArrays,
          .options = {},
          .reason = "arrays are used as they are",
          .load = load_arrays,
          .open = open_arrays};
}

}  // namespace podere::source
