// Tables from arrays that another process holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/comm/communicator.h"
#include "podere/io/read_facts.h"
#include "podere/table/table.h"

namespace podere::io {

/// Numbers behind a URL, without gaps and in this machine's byte order.
struct RemoteArray {
  std::string url;
  std::string dtype = "float64";  ///< as of table::parse_element
  bool by_columns = false;        ///< a matrix column by column, not row by row
  bool operator==(const RemoteArray&) const = default;

  static void visit_fields(auto& self, auto&& visit) {
    visit("url", self.url);
    visit("dtype", self.dtype);
    visit("by_columns", self.by_columns);
  }
};

struct RemoteArrays {
  std::string token;  ///< as of HttpRangeReader
  std::uint64_t n_rows = 0;
  std::vector<std::string> features;
  Json kinds = Json::object();        ///< "categories" and "dates" of the features, as in table::to_json(Schema)
  RemoteArray values;                 ///< [n_rows x n_features]
  std::optional<RemoteArray> label;   ///< [n_rows]
  std::optional<RemoteArray> weight;  ///< [n_rows]
  std::vector<std::string> classes;   ///< the texts of the label's classes, of which it has the places; empty: numbers
  std::string label_name = "label";
  std::string weight_name = "weight";

  static void visit_fields(auto& self, auto&& visit) {
    visit("token", self.token);
    visit("n_rows", self.n_rows);
    visit("features", self.features);
    visit("kinds", self.kinds);
    visit("values", self.values);
    visit("label", self.label);
    visit("weight", self.weight);
    visit("classes", self.classes);
    visit("label_name", self.label_name);
    visit("weight_name", self.weight_name);
  }
};

/// Each rank reads the bytes of its own rows, on several threads, and receives its rows_of() the table. Collective.
/// Memory: the table, and a few MiB per thread. Throws InputError, on all ranks, as HttpRangeReader::read and
/// table::fill_features, which call the arrays X, y and sample_weight.
table::Table read_arrays(const RemoteArrays& arrays, const comm::Communicator& comm, int n_threads,
                         ReadFacts* facts = nullptr);

}  // namespace podere::io
