#include "podere/jobs/job_kinds.h"

#include <fmt/ranges.h>

#include "podere/base/error.h"
#include "podere/jobs/classify_job.h"
#include "podere/jobs/covariance_job.h"
#include "podere/jobs/describe_job.h"
#include "podere/jobs/evaluate_job.h"
#include "podere/jobs/explain_job.h"
#include "podere/jobs/network_job.h"
#include "podere/jobs/offer_job.h"
#include "podere/jobs/predict_job.h"
#include "podere/jobs/qr_job.h"
#include "podere/jobs/receive_job.h"
#include "podere/jobs/svd_job.h"
#include "podere/jobs/table_jobs.h"
#include "podere/jobs/train_job.h"
#include "podere/jobs/tune_job.h"

namespace podere::jobs {

Job job_of_kind(const std::string& kind) {
  static const std::vector<Job> kKinds = {
      TrainJob(),     EvaluateJob(), PredictJob(), DescribeJob(),   ExplainJob(), LoadJob(), SplitJob(),
      TransformJob(), SaveJob(),     DropJob(),    ClassifyJob(),   NetworkJob(), TuneJob(), SvdJob(),
      ProjectJob(),   ReceiveJob(),  OfferJob(),   CovarianceJob(), QrJob(),
  };
  std::vector<std::string> names;
  for (const Job& job : kKinds) {
    if (job.kind() == kind) return job;
    names.push_back(job.kind());
  }
  throw_input_error("job: kind must be one of {}", fmt::join(names, ", "));
}

}  // namespace podere::jobs
