// What executors can be asked to do: jobs of many kinds, as values and as JSON.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "podere/base/json.h"
#include "podere/base/json_fields.h"
#include "podere/source/source.h"

namespace podere::jobs {

struct JobContext;

/// What a path in a job is for. A job has at most one of each but inputs.
enum class PathUse {
  kInput,       ///< a file that is read
  kPictures,    ///< files that are read, which may change meanwhile
  kOutput,      ///< an existing, empty file or folder that all executors can write to, side by side
  kCheckpoint,  ///< a file that rank 0 keeps, and that the job resumes from
  kFolder,      ///< rank 0 writes into it
  kCache,       ///< a folder where the rows of a table lie on disk too; the session chooses it
};

/// A kind of job: a plain struct with `static constexpr const char* kKind`, its name, and
/// `static void visit_fields(auto& self, auto&& visit)`, which calls visit("name", self.member), or for a path
/// visit("name", self.member, PathUse::...). `Json run(const Kind& job, const JobContext& context)` beside it is what
/// executors do: collective; returns the result, which only counts on rank 0; throws InputError or Error.
/// Where a session has to know of more, it asks these, which a kind may have:
///   std::string dropped_table() const           the name of the table that it drops
///   void note_result(const Json& result)        what the same job must find when it is run again
///   void use_cache_only()                       its inputs have changed: what is in its cache is all that counts
template <typename Kind>
concept JobKind = requires {
  { Kind::kKind } -> std::convertible_to<const char*>;
}
&&HasFields<Kind>;

/// A job of any kind. Wherever it has a table, that may be a kept one: location "table:NAME" and nothing else.
class Job {
 public:
  template <JobKind Kind>
  Job(Kind kind) : held_(std::make_unique<Held<Kind>>(std::move(kind))) {}  // a job of a kind is a job
  Job(const Job& other) : held_(other.held_->clone()) {}
  Job(Job&&) noexcept = default;
  Job& operator=(Job other) noexcept {
    held_.swap(other.held_);
    return *this;
  }
  ~Job() = default;

  std::string kind() const { return held_->kind(); }

  /// The tables that it reads.
  std::vector<source::SourceSpec*> sources() { return held_->parts().sources; }
  std::vector<const source::SourceSpec*> sources() const;
  /// The paths that are set, those in tables excepted.
  std::vector<std::pair<PathUse, std::string*>> paths();
  std::vector<std::pair<PathUse, std::string>> paths() const;
  /// The one path of that use, set or not; null for a kind that has none.
  std::string* path(PathUse use);
  /// The same; empty for a kind that has none.
  std::string path(PathUse use) const;

  std::string dropped_table() const { return held_->dropped_table(); }
  void note_result(const Json& result) { held_->note_result(result); }
  void use_cache_only() { held_->use_cache_only(); }

  /// What executors do.
  Json execute(const JobContext& context) const { return held_->execute(context); }

  friend Json to_json(const Job& job);
  friend Job job_from_json(const Json& json);

 private:
  struct Parts {
    std::vector<source::SourceSpec*> sources;
    std::vector<std::string> source_names;  ///< [sources.size()]
    std::vector<std::pair<PathUse, std::string*>> paths;
    void add(const char* name, source::SourceSpec& source) {
      sources.push_back(&source);
      source_names.emplace_back(name);
    }
    void add(const char* name, std::optional<source::SourceSpec>& source) {
      if (source) add(name, *source);
    }
    void add(const char* /*name*/, std::string& path, PathUse use) { paths.emplace_back(use, &path); }
    void add(const char* /*name*/, auto& /*value*/) {}
  };
  class Any {
   public:
    virtual ~Any() = default;
    virtual std::unique_ptr<Any> clone() const = 0;
    virtual const char* kind() const = 0;
    virtual Json fields() const = 0;
    virtual void read(const Json& fields) = 0;
    virtual Parts parts() = 0;
    virtual Json execute(const JobContext& context) const = 0;
    virtual std::string dropped_table() const = 0;
    virtual void note_result(const Json& result) = 0;
    virtual void use_cache_only() = 0;
  };
  template <JobKind Kind>
  class Held;
  /// What is pointed to belongs to this job, which only gives out what may not be changed.
  Parts parts() const { return held_->parts(); }

  std::unique_ptr<Any> held_;
};

template <JobKind Kind>
class Job::Held : public Any {
 public:
  explicit Held(Kind job) : job_(std::move(job)) {}
  std::unique_ptr<Any> clone() const override { return std::make_unique<Held>(job_); }
  const char* kind() const override { return Kind::kKind; }
  Json fields() const override { return json_of_fields(job_); }
  void read(const Json& fields) override { read_json(fields, std::string("job: ") + Kind::kKind, job_); }
  Parts parts() override {
    Parts parts;
    Kind::visit_fields(job_, [&](const char* name, auto& member, auto... use) { parts.add(name, member, use...); });
    return parts;
  }
  Json execute(const JobContext& context) const override { return run(job_, context); }
  std::string dropped_table() const override {
    if constexpr (requires { job_.dropped_table(); }) return job_.dropped_table();
    return {};
  }
  void note_result(const Json& result) override {
    if constexpr (requires { job_.note_result(result); }) job_.note_result(result);
  }
  void use_cache_only() override {
    if constexpr (requires { job_.use_cache_only(); }) job_.use_cache_only();
  }

 private:
  Kind job_;
};

/// {"kind": "train", ...}; what has its default is left out.
Json to_json(const Job& job);
/// Inverse of to_json. Throws InputError that names what is unknown, missing or of the wrong type.
Job job_from_json(const Json& json);

/// With `path` as its checkpoint, if it is of a kind that keeps one and names none.
Job with_checkpoint(Job job, const std::string& path);

}  // namespace podere::jobs
