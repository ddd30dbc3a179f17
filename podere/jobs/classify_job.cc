#include "podere/jobs/classify_job.h"

#include "podere/jobs/job_context.h"

namespace podere::jobs {

Json run(const ClassifyJob& job, const JobContext& context) {
  const classify::Options options{
      .pictures = job.pictures,
      .pages = job.pages,
      .network = {.path = job.model,
                  .preprocess = job.preprocess.empty() ? job.preprocess_file : job.preprocess,
                  .size = job.size,
                  .bits = job.bits,
                  .layer = job.layer},
      .labels = job.labels,
      .top = job.top,
      .decode_seconds = job.decode_seconds,
      .is_strict = job.strict,
      .folder = job.parts,
      .output = job.output,
      .format = job.format,
      .keep_images = job.keep_images,
      .has_contact_sheet = job.contact_sheet,
  };
  Json result = classify::classify(options, context.comm, context.n_threads, context.progress);
  result.update(resources(context.comm, context.n_threads));
  return result;
}

}  // namespace podere::jobs
