#include "podere/jobs/offer_job.h"

#include <memory>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/secret.h"
#include "podere/base/tcp.h"
#include "podere/io/row_outlet.h"
#include "podere/jobs/job_context.h"

namespace podere::jobs {
namespace {

/// The outlet of a kept table, which is made unless it is there at the address. Collective.
const io::RowOutlet& outlet_of(const OfferJob& job, const table::Table& table, const JobContext& context) {
  auto& companion = context.tables.companion(*source::kept_name(job.table.location));
  const std::string token = context.comm.broadcast_text(context.comm.is_root() ? random_token() : "");
  std::shared_ptr<io::RowOutlet> outlet = std::static_pointer_cast<io::RowOutlet>(companion);
  std::string address;
  context.comm.agree([&] { address = address_towards(job.host); });
  const bool is_there = outlet != nullptr && outlet->address() == address;
  if (context.comm.all_reduce(is_there ? 1 : 0, comm::Reduction::kMin) == 0) {
    context.comm.agree([&] { outlet = std::make_shared<io::RowOutlet>(table, token, address); });
    companion = outlet;
  }
  return *outlet;
}

Json texts_of(const table::Schema& schema) {
  Json texts = Json::array();
  for (const auto& [feature, dictionary] : schema.categories) {
    if (dictionary) texts.push_back({{"feature", feature}, {"texts", std::vector<std::string>(*dictionary)}});
  }
  return texts;
}

}  // namespace

Json run(const OfferJob& job, const JobContext& context) {
  if (!source::kept_name(job.table.location)) {
    throw_input_error("{}: only tables that the session keeps can be offered, table:NAME", job.table.location);
  }
  const table::Table& table = context.tables.find(job.table, false);
  const io::RowOutlet& outlet = outlet_of(job, table, context);
  Json executors = Json::array();
  for (int rank = 0; rank < context.comm.size(); ++rank) {
    const Json here = {{"address", outlet.address()},
                       {"port", outlet.port()},
                       {"begin", table.rows().begin},
                       {"end", table.rows().end}};
    executors.push_back(Json::parse(context.comm.broadcast_text(here.dump(), rank)));
  }
  Json result = facts_of(*source::kept_name(job.table.location), table);
  result["dates"] = table.schema().dates;
  result["texts"] = texts_of(table.schema());
  result["token"] = outlet.token();
  result["executors"] = std::move(executors);
  return result;
}

}  // namespace podere::jobs
